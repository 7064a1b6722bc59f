//! Max-pooling: the greatest number under a window, channel by channel.
//!
//! The backward pass finds the winner again by comparing with the output. Of equal numbers the first one, in reading order,
//! gets the gradient.

use super::conv::windows;
use super::layer::{Backward, Forward, Layer, Shape};
use super::vector::vectorised;

/// A window moved over an image.
#[derive(Debug)]
pub(crate) struct MaxPool {
    input: [usize; 3],
    output: [usize; 3],
    window: [usize; 2],
    stride: usize,
}

impl MaxPool {
    pub(crate) fn new(input: Shape, window: [usize; 2], stride: usize) -> Result<Self, String> {
        let (input, [height, width]) = windows(input, window, stride)?;
        let output = [height, width, input[2]];
        Ok(Self {
            input,
            output,
            window,
            stride,
        })
    }

    /// Calls with the number of every window and the place of each pixel under it.
    #[inline(always)]
    fn each_pixel(&self, mut call: impl FnMut(usize, usize, bool)) {
        let [_, width, channels] = self.input;
        for y in 0..self.output[0] {
            for x in 0..self.output[1] {
                let to = (y * self.output[1] + x) * channels;
                for line in 0..self.window[0] {
                    for column in 0..self.window[1] {
                        let row = y * self.stride + line;
                        let from = (row * width + x * self.stride + column) * channels;
                        call(from, to, line + column == 0);
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
        vectorised(
            #[inline(always)]
            || {
                let [height, width, channels] = self.input;
                let inputs = pass.input.chunks_exact(height * width * channels);
                let outputs = (pass.output).chunks_exact_mut(self.output.iter().product());
                for (input, output) in inputs.zip(outputs) {
                    self.each_pixel(
                        #[inline(always)]
                        |from, to, first| {
                            let input = &input[from..from + channels];
                            let output = &mut output[to..to + channels];
                            if first {
                                output.copy_from_slice(input);
                            } else {
                                for (y, x) in output.iter_mut().zip(input) {
                                    *y = y.max(*x);
                                }
                            }
                        },
                    );
                }
            },
        );
    }

    fn backward(&self, pass: Backward<'_>) {
        let Some(d_input) = pass.d_input else {
            return;
        };
        vectorised(
            #[inline(always)]
            || {
                let [height, width, channels] = self.input;
                d_input.fill(0.0);
                let size = height * width * channels;
                let ins = (pass.input.chunks_exact(size)).zip(d_input.chunks_exact_mut(size));
                let size = self.output.iter().product();
                let outs =
                    (pass.output.chunks_exact(size)).zip(pass.d_output.chunks_exact_mut(size));
                for ((input, d_input), (output, d_output)) in ins.zip(outs) {
                    self.each_pixel(
                        #[inline(always)]
                        |from, to, _| {
                            let ins = input[from..from + channels].iter();
                            let ins = ins.zip(&mut d_input[from..from + channels]);
                            let outs = output[to..to + channels].iter();
                            let outs = outs.zip(&mut d_output[to..to + channels]);
                            for ((x, d_x), (y, d_y)) in ins.zip(outs) {
                                // The winner takes the gradient away, so that an equal number after it finds none. Products
                                // instead of branches: those would become masked stores, which are slow.
                                let won = if *x == *y { 1.0 } else { 0.0 };
                                *d_x += won * *d_y;
                                *d_y *= 1.0 - won;
                            }
                        },
                    );
                }
            },
        );
    }
}
