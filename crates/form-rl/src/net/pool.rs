//! Max-pooling: the maximum of a window, per channel.
//!
//! The backward pass finds the maximum again by comparing with the output. Of equal numbers the first one, in reading order, gets the
//! gradient.

use pulp::Simd;

use super::conv::windows;
use super::layer::{Backward, Forward, Layer, Shape};
use super::strip::{Strip, Strips};

/// A window moved over an image.
#[derive(Debug)]
pub(crate) struct MaxPool {
    input: [usize; 3],
    output: [usize; 3],
    /// Where the windows' first pixels lie.
    corners: Vec<usize>,
    /// How far a window's pixels are from the first one.
    pixels: Vec<usize>,
    /// Whether the windows partition the image.
    tiles: bool,
}

impl MaxPool {
    pub(crate) fn new(input: Shape, window: [usize; 2], stride: usize) -> Result<Self, String> {
        let (input, [height, width]) = windows(input, window, stride)?;
        let [lines, columns] = window;
        let place = |y: usize, x: usize| (y * input[1] + x) * input[2];
        let places = |height, width, step: usize| -> Vec<usize> {
            let line = |y| (0..width).map(move |x| place(y * step, x * step));
            (0..height).flat_map(line).collect()
        };
        let covered = [height * stride, width * stride] == input[..2];
        Ok(Self {
            input,
            output: [height, width, input[2]],
            corners: places(height, width, stride),
            pixels: places(lines, columns, 1),
            tiles: covered && window == [stride; 2],
        })
    }
}

struct Pool<'a> {
    layer: &'a MaxPool,
    pass: Forward<'a>,
}

impl Strips for Pool<'_> {
    fn columns(&self) -> usize {
        self.layer.input[2]
    }

    #[inline(always)]
    fn strip<S: Simd, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
    ) {
        let MaxPool {
            input,
            output,
            corners,
            pixels,
            ..
        } = self.layer;
        let inputs = self.pass.input.numbers.chunks_exact(input.iter().product());
        let outputs = (self.pass.output).chunks_exact_mut(output.iter().product());
        for (input, outputs) in inputs.zip(outputs) {
            for (corner, output) in corners.iter().zip(outputs.chunks_exact_mut(output[2])) {
                let mut greatest = strip.load(simd, &input[*corner..]);
                for pixel in &pixels[1..] {
                    let numbers = strip.load(simd, &input[corner + pixel..]);
                    for (greatest, x) in greatest.iter_mut().zip(numbers) {
                        *greatest = simd.max_f32s(*greatest, x);
                    }
                }
                strip.store(simd, output, greatest);
            }
        }
    }
}

struct Unpool<'a> {
    layer: &'a MaxPool,
    input: &'a [f32],
    output: &'a [f32],
    d_output: &'a [f32],
    d_input: &'a mut [f32],
}

impl Strips for Unpool<'_> {
    fn columns(&self) -> usize {
        self.layer.input[2]
    }

    #[inline(always)]
    fn strip<S: Simd, const V: usize, const WHOLE: bool>(
        &mut self,
        simd: S,
        strip: Strip<V, WHOLE>,
    ) {
        let MaxPool { input, output, .. } = self.layer;
        let (size, channels) = (input.iter().product(), input[2]);
        let ins = (self.input.chunks_exact(size)).zip(self.d_input.chunks_exact_mut(size));
        let size = output.iter().product();
        let outs = (self.output.chunks_exact(size)).zip(self.d_output.chunks_exact(size));
        let zero = simd.splat_f32s(0.0);
        for ((input, d_input), (output, d_output)) in ins.zip(outs) {
            let outs = output.chunks_exact(channels);
            let outs = outs.zip(d_output.chunks_exact(channels));
            for (corner, (output, d_output)) in self.layer.corners.iter().zip(outs) {
                let y = strip.load(simd, output);
                let mut d_y = strip.load(simd, d_output);
                for pixel in &self.layer.pixels {
                    let pixel = corner + pixel;
                    let mut d_x = strip.load(simd, &input[pixel..]);
                    for ((x, y), d_y) in d_x.iter_mut().zip(y).zip(&mut d_y) {
                        // The winner takes the gradient away, so that an equal number after it finds none.
                        let won = simd.equal_f32s(*x, y);
                        *x = simd.select_f32s(won, *d_y, zero);
                        *d_y = simd.select_f32s(won, zero, *d_y);
                    }
                    if self.layer.tiles {
                        strip.store(simd, &mut d_input[pixel..], d_x);
                    } else {
                        strip.add(simd, &mut d_input[pixel..], d_x);
                    }
                }
            }
        }
    }
}

impl Layer for MaxPool {
    fn output(&self) -> Shape {
        Shape::Image(self.output)
    }

    fn forward(&self, pass: Forward<'_>) {
        Pool { layer: self, pass }.run();
    }

    fn backward(&self, pass: Backward<'_>) {
        let Some(d_input) = pass.d_input else {
            return;
        };
        if !self.tiles {
            d_input.fill(0.0);
        }
        Unpool {
            layer: self,
            input: pass.input.numbers,
            output: pass.output,
            d_output: pass.d_output,
            d_input,
        }
        .run();
    }
}
