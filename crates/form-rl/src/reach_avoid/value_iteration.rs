//! A value iteration network (Tamar et al., 2016; arXiv:1602.02867) for sub-tasks in a grid: values of all poses, improved by one learnt
//! convolution that is repeated until they settle, and the values of the three moving actions.
//!
//! There is a value `V` for each pose, a direction and a cell without a wall. One iteration computes, for each pose and action,
//! `Q = V(pose) + Σ values · (V(neighbour) − V(pose)) + Σ planes · (walls, reach, avoid)(cell) + bias`, and then `V(pose) = min(0, max Q)`.
//! Sums go over the 3 × 3 cells around the agent *as the agent sees them* (ahead, beside, behind), and over all four directions there. These
//! share their weights by rotation, so what is learnt for one direction holds for the others. Adding a constant to all values adds it to all
//! action values: however long the way, the network neither discounts nor explodes.
//!
//! Planes are stored as flat arrays over the cells, in which a neighbour is a fixed distance away: walls go all around a room. Sums run over
//! 16 cells at once, in one order on all processors.

use std::ops::Range;

use form_env::ReachAvoid;

use crate::net::vectorised;

/// Left, right, forward.
pub(crate) const ACTIONS: usize = 3;
/// Walls, reach, avoid.
const PLANES: usize = 3;
const DIRECTIONS: usize = 4;
/// The cells around the agent, and its own.
const TAPS: usize = 9;
/// A direction and an action.
pub(crate) const OUTPUTS: usize = DIRECTIONS * ACTIONS;
/// The number in a plane where something is: weights of a few units then outweigh ways of hundreds of steps.
const MARK: f32 = 128.0;
/// Cells that are computed at once.
const LANES: usize = 16;

/// The weights in one array, in this order. Taps are numbered `3 * (ahead + 1) + right + 1`, with `ahead` and `right` from −1 to 1; relative
/// directions count turns to the right.
pub(crate) const VALUES: Range<usize> = 0..ACTIONS * DIRECTIONS * TAPS;
/// By action, plane and tap.
pub(crate) const PLANE: Range<usize> = VALUES.end..VALUES.end + ACTIONS * PLANES * TAPS;
/// By action.
pub(crate) const BIAS: Range<usize> = PLANE.end..PLANE.end + ACTIONS;
/// The logarithm of what action values are multiplied by to give logits.
pub(crate) const SCALE: usize = BIAS.end;
/// Slope and offset of the value's sigmoid.
pub(crate) const CRITIC: Range<usize> = SCALE + 1..SCALE + 3;
/// The number of weights.
pub(crate) const WEIGHTS: usize = CRITIC.end;

/// The tensors of the weights: names, shapes, places.
pub(crate) const TENSORS: [(&str, &[usize], Range<usize>); 5] = [
    ("values.weight", &[ACTIONS, DIRECTIONS, 3, 3], VALUES),
    ("planes.weight", &[ACTIONS, PLANES, 3, 3], PLANE),
    ("bias", &[ACTIONS], BIAS),
    ("log_scale", &[1], SCALE..SCALE + 1),
    ("critic", &[2], CRITIC),
];

/// A sub-task laid out for the network.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// What to add to a cell's number for a neighbour: `3 * (dx + 1) + dy + 1`.
    neighbours: [isize; TAPS],
    /// The first cell that is computed, and the number of blocks of [`LANES`].
    first: usize,
    blocks: usize,
    /// The length of a plane: cells, and padding.
    stride: usize,
    /// 1 for cells without a wall.
    free: Vec<f32>,
    planes: Vec<f32>,
}

