//! The sums that dense layers and convolutions are made of, over rows that may lie anywhere: no patches are written out.
//!
//! A tile of a few rows times two vectors of columns stays in registers while everything that goes into it is added up. The
//! order of the additions is the same for every width of vectors and wherever a row stands, so all processors get the same
//! bits, and a sample's result does not depend on the other samples.

use std::ops::Range;

use pulp::Simd;

use super::strip::{Strip, Strips, Tiles};

/// How many sums of rows are made side by side.
const SUMS: usize = 4;

/// Where rows begin: row after row, or at places of a list, the same in every sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout<'a> {
    /// From sample to sample.
    pub(crate) sample: usize,
    /// From row to row, unless there is a list.
    pub(crate) row: usize,
    pub(crate) places: Option<&'a [usize]>,
}

impl<'a> Layout<'a> {
    /// Consecutive rows, this many per sample.
    pub(crate) fn rows(rows: usize, row: usize) -> Self {
        Self {
            sample: rows * row,
            row,
            places: None,
        }
    }

    pub(crate) fn places(sample: usize, places: &'a [usize]) -> Self {
        Self {
            sample,
            row: 0,
            places: Some(places),
        }
    }

    #[inline(always)]
    fn at(self, sample: usize, row: usize) -> usize {
        let place = self.places.map_or(row * self.row, |places| places[row]);
        sample * self.sample + place
    }
}

/// Whether the output is overwritten or added to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start<'a> {
    /// They are overwritten.
    Nothing,
    /// They are overwritten; sums start with these numbers.
    Bias(&'a [f32]),
    /// They are added to, once a sum is complete, row by row: rows may overlap.
    There,
}

/// For every row: `c = Σ a b` over `lines` stretches of `a` and as many rows of `b`.
#[derive(Debug)]
pub(crate) struct Product<'a> {
    pub(crate) samples: usize,
    /// Rows per sample.
    pub(crate) rows: usize,
    pub(crate) a: &'a [f32],
    pub(crate) a_at: Layout<'a>,
    /// The number of stretches of a row of `a`,
    pub(crate) lines: usize,
    /// the distance between them,
    pub(crate) line: usize,
    /// and their length.
    pub(crate) length: usize,
    pub(crate) b: &'a [f32],
    /// From one row of `b` to the next.
    pub(crate) b_row: usize,
    pub(crate) start: Start<'a>,
    pub(crate) c: &'a mut [f32],
    pub(crate) c_at: Layout<'a>,
    pub(crate) columns: usize,
}

/// `c += Σ aᵀ b`, summed over all rows of all samples: the gradient with respect to weights.
#[derive(Debug)]
pub(crate) struct Outer<'a> {
    pub(crate) samples: usize,
    /// Rows per sample.
    pub(crate) rows: usize,
    pub(crate) a: &'a [f32],
    pub(crate) a_at: Layout<'a>,
    /// The length of a row of `a`: the number of rows of `c`.
    pub(crate) height: usize,
    pub(crate) b: &'a [f32],
    pub(crate) b_at: Layout<'a>,
    pub(crate) c: &'a mut [f32],
    /// From one row of `c` to the next.
    pub(crate) c_row: usize,
    pub(crate) columns: usize,
}

/// Adds every row of `rows` to `sum`.
#[derive(Debug)]
pub(crate) struct SumRows<'a> {
    pub(crate) rows: &'a [f32],
    pub(crate) sum: &'a mut [f32],
}

