//! Convolution without padding, channels last (Table 1 of the paper: 16, 32 and 32 filters of 2×2, stride 1).
//!
//! With channels last, each row of the kernel is one stretch of memory: a patch is a few stretches, and its sums are taken
//! where it lies.

use super::layer::{Backward, Forward, Layer, MOST_NUMBERS, MOST_WEIGHTS, Parameter, Shape, limit};
use super::sparse::{Collect, Scatter, Sparse, Touches};
use super::strip::Strips;
use super::tile::{Layout, Outer, Product, Start, SumRows};
use super::transpose::{add_transposed, transpose};

/// A bank of filters moved over an image.
#[derive(Debug)]
pub(crate) struct Conv {
    input: [usize; 3],
    output: [usize; 3],
    kernel: [usize; 2],
    /// Where the kernel's first corner comes to lie, for every output.
    corners: Vec<usize>,
    touches: Touches,
}

/// The height and width after a convolution or pooling.
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
    // The number of places that are looked up.
    let places = [fits[0], fits[1], kernel_height, kernel_width];
    limit("places under its windows", &places, MOST_NUMBERS)?;
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
        limit("numbers after it", &output, MOST_NUMBERS)?;
        let weights = [filters, kernel[0], kernel[1], input[2]];
        limit("weights", &weights, MOST_WEIGHTS)?;
        let corner = |y: usize, x: usize| (y * input[1] + x) * stride * input[2];
        let corners = (0..height).flat_map(|y| (0..width).map(move |x| corner(y, x)));
        Ok(Self {
            input,
            output,
            kernel,
            corners: corners.collect(),
            touches: Touches::new(input, output, kernel, stride),
        })
    }

    /// The length of a patch's row.
    fn patch(&self) -> usize {
        self.kernel[0] * self.kernel[1] * self.input[2]
    }

    /// From one row of the image to the next.
    fn line(&self) -> usize {
        self.input[1] * self.input[2]
    }

    /// The length of a kernel's row.
    fn stretch(&self) -> usize {
        self.kernel[1] * self.input[2]
    }

    /// Where the patches lie in the input.
    fn inputs(&self) -> Layout<'_> {
        Layout::places(self.input.iter().product(), &self.corners)
    }

    fn outputs(&self) -> Layout<'static> {
        Layout::rows(self.corners.len(), self.output[2])
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

    fn takes_sparse(&self) -> bool {
        true
    }

    /// A sum for every filter at once wants the weights with the filter last.
    fn prepare(&self, weights: &[f32], prepared: &mut [f32]) {
        let split = self.output[2] * self.patch();
        transpose(&weights[..split], self.patch(), &mut prepared[..split]);
    }

    /// The weights' gradient with the filter last.
    fn kept(&self, _sequences: usize, _steps: usize) -> usize {
        self.output[2] * self.patch()
    }

    fn forward(&self, pass: Forward<'_>) {
        let [.., filters] = self.output;
        let split = filters * self.patch();
        if let Some(images) = pass.input.sparse {
            let scatter = Scatter {
                images,
                touches: &self.touches,
                weights: &pass.prepared[..split],
                bias: &pass.weights[split..],
                output: pass.output,
            };
            return scatter.run();
        }
        Product {
            samples: pass.rows.count(),
            rows: self.corners.len(),
            a: pass.input.numbers,
            a_at: self.inputs(),
            lines: self.kernel[0],
            line: self.line(),
            length: self.stretch(),
            b: &pass.prepared[..split],
            b_row: filters,
            start: Start::Bias(&pass.weights[split..]),
            c: pass.output,
            c_at: self.outputs(),
            columns: filters,
        }
        .run();
    }

    fn backward(&self, pass: Backward<'_>) {
        let [.., filters] = self.output;
        let split = filters * self.patch();
        let (d_weight, d_bias) = pass.gradient.split_at_mut(split);
        let gradient = WeightGradient {
            layer: self,
            samples: pass.rows.count(),
            d_output: pass.d_output,
        };
        if pass.d_input.is_some() {
            gradient.channels_last(pass.input.numbers, d_weight);
        } else {
            // The first layer's image has few channels: there vectors are better filled with filters.
            pass.kept.fill(0.0);
            match pass.input.sparse {
                Some(images) => gradient.sparse(images, pass.kept),
                None => gradient.filters_last(pass.input.numbers, pass.kept),
            }
            add_transposed(pass.kept, filters, d_weight);
        }
        SumRows {
            rows: pass.d_output,
            sum: d_bias,
        }
        .run();
        let Some(d_input) = pass.d_input else {
            return;
        };
        d_input.fill(0.0);
        for line in 0..self.kernel[0] {
            Product {
                samples: pass.rows.count(),
                rows: self.corners.len(),
                a: pass.d_output,
                a_at: self.outputs(),
                lines: 1,
                line: 0,
                length: filters,
                b: &pass.weights[line * self.stretch()..split],
                b_row: self.patch(),
                start: Start::There,
                c: &mut d_input[line * self.line()..],
                c_at: self.inputs(),
                columns: self.stretch(),
            }
            .run();
        }
    }
}

/// The gradient with respect to the weights, in three ways.
struct WeightGradient<'a> {
    layer: &'a Conv,
    samples: usize,
    d_output: &'a [f32],
}

impl WeightGradient<'_> {
    fn channels_last(&self, input: &[f32], d_weight: &mut [f32]) {
        let layer = self.layer;
        for line in 0..layer.kernel[0] {
            Outer {
                samples: self.samples,
                rows: layer.corners.len(),
                a: self.d_output,
                a_at: layer.outputs(),
                height: layer.output[2],
                b: &input[line * layer.line()..],
                b_at: layer.inputs(),
                c: &mut d_weight[line * layer.stretch()..],
                c_row: layer.patch(),
                columns: layer.stretch(),
            }
            .run();
        }
    }

    fn filters_last(&self, input: &[f32], d_weight: &mut [f32]) {
        let (layer, filters) = (self.layer, self.layer.output[2]);
        for line in 0..layer.kernel[0] {
            Outer {
                samples: self.samples,
                rows: layer.corners.len(),
                a: &input[line * layer.line()..],
                a_at: layer.inputs(),
                height: layer.stretch(),
                b: self.d_output,
                b_at: layer.outputs(),
                c: &mut d_weight[line * layer.stretch() * filters..],
                c_row: filters,
                columns: filters,
            }
            .run();
        }
    }

    /// The filter is last here, too.
    fn sparse(&self, images: &Sparse, d_weights: &mut [f32]) {
        Collect {
            images,
            touches: &self.layer.touches,
            filters: self.layer.output[2],
            d_output: self.d_output,
            d_weights,
        }
        .run();
    }
}
