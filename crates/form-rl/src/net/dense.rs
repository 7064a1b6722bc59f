//! The fully connected layer: every output is a weighted sum of all inputs, plus a bias.

use super::layer::{Backward, Forward, Layer, MOST_NUMBERS, MOST_WEIGHTS, Parameter, Shape, limit};
use super::strip::Strips;
use super::tile::{Outer, Product, Start, SumRows};
use super::transpose::transpose;

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
        let (weight, bias) = (&pass.prepared[..split], &pass.weights[split..]);
        let sizes = [rows, self.inputs, self.outputs];
        Product::matrices(
            pass.input.numbers,
            weight,
            Start::Bias(bias),
            pass.output,
            sizes,
        )
        .run();
    }

    fn backward(&self, pass: Backward<'_>) {
        let rows = pass.rows.count();
        let split = self.outputs * self.inputs;
        let (d_weight, d_bias) = pass.gradient.split_at_mut(split);
        let sizes = [self.outputs, rows, self.inputs];
        Outer::matrices(pass.d_output, pass.input.numbers, d_weight, sizes).run();
        SumRows {
            rows: pass.d_output,
            sum: d_bias,
        }
        .run();
        let Some(d_input) = pass.d_input else {
            return;
        };
        let sizes = [rows, self.outputs, self.inputs];
        let weight = &pass.weights[..split];
        Product::matrices(pass.d_output, weight, Start::Nothing, d_input, sizes).run();
    }
}
