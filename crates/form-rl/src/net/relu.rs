//! The rectified linear unit (ReLU).

use super::activation::Function;

/// `y = max(x, 0)`; NaN stays NaN.
#[derive(Debug)]
pub(crate) struct Relu;

impl Function for Relu {
    #[inline(always)]
    fn value(x: f32) -> f32 {
        if x < 0.0 { 0.0 } else { x }
    }

    #[inline(always)]
    fn gradient(y: f32, d_y: f32) -> f32 {
        if y > 0.0 { d_y } else { 0.0 }
    }
}
