//! Loops compiled for the vector units of the processor at hand, and the functions those loops need.
//!
//! `pulp` picks the version at run time. The versions differ in width, never in the order of additions, and products are
//! added without rounding them first (`mul_add`: quick wherever the processor has it, as those of the last ten years do), so
//! all processors get the same bits out of them.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use pulp::Arch;

static ONLY_AVX2: AtomicBool = AtomicBool::new(false);

/// The processor at hand.
pub(crate) static ARCH: LazyLock<Arch> = LazyLock::new(|| {
    #[cfg(target_arch = "x86_64")]
    if ONLY_AVX2.load(Ordering::Relaxed)
        && let Some(avx2) = pulp::x86::V3::try_new()
    {
        return Arch::V3(avx2);
    }
    Arch::new()
});

/// For measurements: no AVX-512, even if the processor has it. To be called before anything else.
pub fn only_avx2() {
    ONLY_AVX2.store(true, Ordering::Relaxed);
}

/// Runs a loop in the version for this processor. The loop, and what it calls, must be inlined: `#[inline(always)] ||`, since a
/// function of its own would be compiled for the oldest processor.
#[inline(always)]
pub(crate) fn vectorised<R>(run: impl FnOnce() -> R) -> R {
    ARCH.dispatch(run)
}

/// `eˣ − 1` without a branch, to within a few units in the last place, for |x| up to 80: `x = n ln 2 + r` with an integer `n` and
/// |r| ≤ ln 2 / 2, `eˣ − 1 = 2ⁿ (eʳ − 1) + (2ⁿ − 1)`, and a Taylor polynomial for `eʳ − 1`.
#[inline(always)]
pub(crate) fn exp_minus_1(x: f32) -> f32 {
    // Adding and subtracting 1.5 · 2²³ rounds to the nearest integer.
    const ROUND: f32 = 12_582_912.0;
    // The first digits of ln 2, so few that a multiple of them is exact, and the rest.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let series = r.mul_add(1.0 / 5040.0, 1.0 / 720.0);
    let series = r.mul_add(series, 1.0 / 120.0);
    let series = r.mul_add(series, 1.0 / 24.0);
    let series = r.mul_add(series, 1.0 / 6.0);
    let series = r.mul_add(series, 0.5);
    let series = (r * r).mul_add(series, r);
    // The last bits of the shifted number are those of n; an exponent is biased by 127.
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    power.mul_add(series, power - 1.0)
}

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    // From here on the nearest number is 1. Not `clamp`, so that what is not a number stays so.
    let bounded = if x > 9.1 { 9.1 } else { x };
    let bounded = if bounded < -9.1 { -9.1 } else { bounded };
    let t = exp_minus_1(2.0 * bounded);
    t / (t + 2.0)
}

/// The logistic function, as `1 / (1 + e⁻ˣ)`.
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    0.5 + 0.5 * tanh(0.5 * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_agrees_with_the_library_everywhere() {
        for step in -120_000..=120_000 {
            let x = step as f32 * 1e-4;
            let expected = f64::from(x).tanh();
            let found = f64::from(tanh(x));
            let error = (found - expected).abs();
            assert!(error <= 4e-7 * expected.abs(), "tanh({x}) = {found}");
        }
        for x in [1e-30, 1e-10, 1e-5] {
            assert!((tanh(x) - x).abs() <= 2e-7 * x, "tanh({x}) = {}", tanh(x));
        }
        assert_eq!(tanh(0.0), 0.0);
        assert_eq!(tanh(f32::INFINITY), 1.0);
        assert_eq!(tanh(f32::NEG_INFINITY), -1.0);
        assert!(tanh(f32::NAN).is_nan());
    }

    #[test]
    fn sigmoid_agrees_with_its_definition() {
        for step in -300..=300 {
            let x = step as f32 * 0.1;
            let expected = 1.0 / (1.0 + (-f64::from(x)).exp());
            assert!((f64::from(sigmoid(x)) - expected).abs() < 2e-7);
        }
    }
}