impl<'a> Product<'a> {
    /// `a b` for matrices stored row by row, `a` of `m` × `k` and `b` of `k` × `n`.
    pub(crate) fn matrices(
        a: &'a [f32],
        b: &'a [f32],
        start: Start<'a>,
        c: &'a mut [f32],
        [m, k, n]: [usize; 3],
    ) -> Self {
        Self {
            samples: 1,
            rows: m,
            a,
            a_at: Layout::rows(m, k),
            lines: 1,
            line: 0,
            length: k,
            b,
            b_row: n,
            start,
            c,
            c_at: Layout::rows(m, n),
            columns: n,
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const ROWS: usize, const V: usize, const WHOLE: bool>(
        &self,
        simd: S,
        strip: Strip<V, WHOLE>,
        sample: usize,
        row: usize,
        start: [S::f32s; V],
    ) -> [[S::f32s; V]; ROWS] {
        let mut sums = [start; ROWS];
        // Loops instead of `array::from_fn`, which is not always inlined: the sums would leave their registers for its call.
        let mut from = [0; ROWS];
        for (of, from) in from.iter_mut().enumerate() {
            *from = self.a_at.at(sample, row + of);
        }
        for line in 0..self.lines {
            let mut a: [&[f32]; ROWS] = [&[]; ROWS];
            for (a, from) in a.iter_mut().zip(from) {
                *a = &self.a[from + line * self.line..][..self.length];
            }
            let b = &self.b[line * self.length * self.b_row..];
            match self.length {
                // A stretch of the paper's image is so short that its loop takes as long as its sums.
                6 => self.stretch(simd, strip, &mut sums, a, b, 6),
                any => self.stretch(simd, strip, &mut sums, a, b, any),
            }
        }
        sums
    }

    #[inline(always)]
    fn stretch<S: Simd, const ROWS: usize, const V: usize, const WHOLE: bool>(
        &self,
        simd: S,
        strip: Strip<V, WHOLE>,
        sums: &mut [[S::f32s; V]; ROWS],
        a: [&[f32]; ROWS],
        b: &[f32],
        length: usize,
    ) {
        for k in 0..length {
            let b = strip.load(simd, &b[k * self.b_row..]);
            for (sums, a) in sums.iter_mut().zip(a) {
                let a = simd.splat_f32s(a[k]);
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum = simd.mul_add_f32s(a, b, *sum);
                }
            }
        }
    }

    #[inline(always)]
    fn store<S: Simd, const ROWS: usize, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
        sample: usize,
        row: usize,
        sums: [[S::f32s; V]; ROWS],
    ) {
        let add = matches!(self.start, Start::There);
        for (of, sums) in sums.into_iter().enumerate() {
            let c = &mut self.c[self.c_at.at(sample, row + of)..];
            if add {
                strip.add(simd, c, sums);
            } else {
                strip.store(simd, c, sums);
            }
        }
    }
}

impl Strips for Product<'_> {
    fn columns(&self) -> usize {
        self.columns
    }

    #[inline(always)]
    fn strip<S: Simd, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
    ) {
        self.divide(simd, strip, self.rows);
    }
}

impl Tiles for Product<'_> {
    #[inline(always)]
    fn tiles<S: Simd, const ROWS: usize, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
        rows: Range<usize>,
    ) {
        let start = match self.start {
            Start::Bias(bias) => strip.load(simd, bias),
            _ => [simd.splat_f32s(0.0); V],
        };
        for sample in 0..self.samples {
            for row in rows.clone().step_by(ROWS) {
                let sums = self.tile::<S, ROWS, V, WHOLE>(simd, strip, sample, row, start);
                self.store(simd, strip, sample, row, sums);
            }
        }
    }
}

impl<'a> Outer<'a> {
    /// `c += aᵀ b` for matrices stored row by row, `a` of `k` × `m` and `b` of `k` × `n`.
    pub(crate) fn matrices(
        a: &'a [f32],
        b: &'a [f32],
        c: &'a mut [f32],
        [m, k, n]: [usize; 3],
    ) -> Self {
        Self {
            samples: 1,
            rows: k,
            a,
            a_at: Layout::rows(k, m),
            height: m,
            b,
            b_at: Layout::rows(k, n),
            c,
            c_row: n,
            columns: n,
        }
    }
}

impl Tiles for Outer<'_> {
    #[inline(always)]
    fn tiles<S: Simd, const ROWS: usize, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
        rows: Range<usize>,
    ) {
        for from in rows.step_by(ROWS) {
            let mut sums = [[simd.splat_f32s(0.0); V]; ROWS];
            for (of, sums) in sums.iter_mut().enumerate() {
                *sums = strip.load(simd, &self.c[(from + of) * self.c_row..]);
            }
            for sample in 0..self.samples {
                for row in 0..self.rows {
                    let a = &self.a[self.a_at.at(sample, row) + from..][..ROWS];
                    let b = strip.load(simd, &self.b[self.b_at.at(sample, row)..]);
                    for (sums, a) in sums.iter_mut().zip(a) {
                        let a = simd.splat_f32s(*a);
                        for (sum, b) in sums.iter_mut().zip(b) {
                            *sum = simd.mul_add_f32s(a, b, *sum);
                        }
                    }
                }
            }
            for (of, sums) in sums.into_iter().enumerate() {
                strip.store(simd, &mut self.c[(from + of) * self.c_row..], sums);
            }
        }
    }
}

impl Strips for Outer<'_> {
    fn columns(&self) -> usize {
        self.columns
    }

    #[inline(always)]
    fn strip<S: Simd, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
    ) {
        self.divide(simd, strip, self.height);
    }
}

