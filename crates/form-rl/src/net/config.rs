//! What a network looks like, as people write it down, and the layers that come of it.
//!
//! ```json
//! {
//!   "image": {"shape": [13, 13, 3], "layers": [
//!     {"layer": "conv", "filters": 16, "kernel": [2, 2]}, {"layer": "max-pool", "window": [2, 2]}, {"layer": "tanh"}]},
//!   "vectors": [{"name": "indicators", "size": 4, "layers": [{"layer": "dense", "units": 64}, {"layer": "tanh"}]}],
//!   "trunk": [{"layer": "dense", "units": 64}, {"layer": "tanh"}],
//!   "actions": 7
//! }
//! ```
//!
//! An image is bytes, a vector numbers; either is normalised if it says `"normalise": true`. Image and vectors go through their own layers, are concatenated, and go through the trunk, on which an actor (one number
//! an action) and a critic (one number) stand.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::activation::Activation;
use super::conv::Conv;
use super::dense::Dense;
use super::initial::Initial;
use super::layer::{Layer, MOST_NUMBERS, Shape, limit};
use super::lstm::Lstm;
use super::pool::MaxPool;
use super::relu::Relu;
use super::tanh::Tanh;
use crate::{Error, Result};

/// The most rows or columns of an image.
const LONGEST_SIDE: usize = 1 << 12;

/// A network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// What is seen as an image, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageConfig>,
    /// What else is seen, each with layers of its own.
    #[serde(default)]
    pub vectors: Vec<VectorConfig>,
    /// The layers after the concatenation.
    #[serde(default)]
    pub trunk: Vec<LayerConfig>,
    /// How many actions there are to choose from.
    pub actions: usize,
    /// The actor's initial weights, if uniform, are multiplied by this. Small: the first policy is near uniform.
    #[serde(default = "one")]
    pub actor_gain: f32,
    /// How the first weights are drawn.
    #[serde(default, skip_serializing_if = "Initial::is_default")]
    pub initial: Initial,
}

fn one() -> f32 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The part of a network that sees an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageConfig {
    /// Rows, columns and channels; in memory the channel varies fastest.
    pub shape: [usize; 3],
    /// Whether its bytes are normalised, channel by channel, by the statistics of those seen so far.
    #[serde(default, skip_serializing_if = "is_false")]
    pub normalise: bool,
    /// The layers it goes through.
    pub layers: Vec<LayerConfig>,
}

/// The part of a network that sees a vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorConfig {
    /// What it is; part of the names of the weights.
    pub name: String,
    /// How many numbers it has.
    pub size: usize,
    /// Whether its numbers are normalised, one by one, by the statistics of those seen so far.
    #[serde(default, skip_serializing_if = "is_false")]
    pub normalise: bool,
    /// The layers it goes through.
    pub layers: Vec<LayerConfig>,
}

/// A layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "layer", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum LayerConfig {
    /// Fully connected.
    Dense {
        /// The number of outputs.
        units: usize,
    },
    /// A convolution without padding.
    Conv {
        /// The number of channels after it.
        filters: usize,
        /// Rows and columns of the kernel.
        kernel: [usize; 2],
        /// How far the kernel moves.
        #[serde(default = "stride")]
        stride: usize,
    },
    /// The greatest number under a window. Before a tanh or relu it gives the same as after it, for less work.
    MaxPool {
        /// Rows and columns of the window.
        window: [usize; 2],
        /// How far the window moves: 2 unless said otherwise.
        #[serde(default = "pool_stride")]
        stride: usize,
    },
    /// The hyperbolic tangent.
    Tanh,
    /// The rectifier.
    Relu,
    /// Long short-term memory; once, in the trunk.
    Lstm {
        /// The number of outputs.
        units: usize,
    },
}

fn stride() -> usize {
    1
}

fn pool_stride() -> usize {
    2
}

impl LayerConfig {
    /// The layer for such an input, or why there is none.
    pub(crate) fn build(&self, input: Shape) -> Result<Arc<dyn Layer>, String> {
        Ok(match *self {
            Self::Dense { units } => Arc::new(Dense::new(input, units)?),
            Self::Conv {
                filters,
                kernel,
                stride,
            } => Arc::new(Conv::new(input, filters, kernel, stride)?),
            Self::MaxPool { window, stride } => Arc::new(MaxPool::new(input, window, stride)?),
            Self::Tanh => Arc::new(Activation::<Tanh>::new(input)),
            Self::Relu => Arc::new(Activation::<Relu>::new(input)),
            Self::Lstm { units } => Arc::new(Lstm::new(input, units)?),
        })
    }