impl Grid {
    pub(crate) fn new(sub_task: &ReachAvoid) -> Self {
        let (height, cells) = (sub_task.height(), sub_task.walls().len());
        let first = height + 1;
        let blocks = (cells - 2 * first).div_ceil(LANES);
        let stride = first + blocks * LANES + first;
        let mut planes = vec![0.0; PLANES * stride];
        let mut free = vec![0.0; stride];
        for cell in 0..cells {
            let (wall, avoid) = (sub_task.walls()[cell], sub_task.avoid()[cell]);
            // A cell both to reach and to avoid is one to avoid.
            let reach = sub_task.reach()[cell] && !avoid;
            free[cell] = f32::from(u8::from(!wall));
            for (plane, is_there) in [wall, reach, avoid].into_iter().enumerate() {
                planes[plane * stride + cell] = if is_there { MARK } else { 0.0 };
            }
        }
        let column = height as isize;
        let neighbours =
            std::array::from_fn(|n| (n as isize / 3 - 1) * column + (n as isize % 3 - 1));
        Self {
            neighbours,
            first,
            blocks,
            stride,
            free,
            planes,
        }
    }

    /// The number of poses without a wall.
    fn poses(&self) -> usize {
        DIRECTIONS * self.free.iter().filter(|free| **free > 0.0).count()
    }

    /// The first cells of all blocks.
    #[inline(always)]
    fn starts(&self) -> impl Iterator<Item = usize> + use<> {
        let first = self.first;
        (0..self.blocks).map(move |block| first + block * LANES)
    }

    /// The place of an output (direction and action) of a cell.
    pub(crate) fn output(&self, cell: usize, direction: usize, action: usize) -> usize {
        (direction * ACTIONS + action) * self.stride + cell
    }

    /// The place of the value of a pose.
    pub(crate) fn value(&self, cell: usize, direction: usize) -> usize {
        direction * self.stride + cell
    }

    /// The length of the values of all poses.
    pub(crate) fn values_len(&self) -> usize {
        DIRECTIONS * self.stride
    }
}

/// 16 numbers from here.
#[inline(always)]
fn lanes(numbers: &[f32], at: usize) -> [f32; LANES] {
    let mut lanes = [0.0; LANES];
    lanes.copy_from_slice(&numbers[at..at + LANES]);
    lanes
}

/// The weights of a convolution in the room's frame, without those that are 0: training leaves few others.
struct Kernel {
    /// The place `(input * TAPS + neighbour) * OUTPUTS + output` of each weight, in order, and the weight.
    weights: Vec<(usize, f32)>,
}

impl Kernel {
    fn new(mut weights: Vec<(usize, f32)>) -> Self {
        weights.retain(|(_, weight)| *weight != 0.0);
        weights.sort_unstable_by_key(|(place, _)| *place);
        Self { weights }
    }

    /// The weights of the values; inputs are directions.
    fn of_values(weights: &[f32]) -> Self {
        Self::new(
            values_places()
                .map(|(weight, place)| (place, weights[weight]))
                .collect(),
        )
    }

    /// What the weights of the values take from a pose's own value; the input says where no wall is.
    fn of_own(weights: &[f32]) -> Self {
        let mut sums = vec![0.0; TAPS * OUTPUTS];
        for (weight, place) in values_places() {
            sums[place % (TAPS * OUTPUTS)] -= weights[weight];
        }
        Self::new(sums.into_iter().enumerate().collect())
    }

    /// The weights of the planes.
    fn of_planes(weights: &[f32]) -> Self {
        Self::new(
            plane_places()
                .map(|(weight, place)| (place, weights[weight]))
                .collect(),
        )
    }

    /// Adds the convolution of the inputs around one block to the sums.
    #[inline(always)]
    fn add_to(&self, grid: &Grid, inputs: &[f32], at: usize, sums: &mut [[f32; LANES]; OUTPUTS]) {
        for (place, weight) in &self.weights {
            let (row, output) = (place / OUTPUTS, place % OUTPUTS);
            let offset = grid.neighbours[row % TAPS];
            let from = (row / TAPS * grid.stride + at).wrapping_add_signed(offset);
            let (numbers, sum) = (lanes(inputs, from), &mut sums[output]);
            for lane in 0..LANES {
                sum[lane] = numbers[lane].mul_add(*weight, sum[lane]);
            }
        }
    }

