//! The hyperbolic tangent: the paper's activation function.

use super::activation::Function;
use super::vector::tanh;

/// `y = tanh x`.
#[derive(Debug)]
pub(crate) struct Tanh;

impl Function for Tanh {
    #[inline(always)]
    fn value(x: f32) -> f32 {
        tanh(x)
    }

    #[inline(always)]
    fn gradient(y: f32, d_y: f32) -> f32 {
        d_y * (1.0 - y * y)
    }
}