    /// As it is called in the configuration.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Dense { .. } => "dense",
            Self::Conv { .. } => "conv",
            Self::MaxPool { .. } => "max-pool",
            Self::Tanh => "tanh",
            Self::Relu => "relu",
            Self::Lstm { .. } => "lstm",
        }
    }
}

impl NetworkConfig {
    /// The network of Table 1: convolutions with 16, 32 and 32 filters of 2×2, max-pooling after the first, one layer of 64
    /// for every vector, two layers of 64 on top, tanh throughout.
    pub fn paper(image: [usize; 3], vectors: &[(&str, usize)], actions: usize) -> Self {
        let conv = |filters| LayerConfig::Conv {
            filters,
            kernel: [2, 2],
            stride: 1,
        };
        let pool = LayerConfig::MaxPool {
            window: [2, 2],
            stride: 2,
        };
        let (dense, tanh) = (LayerConfig::Dense { units: 64 }, LayerConfig::Tanh);
        let layers = [
            conv(16),
            pool,
            tanh.clone(),
            conv(32),
            tanh.clone(),
            conv(32),
            tanh.clone(),
        ];
        let vector = |&(name, size): &(&str, usize)| VectorConfig {
            name: name.to_owned(),
            size,
            normalise: false,
            layers: vec![dense.clone(), tanh.clone()],
        };
        Self {
            image: Some(ImageConfig {
                shape: image,
                normalise: false,
                layers: layers.into(),
            }),
            vectors: vectors.iter().map(vector).collect(),
            trunk: vec![dense.clone(), tanh.clone(), dense.clone(), tanh.clone()],
            actions,
            actor_gain: 1.0,
            initial: Initial::Uniform,
        }
    }

    /// The same with the memory of Table 2 on top of the trunk: an LSTM of 256 units.
    #[must_use]
    pub fn recurrent(mut self) -> Self {
        self.trunk.push(LayerConfig::Lstm { units: 256 });
        self
    }

    /// The branches in the order in which an observation has them: name, shape and layers.
    pub(crate) fn branches(&self) -> Result<Vec<(String, Shape, &[LayerConfig])>> {
        let refuse = |layer: &str, problem: &str| Error::Layer {
            layer: layer.to_owned(),
            problem: problem.to_owned(),
        };
        let mut branches = Vec::new();
        if let Some(image) = &self.image {
            let sides = &image.shape[..2];
            let long = sides.iter().find(|side| **side > LONGEST_SIDE);
            if let Some(long) = long {
                let problem = format!("a side of {long}: more than {LONGEST_SIDE}");
                return Err(refuse("image", &problem));
            }
            limit("numbers", &image.shape, MOST_NUMBERS)
                .map_err(|problem| refuse("image", &problem))?;
            let shape = Shape::Image(image.shape);
            branches.push(("image".to_owned(), shape, image.layers.as_slice()));
        }
        for vector in &self.vectors {
            limit("numbers", &[vector.size], MOST_NUMBERS)
                .map_err(|problem| refuse(&vector.name, &problem))?;
            let shape = Shape::Flat(vector.size);
            branches.push((vector.name.clone(), shape, vector.layers.as_slice()));
        }
        if branches.is_empty() {
            return Err(refuse(
                "network",
                "it has neither an image nor a vector to see",
            ));
        }
        for (place, (name, shape, layers)) in branches.iter().enumerate() {
            if ["trunk", "actor", "critic", "normalisation", ""].contains(&name.as_str())
                || name.contains('.')
            {
                return Err(refuse(name, "not a name for a vector"));
            }
            if branches[..place].iter().any(|(other, ..)| other == name) {
                return Err(refuse(name, "two inputs of the same name"));
            }
            if shape.size() == 0 {
                return Err(refuse(name, "an input without numbers"));
            }
            if layers.iter().any(|layer| layer.name() == "lstm") {
                return Err(refuse(name, "memory (lstm) belongs into the trunk"));
            }
        }
        let memories = self.trunk.iter().filter(|layer| layer.name() == "lstm");
        if memories.count() > 1 {
            return Err(refuse("trunk", "more than one lstm"));
        }
        Ok(branches)
    }
}
