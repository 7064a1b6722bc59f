//! The rectifier: negative numbers become zero.

use super::layer::{Backward, Forward, Layer, Shape};
use super::vector::vectorised;

/// `y = max(x, 0)`; what is not a number stays so.
#[derive(Debug)]
pub(crate) struct Relu(pub(crate) Shape);

impl Layer for Relu {
    fn output(&self) -> Shape {
        self.0
    }

    fn forward(&self, pass: Forward<'_>) {
        vectorised(
            #[inline(always)]
            || {
                for (y, x) in pass.output.iter_mut().zip(pass.input) {
                    *y = if *x < 0.0 { 0.0 } else { *x };
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
                    *d_x = if *y > 0.0 { *d_y } else { 0.0 };
                }
            },
        );
    }
}
