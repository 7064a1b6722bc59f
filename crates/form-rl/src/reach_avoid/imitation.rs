//! Training by imitation of the exact solution. It needs known dynamics, which the grid has: breadth-first search then labels all poses of
//! a drawn sub-task at once.
//!
//! 1. *Backups.* One iteration of the network is to be one backup of value iteration. Its input are the exact values after a drawn number
//!    `k` of backups, `V(pose) = −min(k, steps − 1)`; its target is `−1 + V(next pose)` for each action, at least 0 for one that enters a
//!    cell to reach, and at most −[`FORBIDDEN`] for one into a wall or a cell to avoid. The loss is Huber's. An L1 penalty, as a soft
//!    threshold after each update (proximal gradient descent), sets the weights that are not needed to 0.
//! 2. *Refit.* The same without the penalty, which makes the other weights too small; those that are 0 stay so.
//! 3. *Actions.* The network runs from zeros, as it is used, for as many iterations as the longest way of the sub-task needs and a few more.
//!    The loss is the mean of `−ln Σ π(a)` over the optimal actions `a`, over all poses with a way. The scale of the logits and the critic
//!    learn; the kernels too if their learning rate is above 0, with the gradient through all iterations (backpropagation through time).

use form_env::{Action, Cell, Direction, Room, Stream, generator};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::policy::{PolicyOrigin, ReachAvoidPolicy};
use super::sub_tasks::{SubTask, SubTasks};
use super::value_iteration::{
    self, ACTIONS, BIAS, CRITIC, Forward, Grid, Iterations, PLANE, SCALE, VALUES, WEIGHTS,
};
use crate::adam::{Adam, clip_gradient_norm};
use crate::categorical::{greedy, log_softmax};
use crate::{Error, Result};

/// Sub-tasks per shard. The shards of a batch do not depend on the number of threads, so neither do sums.
const SHARD: usize = 4;

/// What a step onto a wall or a cell to avoid is to cost at least, in steps.
const FORBIDDEN: f32 = 512.0;

/// The most iterations that a gradient goes through.
const MOST_ITERATIONS: usize = 160;

/// Hyperparameters of imitation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImitationConfig {
    /// The seed of weights and sub-tasks.
    pub seed: u64,
    /// The number of updates of each phase: backups, refit, actions.
    pub phases: [u64; 3],
    /// Sub-tasks per update.
    pub batch: usize,
    /// Adam's learning rate for the kernels at the start of each phase; it falls to 0 along half a cosine.
    pub learning_rates: [f32; 3],
    /// The same for the scale and the critic, in all phases.
    pub head_learning_rate: f32,
    /// The L1 penalty of the first phase: by how much of the learning rate weights shrink per update.
    pub l1: f32,
    /// The maximum gradient norm.
    pub max_gradient_norm: f32,
    /// The discount factor of the critic's target.
    pub gamma: f32,
    /// The shortest and the longest side of drawn rooms.
    pub sides: (usize, usize),
}

impl Default for ImitationConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            phases: [500, 200, 200],
            batch: 32,
            learning_rates: [0.03, 0.003, 0.0],
            head_learning_rate: 0.03,
            l1: 0.1,
            max_gradient_norm: 10.0,
            gamma: 0.98,
            sides: (5, 17),
        }
    }
}

impl ImitationConfig {
    /// The same with this number of updates, shared among the phases as before.
    #[must_use]
    pub fn with_iterations(mut self, iterations: u64) -> Self {
        let all: u64 = self.phases.iter().sum();
        let [backups, refit, _] = self.phases.map(|updates| iterations * updates / all.max(1));
        self.phases = [backups, refit, iterations - backups - refit];
        self
    }
}

/// Training in progress.
#[derive(Clone, Debug)]
pub struct Imitation {
    pub(super) config: ImitationConfig,
    sub_tasks: SubTasks,
    pub(super) weights: Vec<f32>,
    /// Of the kernels and biases.
    pub(super) adam: Adam,
    /// Of the scale and the critic, which need another learning rate.
    pub(super) heads: Adam,
    pub(super) iteration: u64,
}

