//! An agent that follows the plan of a machine with a reach-avoid policy.

use std::sync::Arc;

use anyhow::Result;
use form_core::{AtomSet, BoundMachine, Monitor};
use form_env::{Action, Cell, Direction, LabelMap, Plan, Planner};
use form_rl::{ActionValues, Choice, ReachAvoidPolicy};
use rand::{Rng, RngExt};

/// An agent on one map. The policy is evaluated once per sub-task, for all poses at once.
#[derive(Clone, Debug)]
pub struct ReachAvoidAgent<'a> {
    policy: &'a ReachAvoidPolicy,
    shield: bool,
    planner: Planner,
    monitor: Monitor,
    /// By number of the plan, without shield.
    values: Vec<Option<ActionValues>>,
    /// The number of the plan, until something is observed.
    plan: Option<usize>,
}

impl<'a> ReachAvoidAgent<'a> {
    /// An agent at the start of an episode. The machine is the one it follows, which need not be that of the task.
    /// Fails for a machine that observes every step.
    pub fn new(
        policy: &'a ReachAvoidPolicy,
        machine: Arc<BoundMachine>,
        map: LabelMap,
    ) -> Result<Self> {
        Ok(Self::with_planner(policy, Planner::new(machine, map)?))
    }

    /// The same with a planner that was used before.
    pub fn with_planner(policy: &'a ReachAvoidPolicy, planner: Planner) -> Self {
        Self {
            policy,
            shield: policy.has_shield(),
            monitor: Monitor::new(planner.machine()),
            planner,
            values: Vec::new(),
            plan: None,
        }
    }

    /// The same agent with a shield, or without: it never goes forward onto a cell to avoid.
    #[must_use]
    pub fn with_shield(mut self, shield: bool) -> Self {
        self.shield = shield;
        self
    }

    /// Starts a new episode on the same map.
    pub fn reset(&mut self) {
        self.monitor.reset(self.planner.machine());
        self.plan = None;
    }

    /// Tells it what a step has made true.
    pub fn observe(&mut self, labels: &AtomSet) {
        if !labels.is_empty() {
            self.monitor.observe(self.planner.machine(), labels);
            self.plan = None;
        }
    }

    /// Where its machine is.
    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// Its planner.
    pub fn into_planner(self) -> Planner {
        self.planner
    }

    /// What it does next in a cell.
    pub fn plan(&mut self, cell: Cell) -> &Plan {
        let number = self.number(cell);
        self.planner.plan_of_number(number)
    }

    fn number(&mut self, cell: Cell) -> usize {
        match self.plan {
            Some(number) => number,
            None => {
                let number = self.planner.plan(&self.monitor, cell).number;
                self.plan = Some(number);
                number
            }
        }
    }

    /// The next action in a pose.
    pub fn act(
        &mut self,
        cell: Cell,
        direction: Direction,
        choice: Choice,
        random: &mut dyn Rng,
    ) -> Action {
        if choice == Choice::Uniform {
            return Action::ALL[random.random_range(0..Action::MOVES)];
        }
        let number = self.number(cell);
        if self.values.len() <= number {
            self.values.resize(number + 1, None);
        }
        let sub_task = &self.planner.plan_of_number(number).sub_task;
        let values = self.values[number].get_or_insert_with(|| {
            // The shield is applied below, so that both ways share the values.
            self.policy.clone().with_shield(false).evaluate(sub_task)
        });
        let mut probabilities = values.probabilities(cell, direction);
        if self.shield && sub_task.avoid()[sub_task.number(sub_task.ahead(cell, direction))] {
            probabilities[Action::Forward as usize] = 0.0;
        }
        let total: f32 = probabilities.iter().sum();
        let mut drawn = total * random.random::<f32>();
        let mut likeliest = Action::Left;
        for (action, probability) in Action::ALL.iter().zip(probabilities) {
            if probability > probabilities[likeliest as usize] {
                likeliest = *action;
            }
            drawn -= probability;
            if choice != Choice::Greedy && drawn < 0.0 {
                return *action;
            }
        }
        // For sampled actions only by rounding: the probabilities may sum to a little less than their total.
        likeliest
    }
}
