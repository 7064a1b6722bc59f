//! The processor's peak rate of multiplications and additions, which the speed of networks is compared with.

use std::time::{Duration, Instant};

use pulp::{Simd, WithSimd};

use super::vector::ARCH;

/// Sums side by side: enough that none waits for its own last addition.
const SUMS: usize = 12;

/// Fused multiplications and additions on numbers that stay in registers.
struct MultiplyAdd {
    rounds: usize,
}

impl WithSimd for MultiplyAdd {
    /// The number of floating-point operations.
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let (factor, term) = (simd.splat_f32s(0.999), simd.splat_f32s(0.001));
        let mut sums = [simd.splat_f32s(0.0); SUMS];
        for _ in 0..self.rounds {
            for sum in &mut sums {
                *sum = simd.mul_add_f32s(*sum, factor, term);
            }
        }
        std::hint::black_box(sums);
        2 * self.rounds * SUMS * S::F32_LANES
    }
}

/// Floating-point operations per second of fused multiplications and additions in registers, on that many threads.
pub fn peak_flops(threads: usize, time: Duration) -> f64 {
    let work = || {
        let (start, mut operations) = (Instant::now(), 0);
        while operations == 0 || start.elapsed() < time {
            operations += ARCH.dispatch(MultiplyAdd { rounds: 100_000 });
        }
        operations as f64 / start.elapsed().as_secs_f64()
    };
    let rates: Vec<f64> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let ended = handles.into_iter().filter_map(|handle| handle.join().ok());
        ended.collect()
    });
    rates.iter().sum()
}