impl Strips for SumRows<'_> {
    fn columns(&self) -> usize {
        self.sum.len()
    }

    #[inline(always)]
    fn strip<S: Simd, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
    ) {
        // Several sums side by side: one would wait for itself at every row.
        let mut sums = [[simd.splat_f32s(0.0); V]; SUMS];
        sums[0] = strip.load(simd, self.sum);
        let width = self.sum.len();
        for rows in self.rows.chunks(SUMS * width) {
            for (sums, row) in sums.iter_mut().zip(rows.chunks_exact(width)) {
                for (sum, x) in sums.iter_mut().zip(strip.load(simd, row)) {
                    *sum = simd.add_f32s(*sum, x);
                }
            }
        }
        let mut total = sums[0];
        for sums in &sums[1..] {
            for (total, sum) in total.iter_mut().zip(sums) {
                *total = simd.add_f32s(*total, *sum);
            }
        }
        strip.store(simd, self.sum, total);
    }
}

#[cfg(test)]
mod tests {
    use super::super::strip::Run;
    use super::super::vector::ARCH;
    use super::*;

    fn numbers(count: usize, step: usize) -> Vec<f32> {
        let number = |place| ((place * step) % 17) as f32 - 8.0;
        (0..count).map(number).collect()
    }

    /// The same bits from vectors of every width, down to single numbers.
    #[test]
    fn the_width_of_vectors_does_not_show() {
        let fractions = |count, step| -> Vec<f32> {
            let numbers = numbers(count, step).into_iter();
            numbers.map(|x: f32| (x * 0.37).sin()).collect()
        };
        let length = 9;
        let sizes = [7, 16, 25].map(|rows| [5, 16, 27, 48].map(|columns| (rows, columns)));
        for (rows, columns) in sizes.into_iter().flatten() {
            let (a, b) = (fractions(rows * length, 7), fractions(length * columns, 5));
            let run = |on: &dyn Fn(Run<Product<'_>>)| {
                let mut c = vec![0.0; rows * columns];
                let sizes = [rows, length, columns];
                on(Run(Product::matrices(
                    &a,
                    &b,
                    Start::Nothing,
                    &mut c,
                    sizes,
                )));
                c
            };
            let widest = run(&|product| ARCH.dispatch(product));
            let single = run(&|product| pulp::Scalar::new().vectorize(product));
            assert_eq!(widest, single, "{columns}");
            #[cfg(target_arch = "x86_64")]
            if let Some(narrower) = pulp::x86::V3::try_new() {
                assert_eq!(widest, run(&|product| Simd::vectorize(narrower, product)));
            }
        }
    }

    /// Whole numbers: all sums are exact. Widths around those of vectors, heights around those of tiles.
    #[test]
    fn products_agree_with_three_loops() {
        for columns in [1, 3, 7, 8, 15, 16, 17, 32, 33, 40, 64] {
            for (rows, length) in [
                (1, 1),
                (2, 6),
                (4, 5),
                (5, 3),
                (6, 6),
                (7, 2),
                (8, 9),
                (16, 4),
                (25, 6),
            ] {
                let (a, b) = (numbers(2 * rows * length, 7), numbers(length * columns, 5));
                let bias = numbers(columns, 3);
                let mut c = vec![9.0; 2 * rows * columns];
                Product {
                    samples: 2,
                    rows,
                    a: &a,
                    a_at: Layout::rows(rows, length),
                    lines: 1,
                    line: 0,
                    length,
                    b: &b,
                    b_row: columns,
                    start: Start::Bias(&bias),
                    c: &mut c,
                    c_at: Layout::rows(rows, columns),
                    columns,
                }
                .run();
                for (place, found) in c.iter().enumerate() {
                    let (row, column) = (place / columns, place % columns);
                    let term = |k| a[row * length + k] * b[k * columns + column];
                    let expected = bias[column] + (0..length).map(term).sum::<f32>();
                    assert_eq!(*found, expected, "{rows} {length} {columns}");
                }
                // The same numbers as a sum over rows: aᵀ c, on top of ones.
                let mut d = vec![1.0; length * columns];
                Outer {
                    samples: 2,
                    rows,
                    a: &a,
                    a_at: Layout::rows(rows, length),
                    height: length,
                    b: &c,
                    b_at: Layout::rows(rows, columns),
                    c: &mut d,
                    c_row: columns,
                    columns,
                }
                .run();
                for (place, found) in d.iter().enumerate() {
                    let (k, column) = (place / columns, place % columns);
                    let term = |row| a[row * length + k] * c[row * columns + column];
                    let expected = 1.0 + (0..2 * rows).map(term).sum::<f32>();
                    assert_eq!(*found, expected, "{rows} {length} {columns}");
                }
                let mut sum = vec![2.0; columns];
                SumRows {
                    rows: &c,
                    sum: &mut sum,
                }
                .run();
                for (column, found) in sum.iter().enumerate() {
                    let terms = c.iter().skip(column).step_by(columns);
                    assert_eq!(*found, 2.0 + terms.sum::<f32>());
                }
            }
        }
    }
}