/// One update.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImitationReport {
    /// The mean loss of the sub-tasks.
    pub loss: f32,
    /// The share of poses in which the greedy action is optimal.
    pub optimal: f32,
    /// The gradient norm before clipping.
    pub gradient_norm: f32,
    /// Iterations of the network per sub-task.
    pub network_iterations: f32,
}

impl Imitation {
    /// Begins with random weights; half of the sub-tasks are in these rooms.
    pub fn new(config: ImitationConfig, rooms: Vec<Room>) -> Self {
        let mut random = generator(config.seed, Stream::Other(0));
        let mut weights = vec![0.0; WEIGHTS];
        for (place, bound) in [(VALUES, 0.1_f32), (PLANE, 0.1)] {
            for weight in &mut weights[place] {
                *weight = random.random_range(-bound..bound);
            }
        }
        weights[BIAS].fill(-0.1);
        weights[SCALE] = 0.0;
        weights[CRITIC].copy_from_slice(&[0.1, 1.0]);
        Self {
            adam: Adam::new(SCALE, 0.0),
            heads: Adam::new(WEIGHTS - SCALE, 0.0),
            sub_tasks: SubTasks {
                rooms,
                sides: config.sides,
            },
            config,
            weights,
            iteration: 0,
        }
    }

    /// The number of updates made.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// The policy so far.
    pub fn policy(&self, origin: PolicyOrigin) -> ReachAvoidPolicy {
        ReachAvoidPolicy::new(self.weights.clone(), origin)
    }

    /// The number of updates in all.
    pub fn iterations(&self) -> u64 {
        self.config.phases.iter().sum()
    }

    /// The phase of the next update, and how much of it is over.
    fn phase(&self) -> (usize, f64) {
        let mut made = self.iteration;
        for (phase, updates) in self.config.phases.into_iter().enumerate() {
            if made < updates {
                return (phase, made as f64 / updates as f64);
            }
            made -= updates;
        }
        (2, 1.0)
    }

    /// One update.
    pub fn step(&mut self) -> Result<ImitationReport> {
        let (phase, progress) = self.phase();
        if progress == 0.0 {
            self.adam = Adam::new(SCALE, 0.0);
            self.heads = Adam::new(WEIGHTS - SCALE, 0.0);
        }
        let (config, weights) = (&self.config, &self.weights);
        let first = self.iteration * config.batch as u64;
        let numbers: Vec<u64> = (first..first + config.batch as u64).collect();
        let shards: Vec<Result<(Vec<f32>, Sums)>> = (numbers.par_chunks(SHARD))
            .map(|numbers| {
                let (mut gradient, mut sums) = (vec![0.0; WEIGHTS], Sums::default());
                for number in numbers {
                    let task = self.sub_tasks.draw(config.seed, Stream::Map(*number))?;
                    let lesson = Lesson::new(weights, &task, config.gamma);
                    let mut random = generator(config.seed, Stream::Other(1 + number));
                    let longest = task.distances.longest() as usize;
                    sums.add(&match phase < 2 {
                        true => {
                            let backups = random.random_range(0..longest + 8);
                            lesson.backup(backups, &mut gradient)
                        }
                        false => {
                            // More iterations than the longest way needs: values must stay settled.
                            let spare = random.random_range(2..=16);
                            let iterations = (longest + spare).min(MOST_ITERATIONS);
                            let through = config.learning_rates[2] > 0.0;
                            lesson.actions(iterations, through, &mut gradient)
                        }
                    });
                }
                Ok((gradient, sums))
            })
            .collect();
        let (mut gradient, mut sums) = (vec![0.0; WEIGHTS], Sums::default());
        for shard in shards {
            let (part, part_sums) = shard?;
            for (total, part) in gradient.iter_mut().zip(part) {
                *total += part / config.batch as f32;
            }
            sums.add(&part_sums);
        }
        let norm = clip_gradient_norm(&mut gradient, config.max_gradient_norm);
        if !norm.is_finite() {
            return Err(Error::NonFinite {
                what: "gradient norm",
                value: norm,
            });
        }
        if phase > 0 {
            // Weights that the penalty has set to 0 stay there.
            let kernels = VALUES.start..PLANE.end;
            let weights = &self.weights[kernels.clone()];
            for (slope, weight) in gradient[kernels].iter_mut().zip(weights) {
                if *weight == 0.0 {
                    *slope = 0.0;
                }
            }
        }
        let fall = 0.5 * (1.0 + (std::f64::consts::PI * progress).cos());
        self.adam.learning_rate = self.config.learning_rates[phase] * fall as f32;
        self.heads.learning_rate = self.config.head_learning_rate * fall as f32;
        let (kernels, heads) = self.weights.split_at_mut(SCALE);
        self.adam.step(kernels, &gradient[..SCALE])?;
        self.heads.step(heads, &gradient[SCALE..])?;
        if phase == 0 {
            // Proximal gradient descent: the soft threshold of the L1 penalty.
            let shrink = self.config.l1 * self.adam.learning_rate;
            for weight in &mut self.weights[VALUES.start..PLANE.end] {
                *weight = weight.signum() * (weight.abs() - shrink).max(0.0);
            }
        }
        self.iteration += 1;
        let batch = config.batch as f32;
        Ok(ImitationReport {
            loss: sums.loss / batch,
            optimal: sums.optimal / sums.poses,
            gradient_norm: norm,
            network_iterations: sums.iterations / batch,
        })
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    loss: f32,
    optimal: f32,
    poses: f32,
    iterations: f32,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.loss += other.loss;
        self.optimal += other.optimal;
        self.poses += other.poses;
        self.iterations += other.iterations;
    }
}