    /// Adds the gradient of the inputs of one block, from that of the outputs around it.
    #[inline(always)]
    fn add_transposed(
        &self,
        grid: &Grid,
        d_outputs: &[f32],
        at: usize,
        sums: &mut [[f32; LANES]; DIRECTIONS],
    ) {
        for (place, weight) in &self.weights {
            let (row, output) = (place / OUTPUTS, place % OUTPUTS);
            let offset = grid.neighbours[row % TAPS];
            let from = (output * grid.stride + at).wrapping_add_signed(-offset);
            let (slopes, sum) = (lanes(d_outputs, from), &mut sums[row / TAPS]);
            for lane in 0..LANES {
                sum[lane] = slopes[lane].mul_add(*weight, sum[lane]);
            }
        }
    }
}

/// The neighbour of the room's frame that a tap is, for an agent that looks in a direction.
fn neighbour(direction: usize, tap: usize) -> usize {
    // Ahead and to the right, in MiniGrid's order of directions.
    const STEPS: [(isize, isize); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];
    let (ahead, right) = (tap as isize / 3 - 1, tap as isize % 3 - 1);
    let (forward, side) = (STEPS[direction], STEPS[(direction + 1) % 4]);
    let dx = ahead * forward.0 + right * side.0;
    let dy = ahead * forward.1 + right * side.1;
    (3 * (dx + 1) + dy + 1) as usize
}

/// Each weight of the values, with its places in the kernel.
fn values_places() -> impl Iterator<Item = (usize, usize)> {
    (0..DIRECTIONS).flat_map(|direction| {
        VALUES.map(move |weight| {
            let (action, rest) = (weight / (DIRECTIONS * TAPS), weight % (DIRECTIONS * TAPS));
            let input = (direction + rest / TAPS) % DIRECTIONS;
            let row = input * TAPS + neighbour(direction, rest % TAPS);
            (weight, row * OUTPUTS + direction * ACTIONS + action)
        })
    })
}

/// Each weight of the planes, with its places in the kernel.
fn plane_places() -> impl Iterator<Item = (usize, usize)> {
    (0..DIRECTIONS).flat_map(|direction| {
        (0..PLANE.len()).map(move |weight| {
            let (action, rest) = (weight / (PLANES * TAPS), weight % (PLANES * TAPS));
            let row = rest / TAPS * TAPS + neighbour(direction, rest % TAPS);
            let place = row * OUTPUTS + direction * ACTIONS + action;
            (PLANE.start + weight, place)
        })
    })
}

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
    history: Vec<(Vec<f32>, Vec<u8>)>,
}

/// What stays the same in all iterations, by output and cell.
struct Inputs {
    /// What planes and biases add.
    added: Vec<f32>,
    /// What the pose's own value is multiplied by: 1, less the weights of its neighbours without a wall.
    own: Vec<f32>,
}

