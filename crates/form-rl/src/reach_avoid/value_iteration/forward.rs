//! The forward pass: iterations until the values settle, and the action values then.

use super::grid::{Grid, lanes};
use super::kernel::Kernel;
use super::settled::SettledRule;
use super::weights::{ACTIONS, BIAS, DIRECTIONS, LANES, OUTPUTS};
use crate::net::vectorised;

/// How many iterations to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Iterations {
    /// This number.
    Exactly(usize),
    /// Until the values have settled wherever they do.
    UntilSettled,
}

/// No action: the value is 0, or the cell is a wall.
const NO_ACTION: u8 = ACTIONS as u8;

/// The values of all poses and actions.
#[derive(Clone, Debug)]
pub(crate) struct Forward {
    /// The values of actions, at [`Grid::output`].
    pub(crate) actions: Vec<f32>,
    /// The values of poses, at [`Grid::value`].
    pub(crate) values: Vec<f32>,
    /// The number of iterations made.
    pub(crate) iterations: usize,
    /// For the backward pass: the values before each iteration, and the actions that the maximum chose.
    pub(super) history: Vec<(Vec<f32>, Vec<u8>)>,
}

/// What stays the same in all iterations, by output and cell.
pub(super) struct Inputs {
    /// What planes and biases add.
    added: Vec<f32>,
    /// What the pose's own value is multiplied by: 1, less the weights of its neighbours without a wall.
    pub(super) own: Vec<f32>,
}

impl Inputs {
    pub(super) fn new(weights: &[f32], grid: &Grid) -> Self {
        let mut inputs = Self {
            added: vec![0.0; OUTPUTS * grid.stride],
            own: vec![0.0; OUTPUTS * grid.stride],
        };
        let (planes, own) = (Kernel::of_planes(weights), Kernel::of_own(weights));
        vectorised(
            #[inline(always)]
            || {
                for at in grid.starts() {
                    let mut added = [[0.0; LANES]; OUTPUTS];
                    for (output, sum) in added.iter_mut().enumerate() {
                        *sum = [weights[BIAS.start + output % ACTIONS]; LANES];
                    }
                    planes.add_to(grid, &grid.planes, at, &mut added);
                    let mut left = [[1.0; LANES]; OUTPUTS];
                    own.add_to(grid, &grid.free, at, &mut left);
                    for output in 0..OUTPUTS {
                        let to = output * grid.stride + at;
                        inputs.added[to..to + LANES].copy_from_slice(&added[output]);
                        inputs.own[to..to + LANES].copy_from_slice(&left[output]);
                    }
                }
            },
        );
        inputs
    }

    /// The action values of one block.
    #[inline(always)]
    fn actions(
        &self,
        kernel: &Kernel,
        grid: &Grid,
        values: &[f32],
        at: usize,
    ) -> [[f32; LANES]; OUTPUTS] {
        let mut sums = [[0.0; LANES]; OUTPUTS];
        for (output, sum) in sums.iter_mut().enumerate() {
            let place = output * grid.stride + at;
            let value = lanes(values, output / ACTIONS * grid.stride + at);
            let (own, added) = (lanes(&self.own, place), lanes(&self.added, place));
            for lane in 0..LANES {
                sum[lane] = own[lane].mul_add(value[lane], added[lane]);
            }
        }
        kernel.add_to(grid, values, at, &mut sums);
        sums
    }
}

/// Evaluates the network. `keep` keeps what the backward pass needs.
pub(crate) fn forward(weights: &[f32], grid: &Grid, iterations: Iterations, keep: bool) -> Forward {
    forward_from(
        weights,
        grid,
        vec![0.0; grid.values_len()],
        iterations,
        keep,
    )
}

/// Evaluates the network from other values than 0.
pub(crate) fn forward_from(
    weights: &[f32],
    grid: &Grid,
    mut values: Vec<f32>,
    iterations: Iterations,
    keep: bool,
) -> Forward {
    let kernel = Kernel::of_values(weights);
    let inputs = Inputs::new(weights, grid);
    let mut next = vec![0.0; grid.values_len()];
    let mut choices = vec![NO_ACTION; if keep { values.len() } else { 0 }];
    let mut history = Vec::new();
    let mut rule = SettledRule::new(grid);
    let mut made = 0;
    loop {
        match iterations {
            Iterations::Exactly(number) if made >= number => break,
            Iterations::UntilSettled if rule.has_settled() => break,
            _ => {}
        }
        iterate(&kernel, grid, &inputs, &values, &mut next, &mut choices);
        made += 1;
        if iterations == Iterations::UntilSettled {
            rule.update(&values, &next);
        }
        if keep {
            history.push((values.clone(), choices.clone()));
        }
        std::mem::swap(&mut values, &mut next);
    }
    let mut actions = vec![0.0; OUTPUTS * grid.stride];
    vectorised(
        #[inline(always)]
        || {
            for at in grid.starts() {
                let sums = inputs.actions(&kernel, grid, &values, at);
                for (output, sum) in sums.iter().enumerate() {
                    let to = output * grid.stride + at;
                    actions[to..to + LANES].copy_from_slice(sum);
                }
            }
        },
    );
    Forward {
        actions,
        values,
        iterations: made,
        history,
    }
}

/// One iteration: `V = min(0, max Q)` for all poses. Writes which action the maximum chose, unless `choices` is empty.
fn iterate(
    kernel: &Kernel,
    grid: &Grid,
    inputs: &Inputs,
    values: &[f32],
    next: &mut [f32],
    choices: &mut [u8],
) {
    vectorised(
        #[inline(always)]
        || {
            for at in grid.starts() {
                let sums = inputs.actions(kernel, grid, values, at);
                let free = lanes(&grid.free, at);
                for direction in 0..DIRECTIONS {
                    let [left, right, ahead] =
                        std::array::from_fn(|action| sums[direction * ACTIONS + action]);
                    let to = direction * grid.stride + at;
                    for lane in 0..LANES {
                        let turn = if right[lane] > left[lane] {
                            right[lane]
                        } else {
                            left[lane]
                        };
                        let best = if ahead[lane] > turn {
                            ahead[lane]
                        } else {
                            turn
                        };
                        let best = if best < 0.0 { best } else { 0.0 };
                        next[to + lane] = best * free[lane];
                    }
                    if choices.is_empty() {
                        continue;
                    }
                    for lane in 0..LANES {
                        let turn = u8::from(right[lane] > left[lane]);
                        let greatest = if right[lane] > left[lane] {
                            right[lane]
                        } else {
                            left[lane]
                        };
                        let best = if ahead[lane] > greatest { 2 } else { turn };
                        let greatest = if ahead[lane] > greatest {
                            ahead[lane]
                        } else {
                            greatest
                        };
                        let counts = greatest < 0.0 && free[lane] > 0.0;
                        choices[to + lane] = if counts { best } else { NO_ACTION };
                    }
                }
            }
        },
    );
}
