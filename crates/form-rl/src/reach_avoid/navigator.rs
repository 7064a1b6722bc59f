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
    policy: ReachAvoidPolicy,
    shield: bool,
    /// Without shield.
    evaluated: HashMap<ReachAvoid, Arc<ActionValues>>,
}

impl Navigator {
    /// A navigator by this policy.
    pub fn new(policy: &ReachAvoidPolicy) -> Self {
        Self {
            shield: policy.has_shield(),
            policy: policy.clone().with_shield(false),
            evaluated: HashMap::new(),
        }
    }

    /// The same navigator with a shield, or without: it never goes forward onto a cell to avoid.
    #[must_use]
    pub fn with_shield(mut self, shield: bool) -> Self {
        self.shield = shield;
        self
    }

    /// The policy, evaluated for a sub-task.
    pub fn values(&mut self, sub_task: &ReachAvoid) -> Arc<ActionValues> {
        let values = match self.evaluated.get(sub_task) {
            Some(known) => known.clone(),
            None => {
                if self.evaluated.len() >= MOST {
                    self.evaluated.clear();
                }
                let values = Arc::new(self.policy.evaluate(sub_task));
                self.evaluated.insert(sub_task.clone(), values.clone());
                values
            }
        };
        match self.shield {
            true => Arc::new(values.shielded(sub_task)),
            false => values,
        }
    }
}
