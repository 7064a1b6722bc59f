//! Strips of columns, one or two vector registers wide, for computations that treat all columns alike, and tiles of their rows.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::vector::ARCH;

/// Adjacent columns: `V` whole vectors of them, or a part of one.
#[derive(Clone, Copy)]
pub(crate) struct Strip<const V: usize, const WHOLE: bool> {
    from: usize,
    /// The number of columns of a part.
    part: usize,
}

impl<const V: usize, const WHOLE: bool> Strip<V, WHOLE> {
    #[inline(always)]
    pub(crate) fn load<S: Simd>(self, simd: S, row: &[f32]) -> [S::f32s; V] {
        if WHOLE {
            let (vectors, _) = S::as_simd_f32s(&row[self.from..self.from + V * S::F32_LANES]);
            let mut numbers = [simd.splat_f32s(0.0); V];
            numbers.copy_from_slice(vectors);
            numbers
        } else {
            [simd.partial_load_f32s(&row[self.from..self.from + self.part]); V]
        }
    }

    #[inline(always)]
    pub(crate) fn store<S: Simd>(self, simd: S, row: &mut [f32], numbers: [S::f32s; V]) {
        if WHOLE {
            let row = &mut row[self.from..self.from + V * S::F32_LANES];
            let (vectors, _) = S::as_mut_simd_f32s(row);
            vectors.copy_from_slice(&numbers);
        } else {
            let row = &mut row[self.from..self.from + self.part];
            simd.partial_store_f32s(row, numbers[0]);
        }
    }

    #[inline(always)]
    pub(crate) fn add<S: Simd>(self, simd: S, row: &mut [f32], numbers: [S::f32s; V]) {
        let mut there = self.load(simd, row);
        for (there, number) in there.iter_mut().zip(numbers) {
            *there = simd.add_f32s(*there, number);
        }
        self.store(simd, row, there);
    }
}

/// A computation on strips.
pub(crate) trait Strips: Sized {
    /// The number of columns.
    fn columns(&self) -> usize;

    /// One strip. To be inlined, see [`super::vector::vectorised`].
    fn strip<S: Simd, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
    );

    /// All strips, in the version for this processor.
    fn run(self) {
        ARCH.dispatch(Run(self));
    }
}

/// A strip whose rows are computed tile by tile: the sums of a few rows stay in registers.
pub(crate) trait Tiles {
    /// Some of the rows, in tiles of `ROWS`.
    fn tiles<S: Simd, const ROWS: usize, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
        rows: Range<usize>,
    );

    /// As few tiles as the registers allow, as even as possible: ten independent sums or more hide how long an addition takes.
    #[inline(always)]
    fn divide<S: Simd, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
        rows: usize,
    ) {
        let most = if S::REGISTER_COUNT >= 32 { 8 } else { 6 };
        let tiles = rows.div_ceil(most).max(1);
        let (small, large) = (rows / tiles, rows % tiles);
        let split = large * (small + 1);
        for (size, rows) in [(small + 1, 0..split), (small, split..rows)] {
            match size {
                8 => self.tiles::<S, 8, V, WHOLE>(simd, strip, rows),
                7 => self.tiles::<S, 7, V, WHOLE>(simd, strip, rows),
                6 => self.tiles::<S, 6, V, WHOLE>(simd, strip, rows),
                5 => self.tiles::<S, 5, V, WHOLE>(simd, strip, rows),
                4 => self.tiles::<S, 4, V, WHOLE>(simd, strip, rows),
                3 => self.tiles::<S, 3, V, WHOLE>(simd, strip, rows),
                2 => self.tiles::<S, 2, V, WHOLE>(simd, strip, rows),
                _ => self.tiles::<S, 1, V, WHOLE>(simd, strip, rows),
            }
        }
    }
}

pub(super) struct Run<T>(pub(super) T);

impl<T: Strips> WithSimd for Run<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (columns, lanes) = (self.0.columns(), S::F32_LANES);
        let mut from = 0;
        while from + 2 * lanes <= columns {
            (self.0).strip(simd, Strip::<2, true> { from, part: 0 });
            from += 2 * lanes;
        }
        if from + lanes <= columns {
            (self.0).strip(simd, Strip::<1, true> { from, part: 0 });
            from += lanes;
        }
        if from < columns {
            let part = columns - from;
            (self.0).strip(simd, Strip::<1, false> { from, part });
        }
    }
}
