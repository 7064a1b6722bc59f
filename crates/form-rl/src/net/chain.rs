//! A sequence of layers, and the workspace of a block of samples.

use std::ops::Range;
use std::sync::Arc;

use super::aligned::Aligned;
use super::config::LayerConfig;
use super::layer::{Backward, Forward, Input, Layer, Parameter, Rows, Shape, Tensor};
use crate::{Error, Result};

/// A layer at its place in a network.
#[derive(Clone, Debug)]
struct Stage {
    layer: Arc<dyn Layer>,
    /// Its share of the network's weights.
    weights: Range<usize>,
    /// The size of a sample after it.
    size: usize,
}

/// A sequence of layers.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    stages: Vec<Stage>,
    input: Shape,
}

/// The outputs and kept numbers of every layer, for one block.
#[derive(Debug)]
pub(crate) struct Room {
    outputs: Vec<Aligned>,
    kept: Vec<Aligned>,
}

impl Chain {
    /// Checks that the layers fit together, and appends their tensors.
    pub(crate) fn new(
        name: &str,
        input: Shape,
        layers: &[LayerConfig],
        tensors: &mut Vec<Tensor>,
    ) -> Result<Self> {
        let mut chain = Self {
            stages: Vec::new(),
            input,
        };
        for (place, config) in layers.iter().enumerate() {
            let layer = config
                .build(chain.output())
                .map_err(|problem| Error::Layer {
                    layer: format!("{name}.{place} ({})", config.name()),
                    problem,
                })?;
            chain.push(&format!("{name}.{place}"), layer, tensors);
        }
        Ok(chain)
    }

    /// Appends a layer.
    pub(crate) fn push(&mut self, name: &str, layer: Arc<dyn Layer>, tensors: &mut Vec<Tensor>) {
        let first = tensors.last().map_or(0, |tensor| tensor.range.end);
        let mut end = first;
        for parameter in layer.parameters() {
            let range = end..end + parameter.size();
            end = range.end;
            let Parameter {
                name: part,
                shape,
                bound,
                gain,
            } = parameter;
            tensors.push(Tensor {
                name: format!("{name}.{part}"),
                shape,
                range,
                bound,
                gain,
            });
        }
        let size = layer.output().size();
        self.stages.push(Stage {
            layer,
            weights: first..end,
            size,
        });
    }

    pub(crate) fn input(&self) -> Shape {
        self.input
    }

    pub(crate) fn output(&self) -> Shape {
        self.stages
            .last()
            .map_or(self.input, |stage| stage.layer.output())
    }

    /// Whether the first layer accepts sparse images.
    pub(crate) fn takes_sparse(&self) -> bool {
        let first = self.stages.first();
        first.is_some_and(|stage| stage.layer.takes_sparse())
    }

    /// The size of the hidden state of its recurrent layer.
    pub(crate) fn state(&self) -> usize {
        self.stages.iter().map(|stage| stage.layer.state()).sum()
    }

    /// The multiplications of a forward pass per sample: every weight once per pixel of the output.
    pub(crate) fn multiplications(&self) -> u64 {
        let of = |stage: &Stage| {
            let places = match stage.layer.output() {
                Shape::Image([height, width, _]) => height * width,
                Shape::Flat(_) => 1,
            };
            (stage.weights.len() * places) as u64
        };
        self.stages.iter().map(of).sum()
    }

    /// The largest size of a sample between two layers.
    pub(crate) fn widest(&self) -> usize {
        let sizes = self.stages.iter().map(|stage| stage.size);
        sizes.max().unwrap_or(0).max(self.input.size())
    }

    pub(crate) fn room(&self, sequences: usize, steps: usize) -> Room {
        let output = |stage: &Stage| Aligned::zeros(sequences * steps * stage.size);
        let kept = |stage: &Stage| Aligned::zeros(stage.layer.kept(sequences, steps));
        Room {
            outputs: self.stages.iter().map(output).collect(),
            kept: self.stages.iter().map(kept).collect(),
        }
    }

    /// Arranges the weights of every layer for the forward pass.
    pub(crate) fn prepare(&self, weights: &[f32], prepared: &mut [f32]) {
        for stage in &self.stages {
            let range = stage.weights.clone();
            (stage.layer).prepare(&weights[range.clone()], &mut prepared[range]);
        }
    }

    pub(crate) fn forward(
        &self,
        rows: Rows<'_>,
        [weights, prepared]: [&[f32]; 2],
        input: Input<'_>,
        room: &mut Room,
        last_states: &mut [f32],
    ) {
        for (place, stage) in self.stages.iter().enumerate() {
            let (before, after) = room.outputs.split_at_mut(place);
            let before_size = place.checked_sub(1).map(|before| self.stages[before].size);
            let input = match (before.last(), before_size) {
                (Some(output), Some(size)) => Input::dense(&output[..rows.count() * size]),
                _ => input,
            };
            let kept = stage.layer.kept(rows.sequences, rows.steps);
            let state = stage.layer.state() * rows.sequences;
            stage.layer.forward(Forward {
                rows,
                weights: &weights[stage.weights.clone()],
                prepared: &prepared[stage.weights.clone()],
                input,
                output: &mut after[0][..rows.count() * stage.size],
                kept: &mut room.kept[place][..kept],
                last_states: &mut last_states[..state],
            });
        }
    }

    /// The output; the input if there are no layers.
    pub(crate) fn result<'a>(&self, rows: Rows<'_>, input: &'a [f32], room: &'a Room) -> &'a [f32] {
        match (room.outputs.last(), self.stages.last()) {
            (Some(output), Some(stage)) => &output[..rows.count() * stage.size],
            _ => input,
        }
    }

    /// Takes the gradient with respect to the output from `d[0]` and leaves that with respect to the input there, if wanted.
    /// Adds to the gradient with respect to the weights.
    #[expect(
        clippy::too_many_arguments,
        reason = "two passes that mirror each other, with plain slices"
    )]
    pub(crate) fn backward(
        &self,
        rows: Rows<'_>,
        weights: &[f32],
        input: Input<'_>,
        room: &mut Room,
        d: &mut [Aligned; 2],
        want_input: bool,
        gradient: &mut [f32],
    ) {
        for (place, stage) in self.stages.iter().enumerate().rev() {
            let (before, after) = room.outputs.split_at(place);
            let (input, input_size) = match before.last() {
                Some(output) => {
                    let size = self.stages[place - 1].size;
                    (Input::dense(&output[..rows.count() * size]), size)
                }
                None => (input, self.input.size()),
            };
            let [d_output, d_input] = d;
            let wanted = place > 0 || want_input;
            let kept = stage.layer.kept(rows.sequences, rows.steps);
            stage.layer.backward(Backward {
                rows,
                weights: &weights[stage.weights.clone()],
                input,
                output: &after[0][..rows.count() * stage.size],
                kept: &mut room.kept[place][..kept],
                d_output: &mut d_output[..rows.count() * stage.size],
                d_input: wanted.then(|| &mut d_input[..rows.count() * input_size]),
                gradient: &mut gradient[stage.weights.clone()],
            });
            d.swap(0, 1);
        }
    }
}
