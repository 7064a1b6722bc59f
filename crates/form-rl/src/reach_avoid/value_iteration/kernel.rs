//! Convolutions in the room's frame: the weights of one direction, turned for all four.

use super::grid::{Grid, lanes};
use super::weights::{ACTIONS, DIRECTIONS, LANES, OUTPUTS, PLANE, PLANES, TAPS, VALUES};

/// The weights of a convolution in the room's frame, without those that are 0: training leaves few others.
pub(super) struct Kernel {
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
    pub(super) fn of_values(weights: &[f32]) -> Self {
        Self::new(
            values_places()
                .map(|(weight, place)| (place, weights[weight]))
                .collect(),
        )
    }

    /// What the weights of the values take from a pose's own value; the input says where no wall is.
    pub(super) fn of_own(weights: &[f32]) -> Self {
        let mut sums = vec![0.0; TAPS * OUTPUTS];
        for (weight, place) in values_places() {
            sums[place % (TAPS * OUTPUTS)] -= weights[weight];
        }
        Self::new(sums.into_iter().enumerate().collect())
    }

    /// The weights of the planes.
    pub(super) fn of_planes(weights: &[f32]) -> Self {
        Self::new(
            plane_places()
                .map(|(weight, place)| (place, weights[weight]))
                .collect(),
        )
    }

    /// Adds the convolution of the inputs around one block to the sums.
    #[inline(always)]
    pub(super) fn add_to(
        &self,
        grid: &Grid,
        inputs: &[f32],
        at: usize,
        sums: &mut [[f32; LANES]; OUTPUTS],
    ) {
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
    pub(super) fn add_transposed(
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
pub(super) fn values_places() -> impl Iterator<Item = (usize, usize)> {
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
pub(super) fn plane_places() -> impl Iterator<Item = (usize, usize)> {
    (0..DIRECTIONS).flat_map(|direction| {
        (0..PLANE.len()).map(move |weight| {
            let (action, rest) = (weight / (PLANES * TAPS), weight % (PLANES * TAPS));
            let row = rest / TAPS * TAPS + neighbour(direction, rest % TAPS);
            let place = row * OUTPUTS + direction * ACTIONS + action;
            (PLANE.start + weight, place)
        })
    })
}
