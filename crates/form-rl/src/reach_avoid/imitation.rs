//! Training by imitation of the exact solution: in every pose of a drawn sub-task, the probability of the actions that begin a shortest way
//! goes up. It needs known dynamics, which the grid has; breadth-first search then labels all poses at once.
//!
//! The loss of a sub-task is the mean over its poses with a way of `−ln Σ π(a)`, over the optimal actions `a`. The gradient goes through all
//! iterations of the network. Rooms grow during training (a curriculum): in small rooms values have a short way to go.

use form_env::{Action, Cell, Direction, Stream};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::policy::{PolicyOrigin, ReachAvoidPolicy};
use super::sub_tasks::{SubTask, SubTasks};
use super::value_iteration::{
    self, ACTIONS, BIAS, CRITIC, Grid, Iterations, OUTPUTS, PLANE, SCALE, VALUES, WEIGHTS,
};
use crate::adam::{Adam, clip_gradient_norm};
use crate::categorical::{greedy, log_softmax};
use crate::{Error, Result};

/// Sub-tasks per shard; the number of shards does not depend on the number of threads, so neither does a sum.
const SHARD: usize = 4;

/// Hyperparameters of imitation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImitationConfig {
    /// The seed of weights and sub-tasks.
    pub seed: u64,
    /// The number of updates.
    pub iterations: u64,
    /// Sub-tasks per update.
    pub batch: usize,
    /// Adam's learning rate at the start; it falls to 0 along half a cosine.
    pub learning_rate: f32,
    /// The maximum gradient norm.
    pub max_gradient_norm: f32,
    /// The discount factor of the critic's target.
    pub gamma: f32,
    /// The longest side of drawn rooms at the end of training.
    pub largest_side: usize,
}

impl Default for ImitationConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            iterations: 1000,
            batch: 64,
            learning_rate: 0.01,
            max_gradient_norm: 1.0,
            gamma: 0.98,
            largest_side: 17,
        }
    }
}

/// Training in progress.
#[derive(Clone, Debug)]
pub struct Imitation {
    config: ImitationConfig,
    rooms: Vec<form_env::Room>,
    weights: Vec<f32>,
    adam: Adam,
    iteration: u64,
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
    pub fn new(config: ImitationConfig, rooms: Vec<form_env::Room>) -> Self {
        let mut random = form_env::generator(config.seed, Stream::Other(0));
        let mut weights = vec![0.0; WEIGHTS];
        let mut fill = |weights: &mut [f32], bound: f32| {
            for weight in weights {
                *weight = random.random_range(-bound..bound);
            }
        };
        fill(&mut weights[VALUES], 0.1);
        fill(&mut weights[PLANE], 0.4);
        weights[BIAS].fill(-0.1);
        weights[SCALE] = 1.0;
        weights[CRITIC].copy_from_slice(&[0.1, 1.0]);
        Self {
            adam: Adam::new(WEIGHTS, config.learning_rate),
            config,
            rooms,
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

    /// The sub-tasks at this point of training.
    fn sub_tasks(&self) -> SubTasks {
        let progress = self.iteration as f64 / self.config.iterations as f64;
        // Rooms grow over the first half.
        let growth = (2.0 * progress).min(1.0);
        let largest = 6.0 + growth * (self.config.largest_side as f64 - 6.0);
        SubTasks {
            rooms: match progress < 0.15 {
                true => Vec::new(),
                false => self.rooms.clone(),
            },
            sides: (5, (largest.round() as usize).max(5)),
        }
    }

    /// One update.
    pub fn step(&mut self) -> Result<ImitationReport> {
        let sub_tasks = self.sub_tasks();
        let (first, config) = (self.iteration * self.config.batch as u64, &self.config);
        let numbers: Vec<u64> = (first..first + config.batch as u64).collect();
        let shards: Vec<Result<(Vec<f32>, Sums)>> = (numbers.par_chunks(SHARD))
            .map(|numbers| {
                let (mut gradient, mut sums) = (vec![0.0; WEIGHTS], Sums::default());
                for number in numbers {
                    let sub_task = sub_tasks.draw(config.seed, Stream::Map(*number))?;
                    // A few iterations more than the longest way needs: values must stay settled.
                    let mut random = form_env::generator(config.seed, Stream::Other(1 + number));
                    let spare = random.random_range(2..=16);
                    let iterations = (sub_task.distances.longest() as usize + spare).min(160);
                    let weights = &self.weights;
                    sums.add(&imitate(
                        weights,
                        &sub_task,
                        iterations,
                        config.gamma,
                        &mut gradient,
                    ));
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
        let progress = self.iteration as f32 / config.iterations as f32;
        let fall = 0.5 * (1.0 + (std::f32::consts::PI * progress.min(1.0)).cos());
        self.adam.learning_rate = config.learning_rate * fall;
        self.adam.step(&mut self.weights, &gradient)?;
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

/// The loss on a sub-task; adds its gradient.
fn imitate(
    weights: &[f32],
    sub_task: &SubTask,
    iterations: usize,
    gamma: f32,
    gradient: &mut [f32],
) -> Sums {
    let (cells, distances) = (&sub_task.cells, &sub_task.distances);
    let grid = Grid::new(cells);
    let forward = value_iteration::forward(weights, &grid, Iterations::Exactly(iterations), true);
    let mut labelled = Vec::new();
    let height = cells.height();
    for number in (0..cells.walls().len()).filter(|number| !cells.walls()[*number]) {
        let cell = Cell {
            x: number / height,
            y: number % height,
        };
        for direction in Direction::ALL {
            if let Some(steps) = distances.steps(cell, direction) {
                let optimal = distances.optimal(cells, cell, direction);
                labelled.push((number, direction as usize, steps, optimal));
            }
        }
    }
    let mut sums = Sums {
        poses: labelled.len() as f32,
        iterations: iterations as f32,
        ..Sums::default()
    };
    let share = 1.0 / labelled.len() as f32;
    let scale = weights[SCALE];
    let mut d_actions = vec![0.0; forward.actions.len()];
    debug_assert_eq!(d_actions.len() % OUTPUTS, 0);
    for (cell, direction, steps, optimal) in labelled {
        let values: [f32; ACTIONS] =
            std::array::from_fn(|action| forward.actions[grid.output(cell, direction, action)]);
        let mut logs = [0.0; Action::MOVES];
        log_softmax(&values.map(|value| scale * value), &mut logs);
        sums.optimal += f32::from(u8::from(optimal[greedy(&values)]));
        let chosen: [f32; ACTIONS] = std::array::from_fn(|action| {
            if optimal[action] {
                logs[action].exp()
            } else {
                0.0
            }
        });
        let probability = chosen.iter().sum::<f32>().max(1e-30);
        sums.loss -= share * probability.ln();
        for action in 0..ACTIONS {
            let slope = share * (logs[action].exp() - chosen[action] / probability);
            d_actions[grid.output(cell, direction, action)] = scale * slope;
            gradient[SCALE] += slope * values[action];
        }
        // The critic learns γ^(steps − 1), the return of a shortest way; its gradient does not reach the values.
        let value = forward.values[grid.value(cell, direction)];
        let [slope, offset] = [CRITIC.start, CRITIC.start + 1].map(|at| weights[at]);
        let estimate = (0.5 * (slope * value + offset)).tanh();
        let target = gamma.powi(steps as i32 - 1);
        let d = share * (estimate - target) * 0.5 * (1.0 - estimate * estimate);
        gradient[CRITIC.start] += d * value;
        gradient[CRITIC.start + 1] += d;
    }
    value_iteration::backward(weights, &grid, &forward, d_actions, gradient);
    sums
}
