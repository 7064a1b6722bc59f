//! Matrix products over slices, with the matrix library `faer`.
//!
//! `faer` checks the sizes and picks a kernel for the processor at run time. All matrices are stored row by row; the
//! names say which factor is transposed. Every product runs on the calling thread: parallelism is over blocks of samples,
//! see `engine`, so results do not depend on the number of threads.

use std::time::{Duration, Instant};

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::vector::vectorised;

/// `c = a bᵀ` for `a` of `m` × `k` and `b` of `n` × `k`: activations times weights, one row of weights per output.
pub(crate) fn times_transposed(a: &[f32], b: &[f32], c: &mut [f32], [m, k, n]: [usize; 3]) {
    let a = MatRef::from_row_major_slice(a, m, k);
    let b = MatRef::from_row_major_slice(b, n, k);
    let c = MatMut::from_row_major_slice_mut(c, m, n);
    matmul(c, Accum::Replace, a, b.transpose(), 1.0, Par::Seq);
}

/// `c += a bᵀ`, the same sizes.
pub(crate) fn add_times_transposed(a: &[f32], b: &[f32], c: &mut [f32], [m, k, n]: [usize; 3]) {
    let a = MatRef::from_row_major_slice(a, m, k);
    let b = MatRef::from_row_major_slice(b, n, k);
    let c = MatMut::from_row_major_slice_mut(c, m, n);
    matmul(c, Accum::Add, a, b.transpose(), 1.0, Par::Seq);
}

/// `c = a b` for `a` of `m` × `k` and `b` of `k` × `n`: the gradient with respect to a layer's input.
pub(crate) fn times(a: &[f32], b: &[f32], c: &mut [f32], [m, k, n]: [usize; 3]) {
    let a = MatRef::from_row_major_slice(a, m, k);
    let b = MatRef::from_row_major_slice(b, k, n);
    let c = MatMut::from_row_major_slice_mut(c, m, n);
    matmul(c, Accum::Replace, a, b, 1.0, Par::Seq);
}

/// `c += aᵀ b` for `a` of `k` × `m` and `b` of `k` × `n`: the gradient with respect to weights, summed over `k` samples.
pub(crate) fn add_transposed_times(a: &[f32], b: &[f32], c: &mut [f32], [m, k, n]: [usize; 3]) {
    let a = MatRef::from_row_major_slice(a, k, m);
    let b = MatRef::from_row_major_slice(b, k, n);
    let c = MatMut::from_row_major_slice_mut(c, m, n);
    matmul(c, Accum::Add, a.transpose(), b, 1.0, Par::Seq);
}

/// Writes rows of that length as columns.
pub(crate) fn transpose(from: &[f32], length: usize, to: &mut [f32]) {
    each_transposed(from, length, to, |from, to| *to = from);
}

/// Adds rows of that length to columns.
pub(crate) fn add_transposed(from: &[f32], length: usize, to: &mut [f32]) {
    each_transposed(from, length, to, |from, to| *to += from);
}

fn each_transposed(from: &[f32], length: usize, to: &mut [f32], with: impl Fn(f32, &mut f32)) {
    let height = from.len() / length;
    // A few rows at a time: what is written is then adjacent, and what is read stays in cache.
    for first in (0..height).step_by(16) {
        let rows = first..(first + 16).min(height);
        for column in 0..length {
            let to = &mut to[column * height..][rows.clone()];
            for (to, row) in to.iter_mut().zip(rows.clone()) {
                with(from[row * length + column], to);
            }
        }
    }
}

/// Adds `bias` to every row of `c`.
pub(crate) fn add_bias(bias: &[f32], c: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            for row in c.chunks_exact_mut(bias.len()) {
                for (c, bias) in row.iter_mut().zip(bias) {
                    *c += bias;
                }
            }
        },
    );
}

/// Adds the sum of all rows of `d_output` to the gradient of the bias.
pub(crate) fn add_rows(d_output: &[f32], d_bias: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            for row in d_output.chunks_exact(d_bias.len()) {
                for (d_bias, d) in d_bias.iter_mut().zip(row) {
                    *d_bias += d;
                }
            }
        },
    );
}

/// Floating-point operations per second of large matrix products, one product per thread: the peak that other speeds are compared
/// with.
pub fn matrix_flops(threads: usize, time: Duration) -> f64 {
    const SIZE: usize = 512;
    let rates: Vec<f64> = std::thread::scope(|scope| {
        let work = || {
            let (a, b) = (vec![0.5; SIZE * SIZE], vec![0.25; SIZE * SIZE]);
            let mut c = vec![0.0; SIZE * SIZE];
            let (start, mut rounds) = (Instant::now(), 0);
            while rounds == 0 || start.elapsed() < time {
                times(&a, &b, &mut c, [SIZE; 3]);
                std::hint::black_box(&mut c);
                rounds += 1;
            }
            let operations = 2 * rounds * SIZE * SIZE * SIZE;
            operations as f64 / start.elapsed().as_secs_f64()
        };
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles
            .into_iter()
            .filter_map(|handle| handle.join().ok())
            .collect()
    });
    rates.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two factors small enough to multiply by hand: a = [1 2; 3 4; 5 6], b = [1 0 2; 0 3 1].
    const A: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    const B: [f32; 6] = [1.0, 0.0, 2.0, 0.0, 3.0, 1.0];
    const AB: [f32; 9] = [1.0, 6.0, 4.0, 3.0, 12.0, 10.0, 5.0, 18.0, 16.0];

    #[test]
    fn the_four_products_agree_with_a_hand_calculation() {
        let mut c = [9.0; 9];
        times(&A, &B, &mut c, [3, 2, 3]);
        assert_eq!(c, AB);
        let b_transposed = [1.0, 0.0, 0.0, 3.0, 2.0, 1.0];
        let mut c = [9.0; 9];
        times_transposed(&A, &b_transposed, &mut c, [3, 2, 3]);
        assert_eq!(c, AB);
        let mut c = [1.0; 9];
        add_times_transposed(&A, &b_transposed, &mut c, [3, 2, 3]);
        assert_eq!(c, AB.map(|x| x + 1.0));
        let a_transposed = [1.0, 3.0, 5.0, 2.0, 4.0, 6.0];
        let mut c = [1.0; 9];
        add_transposed_times(&a_transposed, &B, &mut c, [3, 2, 3]);
        assert_eq!(c, AB.map(|x| x + 1.0));
    }
}