impl Inputs {
    fn new(weights: &[f32], grid: &Grid) -> Self {
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

/// Decides when values have settled. From poses without a way to a cell to reach they never do, but fall on and on; so the rule counts the
/// poses whose values still change: a way that gets longer by one step settles at least one pose per iteration.
struct SettledRule {
    changing: usize,
    unchanged_for: usize,
    left: usize,
}

/// Iterations without a newly settled pose before the rule stops.
const PATIENCE: usize = 4;

/// A change that is none, in steps.
const NO_CHANGE: f32 = 1e-3;

impl SettledRule {
    fn new(grid: &Grid) -> Self {
        Self {
            changing: usize::MAX,
            unchanged_for: 0,
            // No shortest way is longer than the number of poses.
            left: grid.poses() + PATIENCE,
        }
    }

    fn has_settled(&self) -> bool {
        self.unchanged_for >= PATIENCE || self.left == 0
    }

    fn update(&mut self, before: &[f32], after: &[f32]) {
        let (mut greatest, mut changing) = (0.0_f32, 0);
        vectorised(
            #[inline(always)]
            || {
                for (before, after) in before.iter().zip(after) {
                    greatest = greatest.max((before - after).abs());
                }
                let limit = 0.1 * greatest;
                for (before, after) in before.iter().zip(after) {
                    changing += usize::from((before - after).abs() > limit);
                }
            },
        );
        self.left = self.left.saturating_sub(1);
        self.unchanged_for = match changing < self.changing {
            true => 0,
            false => self.unchanged_for + 1,
        };
        if greatest < NO_CHANGE {
            self.left = 0;
        }
        self.changing = changing;
    }
}

/// Adds the gradient of the weights, except the scale and the critic, from that of the action values.
pub(crate) fn backward(
    weights: &[f32],
    grid: &Grid,
    forward: &Forward,
    d_actions: Vec<f32>,
    gradient: &mut [f32],
) {
    let (kernel, inputs) = (Kernel::of_values(weights), Inputs::new(weights, grid));
    let mut d_kernel = vec![0.0; DIRECTIONS * TAPS * OUTPUTS];
    let mut d_added = d_actions.clone();
    let mut d_own = vec![0.0; d_actions.len()];
    let mut d_outputs = d_actions;
    let mut d_values = vec![0.0; grid.values_len()];
    let mut values = &forward.values;
    for (before, choices) in forward.history.iter().rev() {
        correlate(grid, values, &d_outputs, &mut d_kernel);
        correlate_own(grid, values, &d_outputs, &mut d_own);
        transposed(&kernel, &inputs, grid, &d_outputs, &mut d_values);
        vectorised(
            #[inline(always)]
            || {
                for direction in 0..DIRECTIONS {
                    let from = direction * grid.stride..(direction + 1) * grid.stride;
                    let (d_values, choices) = (&d_values[from.clone()], &choices[from]);
                    for action in 0..ACTIONS {
                        let to = (direction * ACTIONS + action) * grid.stride;
                        let d_outputs = &mut d_outputs[to..to + grid.stride];
                        let d_added = &mut d_added[to..to + grid.stride];
                        let pairs = d_values.iter().zip(choices);
                        for ((output, input), (slope, choice)) in
                            d_outputs.iter_mut().zip(d_added).zip(pairs)
                        {
                            let chosen = usize::from(*choice) == action;
                            *output = if chosen { *slope } else { 0.0 };
                            *input += *output;
                        }
                    }
                }
            },
        );
        values = before;
    }
    correlate(grid, values, &d_outputs, &mut d_kernel);
    correlate_own(grid, values, &d_outputs, &mut d_own);
    // What the weights of neighbours take away from the pose's own value.
    let mut d_taken = vec![0.0; TAPS * OUTPUTS];
    correlate(grid, &grid.free, &d_own, &mut d_taken);
    for (weight, place) in values_places() {
        gradient[weight] += d_kernel[place] - d_taken[place % (TAPS * OUTPUTS)];
    }
    let mut d_planes = vec![0.0; PLANES * TAPS * OUTPUTS];
    correlate(grid, &grid.planes, &d_added, &mut d_planes);
    for (weight, place) in plane_places() {
        gradient[weight] += d_planes[place];
    }
    for output in 0..OUTPUTS {
        let from = output * grid.stride;
        let sum: f32 = d_added[from..from + grid.stride].iter().sum();
        gradient[BIAS.start + output % ACTIONS] += sum;
    }
}

/// Adds the gradient of a kernel: the products of its inputs and the gradients of its outputs.
fn correlate(grid: &Grid, inputs: &[f32], d_outputs: &[f32], d_kernel: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            for input in 0..d_kernel.len() / (TAPS * OUTPUTS) {
                for (n, offset) in grid.neighbours.into_iter().enumerate() {
                    let mut sums = [[0.0_f32; LANES]; OUTPUTS];
                    for at in grid.starts() {
                        let from = (input * grid.stride + at).wrapping_add_signed(offset);
                        let numbers = lanes(inputs, from);
                        for (output, sum) in sums.iter_mut().enumerate() {
                            let slopes = lanes(d_outputs, output * grid.stride + at);
                            for lane in 0..LANES {
                                sum[lane] = numbers[lane].mul_add(slopes[lane], sum[lane]);
                            }
                        }
                    }
                    let row = (input * TAPS + n) * OUTPUTS;
                    for (total, sum) in d_kernel[row..row + OUTPUTS].iter_mut().zip(sums) {
                        *total += sum.iter().sum::<f32>();
                    }
                }
            }
        },
    );
}

