//! Tabular Q-learning over the cross product, with counterfactual experience (CRM) and potential-based shaping.
//!
//! A step in the world says what would have happened in every situation of every task: CRM (Toro Icarte et al., JAIR 2022,
//! Algorithm 3) updates all of them. Tasks take turns, one episode each. The limit of steps cuts an episode off without ending
//! it: the value after the last step counts.

use std::sync::Arc;

use form_core::{AtomSet, BoundMachine};
use form_env::{LabelledMdp, Random, Stream, generator};

use super::product::{Jump, Product};
use super::q_table::QTable;
use crate::error::{Error, Result};

/// The settings of tabular Q-learning. The defaults are those of Toro Icarte et al.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QSettings {
    /// How far a value moves towards its new estimate.
    pub learning_rate: f64,
    /// The probability of a random action.
    pub epsilon: f64,
    /// The discount factor.
    pub discount: f64,
    /// The value of all actions at the start.
    pub initial: f64,
    /// Whether every step updates all situations (CRM), or only that of the agent (the cross-product baseline).
    pub counterfactual: bool,
    /// Whether rewards are shaped by the values of the machine's situations.
    pub shaping: bool,
    /// Whether the environment's own reward is added to the machine's.
    pub environment_reward: bool,
    /// The number of steps after which an episode is cut off.
    pub episode_steps: u32,
}

impl Default for QSettings {
    fn default() -> Self {
        Self {
            learning_rate: 0.5,
            epsilon: 0.1,
            discount: 0.9,
            initial: 2.0,
            counterfactual: true,
            shaping: false,
            environment_reward: false,
            episode_steps: 1000,
        }
    }
}

impl QSettings {
    pub(crate) fn check(&self) -> Result<()> {
        let share = |name, value: f64| match (0.0..=1.0).contains(&value) {
            true => Ok(()),
            false => Err(Error::Setting {
                name,
                value: value.to_string(),
                problem: "it must be between 0 and 1",
            }),
        };
        share("learning_rate", self.learning_rate)?;
        share("epsilon", self.epsilon)?;
        share("discount", self.discount)?;
        if self.shaping && self.discount == 1.0 {
            return Err(Error::Setting {
                name: "discount",
                value: "1".to_owned(),
                problem: "shaping by values needs a discount below 1",
            });
        }
        if !self.initial.is_finite() {
            return Err(Error::Setting {
                name: "initial",
                value: self.initial.to_string(),
                problem: "it must be a number",
            });
        }
        if self.episode_steps == 0 {
            return Err(Error::Setting {
                name: "episode_steps",
                value: "0".to_owned(),
                problem: "an episode has at least one step",
            });
        }
        Ok(())
    }
}

/// One episode of tabular learning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QEpisode {
    /// The task that was played.
    pub task: u32,
    /// The number of steps.
    pub steps: u32,
    /// The sum of rewards, without shaping.
    pub reward: f64,
    /// Whether the machine accepted.
    pub accepted: bool,
}

/// The largest number of entries of a table: 2 GiB.
const MOST_ENTRIES: usize = 1 << 28;

/// Where an episode is.
#[derive(Clone, Copy, Debug)]
struct Position {
    state: usize,
    situation: usize,
}

/// Tabular Q-learning: the table, and the episode that is being played.
#[derive(Clone, Debug)]
pub struct QLearner {
    settings: QSettings,
    states: usize,
    actions: usize,
    product: Product,
    table: QTable,
    potentials: Vec<f64>,
    random: Random,
    position: Option<Position>,
    episode: QEpisode,
    next_task: usize,
}

impl QLearner {
    /// A learner for these numbers of states and actions. All machines are bound to one signature.
    pub fn new(
        states: usize,
        actions: usize,
        machines: Vec<Arc<BoundMachine>>,
        settings: QSettings,
        seed: u64,
    ) -> Result<Self> {
        Self::over(
            Product::new(machines, &[])?,
            states,
            actions,
            settings,
            seed,
        )
    }