/// A sub-task to learn from.
struct Lesson<'a> {
    weights: &'a [f32],
    task: &'a SubTask,
    grid: Grid,
    gamma: f32,
}

impl<'a> Lesson<'a> {
    fn new(weights: &'a [f32], task: &'a SubTask, gamma: f32) -> Self {
        Self {
            weights,
            task,
            grid: Grid::new(&task.cells),
            gamma,
        }
    }

    /// All poses: the number of the cell, the cell, the direction.
    fn poses(&self) -> impl Iterator<Item = (usize, Cell, Direction)> + '_ {
        let cells = &self.task.cells;
        let height = cells.height();
        let free = (0..cells.walls().len()).filter(|number| !cells.walls()[*number]);
        free.flat_map(move |number| {
            let (x, y) = (number / height, number % height);
            Direction::ALL.map(|direction| (number, Cell { x, y }, direction))
        })
    }

    /// The loss of one backup from the exact values after this number of them; adds its gradient.
    fn backup(&self, backups: usize, gradient: &mut [f32]) -> Sums {
        let (cells, grid) = (&self.task.cells, &self.grid);
        let exact = |cell: Cell, direction: Direction| {
            let steps = self.task.distances.steps(cell, direction);
            -(steps.map_or(backups, |steps| backups.min(steps as usize - 1)) as f32)
        };
        let mut values = vec![0.0; grid.values_len()];
        for (number, cell, direction) in self.poses() {
            values[grid.value(number, direction as usize)] = exact(cell, direction);
        }
        let forward =
            value_iteration::forward_from(self.weights, grid, values, Iterations::Exactly(0), true);
        let mut sums = Sums::default();
        let share = 1.0 / (ACTIONS * self.poses().count()) as f32;
        let mut d_actions = vec![0.0; forward.actions.len()];
        for (number, cell, direction) in self.poses() {
            let turned = |by: usize| Direction::ALL[(direction as usize + by) % 4];
            let ahead = cells.ahead(cell, direction);
            let there = cells.number(ahead);
            for action in 0..ACTIONS {
                let place = grid.output(number, direction as usize, action);
                let found = forward.actions[place];
                let error = match action {
                    0 => found - exact(cell, turned(3)) + 1.0,
                    1 => found - exact(cell, turned(1)) + 1.0,
                    _ if cells.walls()[there] || cells.avoid()[there] => {
                        (found + FORBIDDEN).max(0.0)
                    }
                    _ if cells.reach()[there] => found.min(0.0),
                    _ => found - exact(ahead, direction) + 1.0,
                };
                let size = error.abs();
                sums.loss += share
                    * if size < 1.0 {
                        0.5 * error * error
                    } else {
                        size - 0.5
                    };
                d_actions[place] = share * error.clamp(-1.0, 1.0);
            }
        }
        // Poses with shorter ways than that have their final values: the scale and the critic learn from them.
        let mut unused = vec![0.0; forward.actions.len()];
        let known = Some(backups + 1);
        let found = self.imitate(&forward, known, &mut unused, gradient);
        value_iteration::backward(self.weights, grid, &forward, d_actions, gradient);
        Sums {
            loss: sums.loss,
            iterations: 1.0,
            ..found
        }
    }

    /// The loss of the actions after this number of iterations; adds its gradient, `through` all iterations or not.
    fn actions(&self, iterations: usize, through: bool, gradient: &mut [f32]) -> Sums {
        let iterations = Iterations::Exactly(iterations);
        let forward = value_iteration::forward(self.weights, &self.grid, iterations, through);
        let mut d_actions = vec![0.0; forward.actions.len()];
        let sums = self.imitate(&forward, None, &mut d_actions, gradient);
        if through {
            value_iteration::backward(self.weights, &self.grid, &forward, d_actions, gradient);
        }
        Sums {
            iterations: forward.iterations as f32,
            ..sums
        }
    }

    /// The loss of the policy in all poses with a way of at most `most_steps` steps. Adds the gradient of the scale and of the critic, and writes
    /// that of the action values.
    fn imitate(
        &self,
        forward: &Forward,
        most_steps: Option<usize>,
        d_actions: &mut [f32],
        gradient: &mut [f32],
    ) -> Sums {
        let (weights, grid, distances) = (self.weights, &self.grid, &self.task.distances);
        let labelled: Vec<(usize, Cell, Direction, u32)> = (self.poses())
            .filter_map(|(number, cell, direction)| {
                let steps = distances.steps(cell, direction)?;
                let is_known = most_steps.is_none_or(|most| steps as usize <= most);
                is_known.then_some((number, cell, direction, steps))
            })
            .collect();
        let share = 1.0 / labelled.len().max(1) as f32;
        let scale = weights[SCALE].exp();
        let mut sums = Sums {
            poses: labelled.len() as f32,
            ..Sums::default()
        };
        for (number, cell, direction, steps) in labelled {
            let optimal = distances.optimal(&self.task.cells, cell, direction);
            let place = |action| grid.output(number, direction as usize, action);
            let values: [f32; ACTIONS] =
                std::array::from_fn(|action| forward.actions[place(action)]);
            let mut logs = [0.0; Action::MOVES];
            log_softmax(&values.map(|value| scale * value), &mut logs);
            sums.optimal += f32::from(u8::from(optimal[greedy(&values)]));
            let wanted: [f32; ACTIONS] = std::array::from_fn(|action| match optimal[action] {
                true => logs[action].exp(),
                false => 0.0,
            });
            let probability = wanted.iter().sum::<f32>().max(f32::MIN_POSITIVE);
            sums.loss -= share * probability.ln();
            for action in 0..ACTIONS {
                let slope = share * (logs[action].exp() - wanted[action] / probability);
                d_actions[place(action)] = scale * slope;
                gradient[SCALE] += scale * slope * values[action];
            }
            // The critic learns the return of a shortest way, γ^(steps − 1); its gradient does not reach the values.
            let value = forward.values[grid.value(number, direction as usize)];
            let [slope, offset] = [CRITIC.start, CRITIC.start + 1].map(|at| weights[at]);
            let estimate = (0.5 * (slope * value + offset)).tanh();
            let target = self.gamma.powi(steps as i32 - 1);
            let d = share * (estimate - target) * 0.5 * (1.0 - estimate * estimate);
            gradient[CRITIC.start] += d * value;
            gradient[CRITIC.start + 1] += d;
        }
        sums
    }
}
