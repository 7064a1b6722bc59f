//! Layers that apply a function to every number: a function is a file with its value and its gradient.

use std::fmt::Debug;
use std::marker::PhantomData;

use super::layer::{Backward, Forward, Layer, Shape};
use super::vector::vectorised;

/// A function of one number. Both parts must be `#[inline(always)]`, see [`vectorised`].
pub(crate) trait Function: Debug + Send + Sync {
    /// `y` from `x`.
    fn value(x: f32) -> f32;

    /// The gradient of `x`, from `y` and the gradient of `y`.
    fn gradient(y: f32, d_y: f32) -> f32;
}

/// A function on all numbers of a shape.
#[derive(Debug)]
pub(crate) struct Activation<F> {
    shape: Shape,
    function: PhantomData<F>,
}

impl<F> Activation<F> {
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            shape,
            function: PhantomData,
        }
    }
}

impl<F: Function> Layer for Activation<F> {
    fn output(&self) -> Shape {
        self.shape
    }

    fn forward(&self, pass: Forward<'_>) {
        vectorised(
            #[inline(always)]
            || {
                for (y, x) in pass.output.iter_mut().zip(pass.input.numbers) {
                    *y = F::value(*x);
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
                    *d_x = F::gradient(*y, *d_y);
                }
            },
        );
    }
}