    /// A learner for a table.
    pub fn of_table(
        table: &LabelledMdp,
        machines: Vec<Arc<BoundMachine>>,
        settings: QSettings,
        seed: u64,
    ) -> Result<Self> {
        for machine in &machines {
            expect_signature(table, machine)?;
        }
        let product = Product::new(machines, table.labels())?;
        Self::over(product, table.states(), table.actions(), settings, seed)
    }

    fn over(
        product: Product,
        states: usize,
        actions: usize,
        settings: QSettings,
        seed: u64,
    ) -> Result<Self> {
        settings.check()?;
        for (what, number) in [("states", states), ("actions", actions)] {
            if number == 0 {
                let (found, expected) = (0, 1);
                return Err(Error::Size {
                    what,
                    found,
                    expected,
                });
            }
        }
        room(states, product.len(), actions)?;
        let mut learner = Self {
            table: QTable::new(states, product.len(), actions, settings.initial),
            potentials: Vec::new(),
            product,
            settings,
            states,
            actions,
            random: generator(seed, Stream::Other(0)),
            position: None,
            episode: QEpisode {
                task: 0,
                steps: 0,
                reward: 0.0,
                accepted: false,
            },
            next_task: 0,
        };
        learner.shape();
        Ok(learner)
    }

    /// Potentials for all situations, and room in the table.
    fn shape(&mut self) {
        self.table.grow(self.product.len());
        self.potentials = match self.settings.shaping {
            true => self.product.potentials(self.settings.discount),
            false => vec![0.0; self.product.len()],
        };
    }

    /// The number of tasks.
    pub fn tasks(&self) -> usize {
        self.product.tasks()
    }

    /// The number of situations of all tasks: states of machines, with what matters of their windows.
    pub fn situations(&self) -> usize {
        self.product.len()
    }

    /// Task, number of the machine state, and atoms seen in the window, of a situation.
    pub fn situation(&self, situation: usize) -> (usize, usize, Vec<String>) {
        self.product.describe(situation)
    }

    /// The values of all actions.
    pub fn values(&self, state: usize, situation: usize) -> &[f64] {
        self.table.row(state, situation)
    }

    /// The situation of the episode that is being played.
    pub fn current(&self) -> Option<usize> {
        self.position.map(|position| position.situation)
    }

    /// The number of a label among those that were observed.
    fn label(&mut self, labels: &AtomSet) -> Result<usize> {
        let before = self.product.len();
        let label = self.product.label(labels)?;
        if self.product.len() > before {
            room(self.states, self.product.len(), self.actions)?;
            self.shape();
        }
        Ok(label)
    }

    /// Starts an episode of the next task in this state.
    pub fn begin(&mut self, state: usize, labels: &AtomSet) -> Result<()> {
        self.known(state)?;
        let label = self.label(labels)?;
        self.start(state, label)
    }

    fn start(&mut self, state: usize, label: usize) -> Result<()> {
        let task = self.next_task;
        self.next_task = (task + 1) % self.product.tasks();
        let Jump { next, reward, .. } = self.product.start(task, label);
        let situation = next.ok_or(Error::Setting {
            name: "machine",
            value: format!("task {task}"),
            problem: "it ends the episode on the first observation: there is nothing to learn",
        })?;
        self.position = Some(Position { state, situation });
        self.episode = QEpisode {
            task: task as u32,
            steps: 0,
            reward,
            accepted: false,
        };
        Ok(())
    }

    /// An action for the episode that is being played: random with probability epsilon, else the best one.
    pub fn act(&mut self) -> Result<usize> {
        let Position { state, situation } = self.position.ok_or_else(not_begun)?;
        let epsilon = self.settings.epsilon;
        Ok(self
            .table
            .choose(state, situation, epsilon, &mut self.random))
    }

    /// Learns from one step: the action led to this state, with this reward of the environment. Returns the episode if it is over:
    /// because the machine or the environment ended it, or because the limit of steps is reached.
    pub fn learn(
        &mut self,
        action: usize,
        state: usize,
        labels: &AtomSet,
        reward: f64,
        terminated: bool,
    ) -> Result<Option<QEpisode>> {
        self.known(state)?;
        if action >= self.actions {
            return Err(Error::World(form_env::Error::NoSuchAction {
                action,
                actions: self.actions,
            }));
        }
        if !reward.is_finite() {
            return Err(Error::NonFinite {
                what: "reward",
                value: reward as f32,
            });
        }
        let label = self.label(labels)?;
        let position = self.position.ok_or_else(not_begun)?;
        Ok(self.step(position, action, state, label, reward, terminated))
    }

