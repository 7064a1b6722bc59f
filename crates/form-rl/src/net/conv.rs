//! Convolution without padding, channels last (Table 1 of the paper: 16, 32 and 32 filters of 2×2, stride 1).
//!
//! The patches under the kernel are written out as rows of a matrix, so that the convolution is one product. A patch's row
//! runs over kernel rows, kernel columns and channels; with channels last, each of its kernel rows is one stretch of memory.

use super::layer::{Backward, Forward, Layer, Parameter, Shape};
use super::matmul::{add_bias, add_rows, add_transposed_times, times, times_transposed};
use super::vector::vectorised;

/// A bank of filters moved over an image.
#[derive(Debug)]
pub(crate) struct Conv {
    input: [usize; 3],
    output: [usize; 3],
    kernel: [usize; 2],
    stride: usize,
}

/// How often a window fits: the height and width after a convolution or pooling.
pub(crate) fn windows(
    input: Shape,
    [kernel_height, kernel_width]: [usize; 2],
    stride: usize,
) -> Result<([usize; 3], [usize; 2]), String> {
    let Shape::Image([height, width, channels]) = input else {
        return Err("it needs an image, and here comes a flat vector".to_owned());
    };
    if kernel_height == 0 || kernel_width == 0 || stride == 0 {
        return Err("kernel and stride must be at least 1".to_owned());
    }
    if kernel_height > height || kernel_width > width {
        return Err(format!(
            "a kernel of {kernel_height}x{kernel_width} does not fit into an image of {height}x{width}"
        ));
    }
    let fit = |size: usize, kernel: usize| (size - kernel) / stride + 1;
    let fits = [fit(height, kernel_height), fit(width, kernel_width)];
    Ok(([height, width, channels], fits))
}

impl Conv {
    pub(crate) fn new(
        input: Shape,
        filters: usize,
        kernel: [usize; 2],
        stride: usize,
    ) -> Result<Self, String> {
        if filters == 0 {
            return Err("a convolution needs at least one filter".to_owned());
        }
        let (input, [height, width]) = windows(input, kernel, stride)?;
        let output = [height, width, filters];
        Ok(Self {
            input,
            output,
            kernel,
            stride,
        })
    }

    /// The length of a patch's row.
    fn patch(&self) -> usize {
        self.kernel[0] * self.kernel[1] * self.input[2]
    }

    fn patches(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Writes the patches of all samples out.
    fn unfold(&self, input: &[f32], patches: &mut [f32]) {
        // The kernel's rows are short: a copy of known length is several times as fast as one of any length.
        match self.kernel[1] * self.input[2] {
            6 => self.unfold_by(Fixed::<6>, input, patches),
            32 => self.unfold_by(Fixed::<32>, input, patches),
            64 => self.unfold_by(Fixed::<64>, input, patches),
            any => self.unfold_by(Any(any), input, patches),
        }
    }

    #[inline(always)]
    fn unfold_by(&self, stretch: impl Stretch, input: &[f32], patches: &mut [f32]) {
        vectorised(
            #[inline(always)]
            || {
                let length = stretch.length();
                let [height, width, channels] = self.input;
                let mut rows = patches.chunks_exact_mut(length);
                for sample in input.chunks_exact(height * width * channels) {
                    for y in 0..self.output[0] {
                        for x in 0..self.output[1] {
                            let corner = (y * width + x) * self.stride * channels;
                            for (line, row) in rows.by_ref().take(self.kernel[0]).enumerate() {
                                let from = corner + line * width * channels;
                                stretch.copy(&sample[from..from + length], row);
                            }
                        }
                    }
                }
            },
        );
    }

    /// Adds the gradients of all patches up where they came from.
    fn fold(&self, d_patches: &[f32], d_input: &mut [f32]) {
        match self.kernel[1] * self.input[2] {
            32 => self.fold_by(Fixed::<32>, d_patches, d_input),
            64 => self.fold_by(Fixed::<64>, d_patches, d_input),
            any => self.fold_by(Any(any), d_patches, d_input),
        }
    }

    #[inline(always)]
    fn fold_by(&self, stretch: impl Stretch, d_patches: &[f32], d_input: &mut [f32]) {
        vectorised(
            #[inline(always)]
            || {
                let length = stretch.length();
                let [height, width, channels] = self.input;
                let mut rows = d_patches.chunks_exact(length);
                for sample in d_input.chunks_exact_mut(height * width * channels) {
                    sample.fill(0.0);
                    for y in 0..self.output[0] {
                        for x in 0..self.output[1] {
                            let corner = (y * width + x) * self.stride * channels;
                            for (line, row) in rows.by_ref().take(self.kernel[0]).enumerate() {
                                let to = corner + line * width * channels;
                                stretch.add(row, &mut sample[to..to + length]);
                            }
                        }
                    }
                }
            },
        );
    }
}

/// One row of the kernel, whose length the compiler may or may not know.
trait Stretch: Copy {
    fn length(self) -> usize;

    #[inline(always)]
    fn copy(self, from: &[f32], to: &mut [f32]) {
        to.copy_from_slice(from);
    }

    #[inline(always)]
    fn add(self, from: &[f32], to: &mut [f32]) {
        for (to, from) in to.iter_mut().zip(from) {
            *to += from;
        }
    }
}

#[derive(Clone, Copy)]
struct Fixed<const N: usize>;

#[derive(Clone, Copy)]
struct Any(usize);

impl<const N: usize> Stretch for Fixed<N> {
    #[inline(always)]
    fn length(self) -> usize {
        N
    }
}

impl Stretch for Any {
    #[inline(always)]
    fn length(self) -> usize {
        self.0
    }
}

impl Layer for Conv {
    fn output(&self) -> Shape {
        Shape::Image(self.output)
    }

    fn parameters(&self) -> Vec<Parameter> {
        let [height, width] = self.kernel;
        let [.., channels] = self.input;
        let [.., filters] = self.output;
        let shape = [filters, height, width, channels];
        vec![
            Parameter::new("weight", &shape, self.patch()),
            Parameter::new("bias", &[filters], self.patch()),
        ]
    }

    /// The patches: the gradient of the weights needs them again.
    fn kept(&self, sequences: usize, steps: usize) -> usize {
        sequences * steps * self.patches() * self.patch()
    }

    fn forward(&self, pass: Forward<'_>) {
        let [.., filters] = self.output;
        self.unfold(pass.input, pass.kept);
        let (weight, bias) = pass.weights.split_at(filters * self.patch());
        let sizes = [pass.rows.count() * self.patches(), self.patch(), filters];
        times_transposed(pass.kept, weight, pass.output, sizes);
        add_bias(bias, pass.output);
    }

    fn backward(&self, pass: Backward<'_>) {
        let [.., filters] = self.output;
        let rows = pass.rows.count() * self.patches();
        let split = filters * self.patch();
        let (d_weight, d_bias) = pass.gradient.split_at_mut(split);
        let sizes = [filters, rows, self.patch()];
        add_transposed_times(pass.d_output, pass.kept, d_weight, sizes);
        add_rows(pass.d_output, d_bias);
        if let Some(d_input) = pass.d_input {
            // The patches have served: their room takes their gradients.
            let sizes = [rows, filters, self.patch()];
            times(pass.d_output, &pass.weights[..split], pass.kept, sizes);
            self.fold(pass.kept, d_input);
        }
    }
}
