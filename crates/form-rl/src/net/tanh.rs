//! The hyperbolic tangent as a layer: the paper's activation function.

use super::layer::{Backward, Forward, Layer, Shape};
use super::vector::{tanh, vectorised};

/// `y = tanh x`.
#[derive(Debug)]
pub(crate) struct Tanh(pub(crate) Shape);

impl Layer for Tanh {
    fn output(&self) -> Shape {
        self.0
    }

    fn forward(&self, pass: Forward<'_>) {
        vectorised(
            #[inline(always)]
            || {
                for (y, x) in pass.output.iter_mut().zip(pass.input) {
                    *y = tanh(*x);
                }
            },
        );
    }

    fn backward(&self, pass: Backward<'_>) {
        let Some(d_input) = pass.d_input else {
            return;
        };
        vectorised(
            #[inline(always)]
            || {
                let known = pass.output.iter().zip(&*pass.d_output);
                for (d_x, (y, d_y)) in d_input.iter_mut().zip(known) {
                    *d_x = d_y * (1.0 - y * y);
                }
            },
        );
    }
}
