//! Long short-term memory (Hochreiter and Schmidhuber, 1997), for the recurrent baseline (Table 2 of the paper: one layer, 256 units).
//!
//! Gates are in PyTorch's order: input, forget, candidate, output. The hidden state of a sequence is its last output followed by its
//! cells. At the start of an episode the hidden state is reset; no gradient flows across it, nor into the initial hidden state of a
//! sequence (truncated backpropagation through time).

use super::layer::{
    Backward, Forward, Layer, MOST_NUMBERS, MOST_WEIGHTS, Parameter, Rows, Shape, limit,
};
use super::strip::Strips;
use super::tile::{Outer, Product, Start, SumRows};
use super::transpose::transpose;
use super::vector::{sigmoid, tanh, vectorised};

/// One layer of LSTM cells.
#[derive(Debug)]
pub(crate) struct Lstm {
    inputs: usize,
    units: usize,
}

/// What is kept of a block, every part row by row.
struct Kept<'a> {
    /// The four gates, later their gradients.
    gates: &'a mut [f32],
    cells: &'a mut [f32],
    previous_outputs: &'a mut [f32],
    previous_cells: &'a mut [f32],
    /// Gradients that flow from a step to the one before it, one row per sequence.
    d_outputs: &'a mut [f32],
    d_cells: &'a mut [f32],
}

impl Lstm {
    pub(crate) fn new(input: Shape, units: usize) -> Result<Self, String> {
        if units == 0 {
            return Err("a layer needs at least one unit".to_owned());
        }
        let inputs = input.size();
        limit("units", &[units], MOST_NUMBERS)?;
        limit("weights", &[4, units, inputs.max(units)], MOST_WEIGHTS)?;
        Ok(Self { inputs, units })
    }

    fn split<'a>(&self, kept: &'a mut [f32], rows: Rows<'_>) -> Kept<'a> {
        let size = rows.count() * self.units;
        let (gates, rest) = kept.split_at_mut(4 * size);
        let (cells, rest) = rest.split_at_mut(size);
        let (previous_outputs, rest) = rest.split_at_mut(size);
        let (previous_cells, rest) = rest.split_at_mut(size);
        let (d_outputs, d_cells) = rest.split_at_mut(rows.sequences * self.units);
        Kept {
            gates,
            cells,
            previous_outputs,
            previous_cells,
            d_outputs,
            d_cells,
        }
    }

    /// Where the input's weights end, and where the state's.
    fn bounds(&self) -> (usize, usize) {
        let input = 4 * self.units * self.inputs;
        (input, input + 4 * self.units * self.units)
    }

    /// Writes the outputs and cells before a step: zeros, the initial hidden state, or those of the step before.
    fn recall(&self, step: usize, rows: Rows<'_>, output: &[f32], kept: &mut Kept<'_>) {
        let units = self.units;
        for sequence in 0..rows.sequences {
            let row = step * rows.sequences + sequence;
            let here = row * units..(row + 1) * units;
            let to_outputs = &mut kept.previous_outputs[here.clone()];
            let to_cells = &mut kept.previous_cells[here];
            if rows.starts[row] {
                to_outputs.fill(0.0);
                to_cells.fill(0.0);
            } else if step == 0 {
                let state = &rows.states[sequence * 2 * units..(sequence + 1) * 2 * units];
                to_outputs.copy_from_slice(&state[..units]);
                to_cells.copy_from_slice(&state[units..]);
            } else {
                let before = (row - rows.sequences) * units;
                to_outputs.copy_from_slice(&output[before..before + units]);
                to_cells.copy_from_slice(&kept.cells[before..before + units]);
            }
        }
    }
}

impl Layer for Lstm {
    fn output(&self) -> Shape {
        Shape::Flat(self.units)
    }

    fn parameters(&self) -> Vec<Parameter> {
        let gates = 4 * self.units;
        vec![
            Parameter::new("weight_input", &[gates, self.inputs], self.units).with_gain(1.0),
            Parameter::new("weight_state", &[gates, self.units], self.units).with_gain(1.0),
            Parameter::new("bias", &[gates], self.units),
        ]
    }

    /// Sums for all gates at once want the weights with the gate last.
    fn prepare(&self, weights: &[f32], prepared: &mut [f32]) {
        let (input_end, state_end) = self.bounds();
        let (input, state) = (..input_end, input_end..state_end);
        transpose(&weights[input], self.inputs, &mut prepared[input]);
        transpose(&weights[state.clone()], self.units, &mut prepared[state]);
    }

    fn kept(&self, sequences: usize, steps: usize) -> usize {
        (7 * steps + 2) * sequences * self.units
    }

    fn state(&self) -> usize {
        2 * self.units
    }

    fn forward(&self, pass: Forward<'_>) {
        let (units, rows) = (self.units, pass.rows);
        let (input_end, state_end) = self.bounds();
        let mut kept = self.split(pass.kept, rows);
        let sizes = [rows.count(), self.inputs, 4 * units];
        let (weight_input, weight_state) = pass.prepared[..state_end].split_at(input_end);
        let bias = Start::Bias(&pass.weights[state_end..]);
        Product::matrices(pass.input.numbers, weight_input, bias, kept.gates, sizes).run();
        for step in 0..rows.steps {
            self.recall(step, rows, pass.output, &mut kept);
            let here = step * rows.sequences * units..(step + 1) * rows.sequences * units;
            let gates = &mut kept.gates[4 * here.start..4 * here.end];
            let previous = &kept.previous_outputs[here.clone()];
            let sizes = [rows.sequences, units, 4 * units];
            Product::matrices(previous, weight_state, Start::There, gates, sizes).run();
            let cells = kept.cells[here.clone()].chunks_exact_mut(units);
            let before = kept.previous_cells[here.clone()].chunks_exact(units);
            let outputs = pass.output[here].chunks_exact_mut(units);
            let gates = gates.chunks_exact_mut(4 * units);
            for (((gates, cells), before), outputs) in gates.zip(cells).zip(before).zip(outputs) {
                vectorised(
                    #[inline(always)]
                    || cell_forward(gates, before, cells, outputs),
                );
            }
        }
        let last = (rows.steps - 1) * rows.sequences * units;
        for (sequence, state) in pass.last_states.chunks_exact_mut(2 * units).enumerate() {
            let from = last + sequence * units;
            state[..units].copy_from_slice(&pass.output[from..from + units]);
            state[units..].copy_from_slice(&kept.cells[from..from + units]);
        }
    }

