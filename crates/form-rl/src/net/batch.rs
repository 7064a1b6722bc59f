//! The samples of a batch, the outputs of a network on it, and the losses whose gradients it is trained with.

use std::ops::AddAssign;

/// Samples for a network to evaluate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Batch<'a> {
    /// The data: the observations' images, concatenated, as bytes. Empty without images.
    pub images: &'a [u8],
    /// The data: the observations' vectors, concatenated. Empty without vectors.
    pub vectors: &'a [f32],
    /// The indices of the samples in the data; `None` for all in order.
    pub select: Option<&'a [usize]>,
    /// The samples form sequences of this length, sequence after sequence. 1 for feedforward networks.
    pub steps: usize,
    /// For recurrent networks, per entry of the data: whether an episode starts there.
    pub starts: &'a [bool],
    /// For recurrent networks, per sequence: its initial hidden state.
    pub states: &'a [f32],
}

impl<'a> Batch<'a> {
    /// All of these observations, for feedforward networks.
    pub fn all(images: &'a [u8], vectors: &'a [f32]) -> Self {
        Self {
            images,
            vectors,
            steps: 1,
            ..Self::default()
        }
    }

    /// A selection of these observations, for feedforward networks.
    pub fn some(images: &'a [u8], vectors: &'a [f32], select: &'a [usize]) -> Self {
        Self {
            select: Some(select),
            ..Self::all(images, vectors)
        }
    }

    pub(super) fn place(&self, sample: usize) -> usize {
        self.select.map_or(sample, |select| select[sample])
    }
}

/// The outputs of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    /// The actor's logits, one row per sample.
    pub logits: Vec<f32>,
    /// The critic's values, one per sample.
    pub values: Vec<f32>,
    /// The hidden state after every sequence.
    pub states: Vec<f32>,
}

/// The input of a loss: the outputs of a block of samples, and the buffers for the gradient with respect to them.
#[derive(Debug)]
pub struct LossInput<'a> {
    /// The samples' indices in the data.
    pub places: &'a [usize],
    /// The actor's logits, one row per sample.
    pub logits: &'a [f32],
    /// The critic's values.
    pub values: &'a [f32],
    /// To be overwritten with the gradient with respect to the logits.
    pub d_logits: &'a mut [f32],
    /// To be overwritten with the gradient with respect to the values.
    pub d_values: &'a mut [f32],
}

/// A loss to minimise: a sum over samples.
pub trait Loss: Sync {
    /// The loss and other statistics, summed over samples.
    type Sum: Default + AddAssign + Send;

    /// Returns the sum over a block, and writes the gradient of the loss.
    fn block(&self, input: LossInput<'_>) -> Self::Sum;
}
