//! The backward pass, through all iterations.

use super::forward::{Forward, Inputs};
use super::grid::{Grid, lanes};
use super::kernel::{Kernel, plane_places, values_places};
use super::weights::{ACTIONS, BIAS, DIRECTIONS, LANES, OUTPUTS, PLANES, TAPS};
use crate::net::vectorised;

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