/// Adds the gradient of what a pose's own value is multiplied by.
fn correlate_own(grid: &Grid, values: &[f32], d_outputs: &[f32], d_own: &mut [f32]) {
    let rows = d_own
        .chunks_mut(grid.stride)
        .zip(d_outputs.chunks(grid.stride));
    for (output, (d_own, d_outputs)) in rows.enumerate() {
        let from = output / ACTIONS * grid.stride;
        let values = &values[from..from + grid.stride];
        for ((d_own, slope), value) in d_own.iter_mut().zip(d_outputs).zip(values) {
            *d_own += slope * value;
        }
    }
}

/// The gradient of the values that an iteration read.
fn transposed(
    kernel: &Kernel,
    inputs: &Inputs,
    grid: &Grid,
    d_outputs: &[f32],
    d_values: &mut [f32],
) {
    vectorised(
        #[inline(always)]
        || {
            for at in grid.starts() {
                let mut sums = [[0.0_f32; LANES]; DIRECTIONS];
                for output in 0..OUTPUTS {
                    let place = output * grid.stride + at;
                    let (own, slopes) = (lanes(&inputs.own, place), lanes(d_outputs, place));
                    let sum = &mut sums[output / ACTIONS];
                    for lane in 0..LANES {
                        sum[lane] = own[lane].mul_add(slopes[lane], sum[lane]);
                    }
                }
                kernel.add_transposed(grid, d_outputs, at, &mut sums);
                for (input, sum) in sums.iter().enumerate() {
                    let to = input * grid.stride + at;
                    d_values[to..to + LANES].copy_from_slice(sum);
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use form_env::{Cell, Room, generator};
    use rand::RngExt;

    use super::*;

    fn sub_task() -> ReachAvoid {
        let rows = ["#######", "#..#..#", "#.....#", "#.#..G#", "#######"];
        let mut cells = ReachAvoid::new(&Room::from_rows(&rows).unwrap());
        cells.ask_for(Cell { x: 5, y: 3 });
        cells.forbid(Cell { x: 3, y: 2 });
        cells
    }

    /// Weights at which no maximum is close to a tie, so that differences are derivatives.
    fn weights() -> Vec<f32> {
        let mut random = generator(3, form_env::Stream::Other(7));
        let mut weights: Vec<f32> = (0..WEIGHTS)
            .map(|_| random.random_range(-0.1..0.1))
            .collect();
        for weight in &mut weights[PLANE] {
            *weight *= 0.05;
        }
        weights[BIAS].copy_from_slice(&[-0.5, -0.6, -0.4]);
        weights
    }

    /// A number that depends on all action values.
    fn objective(weights: &[f32], grid: &Grid, slopes: &[f32], iterations: usize) -> f64 {
        let forward = forward(weights, grid, Iterations::Exactly(iterations), false);
        let pairs = forward.actions.iter().zip(slopes);
        pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    #[test]
    fn the_gradient_through_all_iterations_is_that_of_finite_differences() {
        let (cells, weights) = (sub_task(), weights());
        let grid = Grid::new(&cells);
        let mut random = generator(4, form_env::Stream::Other(0));
        let mut slopes = vec![0.0; OUTPUTS * grid.stride];
        for cell in (0..cells.walls().len()).filter(|cell| !cells.walls()[*cell]) {
            for output in 0..OUTPUTS {
                slopes[output * grid.stride + cell] = random.random_range(-1.0..1.0);
            }
        }
        for iterations in [0, 1, 2, 7] {
            let forward = forward(&weights, &grid, Iterations::Exactly(iterations), true);
            assert_eq!(forward.iterations, iterations);
            let mut gradient = vec![0.0; WEIGHTS];
            backward(&weights, &grid, &forward, slopes.clone(), &mut gradient);
            let mut checked = 0;
            for place in 0..SCALE {
                let difference = |step: f32| {
                    let mut moved = weights.clone();
                    moved[place] += step;
                    let up = objective(&moved, &grid, &slopes, iterations);
                    moved[place] -= 2.0 * step;
                    (up - objective(&moved, &grid, &slopes, iterations)) / f64::from(2.0 * step)
                };
                // A mark in a plane is 128 times as large as a step.
                let step = if PLANE.contains(&place) { 3e-6 } else { 2e-4 };
                let (small, large) = (difference(step), difference(2.0 * step));
                // Where both disagree, a maximum changed its action.
                if (small - large).abs() > 0.02 * (1.0 + large.abs()) {
                    continue;
                }
                let found = f64::from(gradient[place]);
                let error = (found - small).abs();
                assert!(
                    error < 0.03 * (1.0 + small.abs()),
                    "{iterations} iterations, weight {place}: {found}, not {small}"
                );
                checked += 1;
            }
            assert!(checked > 150, "{iterations} iterations: only {checked}");
        }
    }

    /// Turning the room turns the values.
    #[test]
    fn all_directions_share_their_weights() {
        let turned = |rows: &[&str]| -> Vec<String> {
            let columns = rows[0].len();
            (0..columns)
                .map(|x| {
                    (rows.iter().rev())
                        .map(|row| row.as_bytes()[x] as char)
                        .collect()
                })
                .collect()
        };
        let rows = ["######", "#..#.#", "#...G#", "#.#..#", "######"];
        let upright = Room::from_rows(&rows).unwrap();
        let room = Room::from_rows(&turned(&rows)).unwrap();
        let (mut a, mut b) = (ReachAvoid::new(&upright), ReachAvoid::new(&room));
        a.ask_for(upright.goal());
        b.ask_for(room.goal());
        let weights = weights();
        let (grid_a, grid_b) = (Grid::new(&a), Grid::new(&b));
        let run = |grid: &Grid| forward(&weights, grid, Iterations::Exactly(9), false);
        let (found_a, found_b) = (run(&grid_a), run(&grid_b));
        for (x, y) in (1..5).flat_map(|x| (1..4).map(move |y| (x, y))) {
            let (here, there) = (Cell { x, y }, Cell { x: 4 - y, y: x });
            for direction in 0..4 {
                let place = grid_a.value(a.number(here), direction);
                let turned = grid_b.value(b.number(there), (direction + 1) % 4);
                let (here, there) = (found_a.values[place], found_b.values[turned]);
                assert!((here - there).abs() < 1e-4, "{here} {there}");
            }
        }
    }

    /// Whatever the padding, one more iteration after the values have settled changes nothing that has a way.
    #[test]
    fn more_iterations_than_needed_change_no_settled_value() {
        let weights = super::super::policy::ReachAvoidPolicy::ideal();
        let grid = Grid::new(&sub_task());
        let settled = forward(weights.weights(), &grid, Iterations::UntilSettled, false);
        let more = Iterations::Exactly(settled.iterations + 30);
        let more = forward(weights.weights(), &grid, more, false);
        for (settled, more) in settled.values.iter().zip(&more.values) {
            // Without a way, values fall by 1 per iteration.
            assert!(
                settled == more || *settled == more + 30.0,
                "{settled} {more}"
            );
        }
    }
}
