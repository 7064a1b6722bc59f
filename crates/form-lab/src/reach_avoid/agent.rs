//! An agent that follows the plan of a machine with a reach-avoid policy.

use std::sync::Arc;

use form_core::{AtomSet, BoundMachine, Monitor};
use form_env::{Action, Cell, Direction, LabelMap, Plan, Planner};
use form_rl::{ActionValues, Choice, ReachAvoidPolicy};
use rand::{Rng, RngExt};

/// An agent on one map. The policy is evaluated once per sub-task, for all poses at once.
#[derive(Clone, Debug)]
pub struct ReachAvoidAgent<'a> {
    policy: &'a ReachAvoidPolicy,
    planner: Planner,
    monitor: Monitor,
    /// By number of the plan.
    values: Vec<Option<ActionValues>>,
    /// The number of the plan, until something is observed.
    plan: Option<usize>,
}

impl<'a> ReachAvoidAgent<'a> {
    /// An agent at the start of an episode. The machine is the one it follows, which need not be that of the task.
    pub fn new(policy: &'a ReachAvoidPolicy, machine: Arc<BoundMachine>, map: LabelMap) -> Self {
        Self::with_planner(policy, Planner::new(machine, map))
    }

    /// The same with a planner that was used before.
    pub fn with_planner(policy: &'a ReachAvoidPolicy, planner: Planner) -> Self {
        Self {
            policy,
            monitor: Monitor::new(planner.machine()),
            planner,
            values: Vec::new(),
            plan: None,
        }
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
        let values = self.values[number].get_or_insert_with(|| {
            let sub_task = &self.planner.plan_of_number(number).sub_task;
            self.policy.evaluate(sub_task)
        });
        if choice == Choice::Greedy {
            return values.greedy(cell, direction);
        }
        let mut drawn: f32 = random.random();
        let probabilities = values.probabilities(cell, direction);
        for (action, probability) in Action::ALL.iter().zip(probabilities) {
            drawn -= probability;
            if drawn < 0.0 {
                return *action;
            }
        }
        // Rounding: the probabilities may sum to a little less than 1.
        values.greedy(cell, direction)
    }
}
