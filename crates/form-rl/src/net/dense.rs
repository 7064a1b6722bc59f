//! The fully connected layer: every output is a weighted sum of all inputs, plus a bias.

use super::layer::{Backward, Forward, Layer, Parameter, Shape};
use super::matmul::{add_bias, add_rows, add_transposed_times, times, times_transposed};

/// `y = x Wᵀ + b`, with one row of `W` an output.
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

    fn forward(&self, pass: Forward<'_>) {
        let sizes = [pass.rows.count(), self.inputs, self.outputs];
        let (weight, bias) = pass.weights.split_at(self.outputs * self.inputs);
        times_transposed(pass.input, weight, pass.output, sizes);
        add_bias(bias, pass.output);
    }

    fn backward(&self, pass: Backward<'_>) {
        let rows = pass.rows.count();
        let split = self.outputs * self.inputs;
        let (d_weight, d_bias) = pass.gradient.split_at_mut(split);
        let sizes = [self.outputs, rows, self.inputs];
        add_transposed_times(pass.d_output, pass.input, d_weight, sizes);
        add_rows(pass.d_output, d_bias);
        if let Some(d_input) = pass.d_input {
            let sizes = [rows, self.outputs, self.inputs];
            times(pass.d_output, &pass.weights[..split], d_input, sizes);
        }
    }
}
