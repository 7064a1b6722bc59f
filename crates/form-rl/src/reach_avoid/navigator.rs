//! The reach-avoid policy at work: plans of worlds, evaluated once per sub-task.

use std::collections::HashMap;
use std::sync::Arc;

use form_env::ReachAvoid;

use super::policy::{ActionValues, ReachAvoidPolicy};

/// The most sub-tasks that are kept.
const MOST: usize = 1 << 12;

/// A policy, and the sub-tasks that it was evaluated for: the same few return in every episode on a map.
#[derive(Clone, Debug)]
pub struct Navigator {
    policy: Arc<ReachAvoidPolicy>,
    evaluated: HashMap<ReachAvoid, Arc<ActionValues>>,
}

impl Navigator {
    /// A navigator by this policy.
    pub fn new(policy: Arc<ReachAvoidPolicy>) -> Self {
        Self {
            policy,
            evaluated: HashMap::new(),
        }
    }

    /// The policy, evaluated for a sub-task.
    pub fn values(&mut self, sub_task: &ReachAvoid) -> Arc<ActionValues> {
        if let Some(known) = self.evaluated.get(sub_task) {
            return known.clone();
        }
        if self.evaluated.len() >= MOST {
            self.evaluated.clear();
        }
        let values = Arc::new(self.policy.evaluate(sub_task));
        self.evaluated.insert(sub_task.clone(), values.clone());
        values
    }
}