    fn backward(&self, pass: Backward<'_>) {
        let (units, rows) = (self.units, pass.rows);
        let (input_end, state_end) = self.bounds();
        let kept = self.split(pass.kept, rows);
        kept.d_outputs.fill(0.0);
        kept.d_cells.fill(0.0);
        for step in (0..rows.steps).rev() {
            for sequence in 0..rows.sequences {
                let row = step * rows.sequences + sequence;
                let here = row * units..(row + 1) * units;
                let own = sequence * units..(sequence + 1) * units;
                for (d, later) in
                    (pass.d_output[here.clone()].iter_mut()).zip(&kept.d_outputs[own.clone()])
                {
                    *d += later;
                }
                let gates = &mut kept.gates[4 * here.start..4 * here.end];
                let cells = &kept.cells[here.clone()];
                let before = &kept.previous_cells[here.clone()];
                let d_output = &pass.d_output[here];
                let d_cells = &mut kept.d_cells[own];
                vectorised(
                    #[inline(always)]
                    || cell_backward(gates, cells, before, d_output, d_cells),
                );
                if rows.starts[row] {
                    d_cells.fill(0.0);
                }
            }
            let here = step * rows.sequences * 4 * units..(step + 1) * rows.sequences * 4 * units;
            let weight_state = &pass.weights[input_end..state_end];
            let sizes = [rows.sequences, 4 * units, units];
            let (gates, to) = (&kept.gates[here], &mut *kept.d_outputs);
            Product::matrices(gates, weight_state, Start::Nothing, to, sizes).run();
            for sequence in 0..rows.sequences {
                if rows.starts[step * rows.sequences + sequence] {
                    kept.d_outputs[sequence * units..(sequence + 1) * units].fill(0.0);
                }
            }
        }
        let (d_input_weight, rest) = pass.gradient.split_at_mut(input_end);
        let (d_state_weight, d_bias) = rest.split_at_mut(state_end - input_end);
        let sizes = [4 * units, rows.count(), self.inputs];
        Outer::matrices(kept.gates, pass.input.numbers, d_input_weight, sizes).run();
        let sizes = [4 * units, rows.count(), units];
        Outer::matrices(kept.gates, kept.previous_outputs, d_state_weight, sizes).run();
        SumRows {
            rows: kept.gates,
            sum: d_bias,
        }
        .run();
        if let Some(d_input) = pass.d_input {
            let sizes = [rows.count(), 4 * units, self.inputs];
            let weight_input = &pass.weights[..input_end];
            Product::matrices(kept.gates, weight_input, Start::Nothing, d_input, sizes).run();
        }
    }
}

/// One step of one sequence: the gates' sums become the gates.
#[inline(always)]
fn cell_forward(gates: &mut [f32], before: &[f32], cells: &mut [f32], outputs: &mut [f32]) {
    let units = cells.len();
    let (gates_in, rest) = gates.split_at_mut(units);
    let (gates_forget, rest) = rest.split_at_mut(units);
    let (candidates, gates_out) = rest.split_at_mut(units);
    let (before, outputs) = (&before[..units], &mut outputs[..units]);
    let gates_out = &mut gates_out[..units];
    for unit in 0..units {
        gates_in[unit] = sigmoid(gates_in[unit]);
        gates_forget[unit] = sigmoid(gates_forget[unit]);
        candidates[unit] = tanh(candidates[unit]);
        gates_out[unit] = sigmoid(gates_out[unit]);
        cells[unit] = gates_forget[unit] * before[unit] + gates_in[unit] * candidates[unit];
        outputs[unit] = gates_out[unit] * tanh(cells[unit]);
    }
}

/// The reverse: the gates become the gradients of their sums, the gradient of the cells that of the cells before.
#[inline(always)]
fn cell_backward(
    gates: &mut [f32],
    cells: &[f32],
    before: &[f32],
    d_output: &[f32],
    d_cells: &mut [f32],
) {
    let units = cells.len();
    let (gates_in, rest) = gates.split_at_mut(units);
    let (gates_forget, rest) = rest.split_at_mut(units);
    let (candidates, gates_out) = rest.split_at_mut(units);
    let gates_out = &mut gates_out[..units];
    let (before, d_output, d_cells) = (&before[..units], &d_output[..units], &mut d_cells[..units]);
    for unit in 0..units {
        let (i, f) = (gates_in[unit], gates_forget[unit]);
        let (g, o) = (candidates[unit], gates_out[unit]);
        let squashed = tanh(cells[unit]);
        let d_cell = d_cells[unit] + d_output[unit] * o * (1.0 - squashed * squashed);
        gates_in[unit] = d_cell * g * i * (1.0 - i);
        gates_forget[unit] = d_cell * before[unit] * f * (1.0 - f);
        candidates[unit] = d_cell * i * (1.0 - g * g);
        gates_out[unit] = d_output[unit] * squashed * o * (1.0 - o);
        d_cells[unit] = d_cell * f;
    }
}
