//! The optimum of tabular tasks: value iteration on the cross product, and the average reward per step of its policy.

use std::sync::Arc;

use form_core::BoundMachine;
use form_env::{LabelledMdp, Stream, generator};

use super::product::{Jump, Product};
use super::q_learning::{QSettings, expect_signature};
use super::q_table::QTable;
use crate::error::{Error, Result};

/// Value iteration ends once no value changes by more than this.
const PRECISION: f64 = 1e-10;

/// The optimal policy of tasks in a table.
#[derive(Clone, Debug)]
pub struct Optimum {
    product: Product,
    table: QTable,
}

impl Optimum {
    /// Value iteration with this discount, on the machines' rewards (and the environment's own, if the settings say so).
    pub fn new(
        table: &LabelledMdp,
        machines: Vec<Arc<BoundMachine>>,
        settings: &QSettings,
    ) -> Result<Self> {
        settings.check()?;
        let discount = settings.discount;
        if discount >= 1.0 {
            return Err(Error::Setting {
                name: "discount",
                value: discount.to_string(),
                problem: "value iteration needs a discount below 1",
            });
        }
        for machine in &machines {
            expect_signature(table, machine)?;
        }
        let product = Product::new(machines, table.labels())?;
        let mut q = QTable::new(table.states(), product.len(), table.actions(), 0.0);
        loop {
            let mut change: f64 = 0.0;
            for state in 0..table.states() {
                for situation in 0..product.len() {
                    for action in 0..table.actions() {
                        let mut value = 0.0;
                        for outcome in table.outcomes(state, action) {
                            let jumps = product.jumps(table.label_of(outcome.next));
                            let Jump { next, reward, .. } = jumps[situation];
                            let own = match settings.environment_reward {
                                true => outcome.reward,
                                false => 0.0,
                            };
                            let rest = (next.filter(|_| !outcome.terminated))
                                .map_or(0.0, |next| discount * q.value(outcome.next, next));
                            value += outcome.probability * (reward + own + rest);
                        }
                        let old = &mut q.row_mut(state, situation)[action];
                        change = change.max((value - *old).abs());
                        *old = value;
                    }
                }
            }
            if change < PRECISION {
                return Ok(Self { product, table: q });
            }
        }
    }

    /// The discounted value of a task from the start of its episodes, in expectation.
    pub fn value(&self, table: &LabelledMdp, task: usize) -> f64 {
        (table.starts().iter())
            .map(|(probability, state)| {
                let jump = self.product.start(task, table.label_of(*state));
                let rest = jump.next.map_or(0.0, |next| self.table.value(*state, next));
                probability * (jump.reward + rest)
            })
            .sum()
    }

    /// The reward per step of each task under the optimal policy with random actions of probability epsilon: what learners that
    /// explore are compared with (Toro Icarte et al.). The average over this number of episodes per task.
    pub fn reward_per_step(
        &self,
        table: &LabelledMdp,
        settings: &QSettings,
        episodes: u32,
        seed: u64,
    ) -> Vec<f64> {
        let random = &mut generator(seed, Stream::Other(1));
        (0..self.product.tasks())
            .map(|task| {
                let sum: f64 = (0..episodes)
                    .map(|_| {
                        let mut state = table.start(random);
                        let first = self.product.start(task, table.label_of(state));
                        let (mut situation, mut reward) = (first.next, first.reward);
                        let mut steps = 0;
                        while let Some(at) = situation {
                            let action = self.table.choose(state, at, settings.epsilon, random);
                            let outcome = table.sample(state, action, random);
                            state = outcome.next;
                            let jump = self.product.jumps(table.label_of(state))[at];
                            reward += jump.reward;
                            if settings.environment_reward {
                                reward += outcome.reward;
                            }
                            steps += 1;
                            let over = outcome.terminated || steps >= settings.episode_steps;
                            situation = jump.next.filter(|_| !over);
                        }
                        reward / f64::from(steps.max(1))
                    })
                    .sum();
                sum / f64::from(episodes.max(1))
            })
            .collect()
    }
}
