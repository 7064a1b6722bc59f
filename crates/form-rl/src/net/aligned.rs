//! Buffers that start at a cache line: a vector that straddles two lines takes twice as long to load.

use std::ops::{Deref, DerefMut};

/// The bytes of a cache line.
const LINE: usize = 64;

/// Spare numbers, so that a buffer has a start at a cache line.
const SPARE: usize = LINE / size_of::<f32>();

/// A buffer of fixed size.
#[derive(Debug)]
pub(crate) struct Aligned {
    numbers: Vec<f32>,
    start: usize,
}

impl Aligned {
    pub(crate) fn zeros(size: usize) -> Self {
        let numbers = vec![0.0_f32; size + SPARE];
        let start = numbers.as_ptr().align_offset(LINE).min(SPARE);
        Self { numbers, start }
    }
}

impl Deref for Aligned {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        let size = self.numbers.len() - SPARE;
        &self.numbers[self.start..][..size]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f32] {
        let size = self.numbers.len() - SPARE;
        &mut self.numbers[self.start..][..size]
    }
}

impl Clone for Aligned {
    /// The copy lies elsewhere, so it starts elsewhere.
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_aligned_too() {
        for size in [0, 1, 16, 1000] {
            let mut first = Aligned::zeros(size);
            first.fill(2.0);
            let second = first.clone();
            assert_eq!(*second, vec![2.0; size]);
            for buffer in [first, second] {
                assert_eq!(buffer.as_ptr().align_offset(LINE), 0);
            }
        }
    }
}