    /// Ends the episode where it is, as the limit of steps does.
    pub fn cut_off(&mut self) -> Option<QEpisode> {
        self.position.take().map(|_| self.episode)
    }

    fn step(
        &mut self,
        position: Position,
        action: usize,
        state: usize,
        label: usize,
        reward: f64,
        terminated: bool,
    ) -> Option<QEpisode> {
        let Position {
            state: from,
            situation,
        } = position;
        let own = match self.settings.environment_reward {
            true => reward,
            false => 0.0,
        };
        let situations = match self.settings.counterfactual {
            true => 0..self.product.len(),
            false => situation..situation + 1,
        };
        let QSettings {
            learning_rate,
            discount,
            ..
        } = self.settings;
        let jumps = self.product.jumps(label);
        for i in situations {
            let Jump { next, reward, .. } = jumps[i];
            let mut target = reward + own - self.potentials[i];
            // At every true end the potential is 0 (Ng et al., ICML 1999).
            if let Some(next) = next.filter(|_| !terminated) {
                target += discount * (self.potentials[next] + self.table.value(state, next));
            }
            let value = &mut self.table.row_mut(from, i)[action];
            *value += learning_rate * (target - *value);
        }
        let Jump {
            next,
            reward,
            accepted,
        } = jumps[situation];
        self.episode.steps += 1;
        self.episode.reward += reward + own;
        self.episode.accepted = accepted;
        let limit = self.settings.episode_steps;
        match next.filter(|_| !terminated && self.episode.steps < limit) {
            Some(situation) => {
                self.position = Some(Position { state, situation });
                None
            }
            None => {
                self.position = None;
                Some(self.episode)
            }
        }
    }

    /// Plays and learns for a number of steps in a table. The last episode is not finished. Ends early where `stop` says so, which is
    /// asked every few thousand steps.
    pub fn run(
        &mut self,
        table: &LabelledMdp,
        steps: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<QEpisode>> {
        const BETWEEN_STOPS: u64 = 1 << 14;
        let mut episodes = Vec::new();
        self.position = None;
        for done in 0..steps {
            if done % BETWEEN_STOPS == 0 && stop() {
                break;
            }
            if self.position.is_none() {
                let state = table.start(&mut self.random);
                self.start(state, table.label_of(state))?;
            }
            let action = self.act()?;
            let position = self.position.ok_or_else(not_begun)?;
            let outcome = table.sample(position.state, action, &mut self.random);
            let label = table.label_of(outcome.next);
            episodes.extend(self.step(
                position,
                action,
                outcome.next,
                label,
                outcome.reward,
                outcome.terminated,
            ));
        }
        Ok(episodes)
    }

    fn known(&self, state: usize) -> Result<()> {
        if state < self.states {
            return Ok(());
        }
        Err(Error::Setting {
            name: "state",
            value: state.to_string(),
            problem: "there are fewer states",
        })
    }
}

/// Whether the machine reads what the table says.
pub(crate) fn expect_signature(table: &LabelledMdp, machine: &BoundMachine) -> Result<()> {
    if table.signature() == machine.signature() {
        return Ok(());
    }
    Err(Error::Setting {
        name: "machine",
        value: machine.machine().name().to_owned(),
        problem: "it is bound to another signature than that of the table",
    })
}

fn room(states: usize, situations: usize, actions: usize) -> Result<()> {
    let entries = states
        .checked_mul(situations)
        .and_then(|pairs| pairs.checked_mul(actions));
    if entries.is_some_and(|entries| entries <= MOST_ENTRIES) {
        return Ok(());
    }
    Err(Error::Setting {
        name: "table",
        value: format!("{states} states x {situations} situations x {actions} actions"),
        problem: "a table has at most 2^28 entries",
    })
}

fn not_begun() -> Error {
    Error::Setting {
        name: "episode",
        value: "none".to_owned(),
        problem: "no episode has begun, or the last one is over",
    }
}
