//! The interface of a layer. A new layer is a new file that implements [`Layer`], a line in `mod.rs` and a variant in `config`.
//!
//! A layer processes a block of a few samples, as rows, in slices that the caller owns: its weights, its input and output, and what
//! it keeps for the backward pass. It has no state of its own.

use std::fmt::Debug;
use std::ops::Range;

use super::sparse::Sparse;

/// The maximum size of a sample between two layers, and the maximum number of weights of a network. Configurations come from files:
/// one that asks for more memory than a computer has must not abort the process.
pub(crate) const MOST_NUMBERS: usize = 1 << 23;
pub(crate) const MOST_WEIGHTS: usize = 1 << 28;

/// Rejects sizes whose product is above a maximum.
pub(crate) fn limit(what: &str, sizes: &[usize], most: usize) -> Result<(), String> {
    let product = (sizes.iter()).try_fold(1_usize, |product, size| product.checked_mul(*size));
    match product.is_some_and(|product| product <= most) {
        true => Ok(()),
        false => Err(format!("{what}: more than {most}")),
    }
}

/// The shape of one sample between two layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Rows, columns and channels; the channel varies fastest.
    Image([usize; 3]),
    /// Numbers in no particular arrangement.
    Flat(usize),
}

impl Shape {
    /// The size of a sample.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Image([height, width, channels]) => height * width * channels,
            Self::Flat(size) => size,
        }
    }
}

/// A tensor of weights of a layer.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// Its name within the layer.
    pub(crate) name: &'static str,
    pub(crate) shape: Vec<usize>,
    /// Uniform initial values are in ± this bound, as PyTorch's defaults are.
    pub(crate) bound: f32,
    /// Orthogonal initial values are multiplied by this.
    pub(crate) gain: f32,
}

impl Parameter {
    pub(crate) fn new(name: &'static str, shape: &[usize], fan_in: usize) -> Self {
        let shape = shape.to_vec();
        let bound = 1.0 / (fan_in as f32).sqrt();
        let gain = std::f32::consts::SQRT_2;
        Self {
            name,
            shape,
            bound,
            gain,
        }
    }

    pub(crate) fn with_gain(self, gain: f32) -> Self {
        Self { gain, ..self }
    }

    pub(crate) fn size(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A tensor of the network's weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    /// Its name in files, for instance `image.0.weight`.
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) range: Range<usize>,
    /// Uniform initial values are in ± this bound.
    pub(crate) bound: f32,
    /// Orthogonal initial values are multiplied by this.
    pub(crate) gain: f32,
}

/// How the rows of a block hang together: row `step * sequences + sequence`. Without recurrence there is one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) sequences: usize,
    pub(crate) steps: usize,
    /// Whether an episode starts at a row: the hidden state is reset before it. For recurrent layers only.
    pub(crate) starts: &'a [bool],
    /// The hidden state of every sequence before its first row.
    pub(crate) states: &'a [f32],
}

impl Rows<'_> {
    pub(crate) fn count(&self) -> usize {
        self.sequences * self.steps
    }
}

/// The input of a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    /// All numbers, row by row; of no meaning in a sparse block.
    pub(crate) numbers: &'a [f32],
    /// A sparse block of images. Only for the first layer of an image, if it [takes it](Layer::takes_sparse).
    pub(crate) sparse: Option<&'a Sparse>,
}

impl<'a> Input<'a> {
    pub(crate) fn dense(numbers: &'a [f32]) -> Self {
        Self {
            numbers,
            sparse: None,
        }
    }
}

/// The arguments of a forward pass.
pub(crate) struct Forward<'a> {
    pub(crate) rows: Rows<'a>,
    pub(crate) weights: &'a [f32],
    /// The weights as [`Layer::prepare`] arranged them.
    pub(crate) prepared: &'a [f32],
    pub(crate) input: Input<'a>,
    pub(crate) output: &'a mut [f32],
    /// Kept for the backward pass.
    pub(crate) kept: &'a mut [f32],
    /// The hidden state after the last row of every sequence, written by recurrent layers.
    pub(crate) last_states: &'a mut [f32],
}

/// The arguments of a backward pass.
pub(crate) struct Backward<'a> {
    pub(crate) rows: Rows<'a>,
    pub(crate) weights: &'a [f32],
    pub(crate) input: Input<'a>,
    pub(crate) output: &'a [f32],
    pub(crate) kept: &'a mut [f32],
    /// The gradient with respect to the output. The layer may overwrite it.
    pub(crate) d_output: &'a mut [f32],
    /// Overwritten with the gradient with respect to the input, if it is needed.
    pub(crate) d_input: Option<&'a mut [f32]>,
    /// The gradient with respect to the weights, which is added to.
    pub(crate) gradient: &'a mut [f32],
}

/// A layer: pure functions of their arguments.
pub(crate) trait Layer: Debug + Send + Sync {
    /// The shape of a sample after this layer.
    fn output(&self) -> Shape;

    /// Its tensors, in the order of its weights.
    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    /// The number of values it keeps for the backward pass.
    fn kept(&self, _sequences: usize, _steps: usize) -> usize {
        0
    }

    /// The size of its hidden state, for recurrent layers.
    fn state(&self) -> usize {
        0
    }

    /// Whether it accepts sparse images.
    fn takes_sparse(&self) -> bool {
        false
    }

    /// Arranges the weights for the forward pass, once for many blocks, in as much space as they have.
    fn prepare(&self, _weights: &[f32], _prepared: &mut [f32]) {}

    fn forward(&self, pass: Forward<'_>);

    fn backward(&self, pass: Backward<'_>);
}
