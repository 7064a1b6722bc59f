//! The fully connected layer: every output is a weighted sum of all inputs, plus a bias.

use super::layer::{Backward, Forward, Layer, MOST_NUMBERS, MOST_WEIGHTS, Parameter, Shape, limit};
use super::matmul::transpose;
use super::strip::Strips;
use super::tile::{Layout, Outer, Product, Start, SumRows};

/// `y = x Wᵀ + b`, with one row of `W` per output.
#[derive(Debug)]
pub(crate) struct Dense {
    inputs: usize,
    outputs: usize,
}

impl Dense {
    /// An image is taken as the flat list of its numbers.
    pub(crate) fn new(input: Shape, outputs: usize) -> Result<Self, String> {
        if outputs == 0 {
            return Err("a layer needs at least one output".to_owned());
        }
        let inputs = input.size();
        limit("outputs", &[outputs], MOST_NUMBERS)?;
        limit("weights", &[inputs, outputs], MOST_WEIGHTS)?;
        Ok(Self { inputs, outputs })
    }
}

impl Layer for Dense {
    fn output(&self) -> Shape {
        Shape::Flat(self.outputs)
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::new("weight", &[self.outputs, self.inputs], self.inputs),
            Parameter::new("bias", &[self.outputs], self.inputs),
        ]
    }

    /// A sum for every output at once wants the weights with the output last.
    fn prepare(&self, weights: &[f32], prepared: &mut [f32]) {
        let split = self.outputs * self.inputs;
        transpose(&weights[..split], self.inputs, &mut prepared[..split]);
    }

    fn forward(&self, pass: Forward<'_>) {
        let rows = pass.rows.count();
        let split = self.outputs * self.inputs;
        Product {
            samples: 1,
            rows,
            a: pass.input.numbers,
            a_at: Layout::rows(rows, self.inputs),
            lines: 1,
            line: 0,
            length: self.inputs,
            b: &pass.prepared[..split],
            b_row: self.outputs,
            start: Start::Bias(&pass.weights[split..]),
            c: pass.output,
            c_at: Layout::rows(rows, self.outputs),
            columns: self.outputs,
        }
        .run();
    }

    fn backward(&self, pass: Backward<'_>) {
        let rows = pass.rows.count();
        let split = self.outputs * self.inputs;
        let (d_weight, d_bias) = pass.gradient.split_at_mut(split);
        Outer {
            samples: 1,
            rows,
            a: pass.d_output,
            a_at: Layout::rows(rows, self.outputs),
            height: self.outputs,
            b: pass.input.numbers,
            b_at: Layout::rows(rows, self.inputs),
            c: d_weight,
            c_row: self.inputs,
            columns: self.inputs,
        }
        .run();
        SumRows {
            rows: pass.d_output,
            sum: d_bias,
        }
        .run();
        let Some(d_input) = pass.d_input else {
            return;
        };
        Product {
            samples: 1,
            rows,
            a: pass.d_output,
            a_at: Layout::rows(rows, self.outputs),
            lines: 1,
            line: 0,
            length: self.outputs,
            b: &pass.weights[..split],
            b_row: self.inputs,
            start: Start::Nothing,
            c: d_input,
            c_at: Layout::rows(rows, self.inputs),
            columns: self.inputs,
        }
        .run();
    }
}
