//! The configuration of a network, as JSON, and the construction of its layers.
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
//! An image is bytes, a vector numbers; either is normalised with `"normalise": true`. Image and vectors each have layers of their
//! own; their outputs are concatenated and go through the trunk. Its heads are the actor (one logit per action) and the critic (one
//! value).

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

/// The maximum number of rows or columns of an image.
const MAX_SIDE: usize = 1 << 12;

/// A network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// The image of an observation, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageConfig>,
    /// The vectors of an observation.
    #[serde(default)]
    pub vectors: Vec<VectorConfig>,
    /// The layers after the concatenation.
    #[serde(default)]
    pub trunk: Vec<LayerConfig>,
    /// The number of actions.
    pub actions: usize,
    /// The actor's initial weights, if uniform, are multiplied by this. Small: the first policy is near uniform.
    #[serde(default = "one")]
    pub actor_gain: f32,
    /// How weights are initialised.
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

/// The image branch of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageConfig {
    /// Rows, columns and channels; in memory the channel varies fastest.
    pub shape: [usize; 3],
    /// Whether its bytes are normalised per channel, by running statistics.
    #[serde(default, skip_serializing_if = "is_false")]
    pub normalise: bool,
    /// The layers.
    pub layers: Vec<LayerConfig>,
}

/// A vector branch of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorConfig {
    /// Its name, and the prefix of its tensors.
    pub name: String,
    /// The number of its entries.
    pub size: usize,
    /// Whether its entries are normalised, by running statistics.
    #[serde(default, skip_serializing_if = "is_false")]
    pub normalise: bool,
    /// The layers.
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
        /// The stride of the kernel.
        #[serde(default = "stride")]
        stride: usize,
    },
    /// Max-pooling. Before a tanh or ReLU it gives the same result as after it, with less work.
    MaxPool {
        /// Rows and columns of the window.
        window: [usize; 2],
        /// The stride of the window; 2 by default.
        #[serde(default = "pool_stride")]
        stride: usize,
    },
    /// The hyperbolic tangent.
    Tanh,
    /// The rectified linear unit.
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
    /// Builds the layer for an input of this shape.
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

    /// Its name in the configuration.
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

    /// Adds the LSTM of Table 2, of 256 units, after the trunk.
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
            let long = sides.iter().find(|side| **side > MAX_SIDE);
            if let Some(long) = long {
                let problem = format!("a side of {long}: more than {MAX_SIDE}");
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
