//! Images of mostly zeros, and their convolution: one-hot planes have one or two ones per cell, and only those are added.
//!
//! The first convolution of an image that is not normalised sees the bytes that are not 0, as long as they are few; a block with more
//! of them is treated like any image. Both ways add the same numbers in the same order, and what is left out is zero: the
//! results are the same.

use pulp::Simd;

use super::strip::{Strip, Strips};

/// A block is sparse if at most one byte in four of each image is not 0: about where both ways take the same time.
const SHARE: usize = 4;

/// A byte that is not 0.
#[derive(Clone, Copy, Debug)]
struct Entry {
    cell: u32,
    channel: u32,
    value: f32,
}

/// The non-zero bytes of the images of a block.
#[derive(Debug)]
pub(crate) struct Sparse {
    channels: usize,
    /// The cell of every byte of an image: a division saved.
    cells: Vec<u32>,
    entries: Vec<Entry>,
    /// Where the entries of each image end.
    ends: Vec<usize>,
}

impl Sparse {
    pub(crate) fn new([height, width, channels]: [usize; 3]) -> Self {
        let cells = (0..height * width).flat_map(|cell| std::iter::repeat_n(cell as u32, channels));
        Self {
            channels,
            cells: cells.collect(),
            entries: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The bytes of an image.
    pub(crate) fn size(&self) -> usize {
        self.cells.len()
    }

    /// Reads the images of a block; `false` if they are not sparse.
    pub(crate) fn read<'a>(&mut self, images: impl Iterator<Item = &'a [u8]>) -> bool {
        self.entries.clear();
        self.ends.clear();
        for image in images {
            let before = self.entries.len();
            let (words, rest) = image.as_chunks::<8>();
            for (place, word) in words.iter().enumerate() {
                self.word(8 * place, u64::from_le_bytes(*word));
            }
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.word(8 * words.len(), u64::from_le_bytes(word));
            if SHARE * (self.entries.len() - before) > image.len() {
                return false;
            }
            self.ends.push(self.entries.len());
        }
        true
    }

    #[inline(always)]
    fn word(&mut self, place: usize, mut word: u64) {
        while word != 0 {
            let byte = word.trailing_zeros() / 8;
            let value = (word >> (8 * byte)) as u8;
            word &= !(0xff << (8 * byte));
            let place = place + byte as usize;
            let cell = self.cells[place];
            self.entries.push(Entry {
                cell,
                channel: (place - cell as usize * self.channels) as u32,
                value: f32::from(value),
            });
        }
    }

    fn images(&self) -> impl Iterator<Item = &[Entry]> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |end| &self.entries[std::mem::replace(&mut start, *end)..*end])
    }
}

/// A cell under the kernel: where the output begins that it counts for, and where the weights of its first channel.
#[derive(Clone, Copy, Debug)]
struct Touch {
    output: u32,
    weights: u32,
}

/// What each cell of an image counts for.
#[derive(Debug)]
pub(crate) struct Touches {
    touches: Vec<Touch>,
    /// Where the touches of each cell end.
    ends: Vec<u32>,
}

impl Touches {
    /// From the size of the image and of the output, the kernel and how far it moves.
    pub(crate) fn new(
        [height, width, channels]: [usize; 3],
        [rows, columns, filters]: [usize; 3],
        kernel: [usize; 2],
        stride: usize,
    ) -> Self {
        let (mut touches, mut ends) = (Vec::new(), Vec::new());
        // Along one axis: the windows that a place is under, and where in them.
        let under = |place: usize, windows: usize, kernel: usize| {
            let within = move |window: usize| place.checked_sub(window * stride);
            (0..windows).filter_map(move |window| {
                let within = within(window).filter(|within| *within < kernel)?;
                Some((window, within))
            })
        };
        for cell in 0..height * width {
            for (y, line) in under(cell / width, rows, kernel[0]) {
                for (x, column) in under(cell % width, columns, kernel[1]) {
                    touches.push(Touch {
                        output: ((y * columns + x) * filters) as u32,
                        weights: ((line * kernel[1] + column) * channels * filters) as u32,
                    });
                }
            }
            ends.push(touches.len() as u32);
        }
        Self { touches, ends }
    }

    #[inline(always)]
    fn of(&self, cell: u32) -> &[Touch] {
        let cell = cell as usize;
        let start = cell.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.touches[start as usize..self.ends[cell] as usize]
    }
}

/// The convolution of sparse images.
#[derive(Debug)]
pub(crate) struct Scatter<'a> {
    pub(crate) images: &'a Sparse,
    pub(crate) touches: &'a Touches,
    /// With the filter last.
    pub(crate) weights: &'a [f32],
    pub(crate) bias: &'a [f32],
    pub(crate) output: &'a mut [f32],
}

impl Strips for Scatter<'_> {
    fn columns(&self) -> usize {
        self.bias.len()
    }

    #[inline(always)]
    fn strip<S: Simd, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
    ) {
        let filters = self.bias.len();
        let bias = strip.load(simd, self.bias);
        for row in self.output.chunks_exact_mut(filters) {
            strip.store(simd, row, bias);
        }
        let size = self.output.len() / self.images.ends.len();
        let outputs = self.output.chunks_exact_mut(size);
        for (entries, output) in self.images.images().zip(outputs) {
            for entry in entries {
                let value = simd.splat_f32s(entry.value);
                let weights = &self.weights[entry.channel as usize * filters..];
                for touch in self.touches.of(entry.cell) {
                    let output = &mut output[touch.output as usize..];
                    let weights = strip.load(simd, &weights[touch.weights as usize..]);
                    let mut sums = strip.load(simd, output);
                    for (sum, weight) in sums.iter_mut().zip(weights) {
                        *sum = simd.mul_add_f32s(value, weight, *sum);
                    }
                    strip.store(simd, output, sums);
                }
            }
        }
    }
}

/// Its backward pass: adds to the gradient with respect to the weights, the filter last.
#[derive(Debug)]
pub(crate) struct Collect<'a> {
    pub(crate) images: &'a Sparse,
    pub(crate) touches: &'a Touches,
    pub(crate) filters: usize,
    pub(crate) d_output: &'a [f32],
    pub(crate) d_weights: &'a mut [f32],
}

impl Strips for Collect<'_> {
    fn columns(&self) -> usize {
        self.filters
    }

    #[inline(always)]
    fn strip<S: Simd, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
    ) {
        let size = self.d_output.len() / self.images.ends.len();
        let d_outputs = self.d_output.chunks_exact(size);
        for (entries, d_output) in self.images.images().zip(d_outputs) {
            for entry in entries {
                let value = simd.splat_f32s(entry.value);
                let d_weights = &mut self.d_weights[entry.channel as usize * self.filters..];
                for touch in self.touches.of(entry.cell) {
                    let d_output = &d_output[touch.output as usize..];
                    let d_weights = &mut d_weights[touch.weights as usize..];
                    let d_output = strip.load(simd, d_output);
                    let mut sums = strip.load(simd, d_weights);
                    for (sum, d) in sums.iter_mut().zip(d_output) {
                        *sum = simd.mul_add_f32s(value, d, *sum);
                    }
                    strip.store(simd, d_weights, sums);
                }
            }
        }
    }
}
