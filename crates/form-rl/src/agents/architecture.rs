//! The architecture of the agents' networks, for observations of any shape.

use serde::{Deserialize, Serialize};

use super::observation_encoder::ObservationEncoder;
use crate::{ImageConfig, Initial, LayerConfig, NetworkConfig, VectorConfig};

/// The architecture of policy networks. The defaults are those of Table 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Architecture {
    /// Filters of the convolutions, 2×2 each. Tables: 16, 32, 32.
    pub filters: Vec<usize>,
    /// The number of convolutions, from the first, that are followed by max-pooling of 2×2. Tables: 1.
    pub pools: usize,
    /// Units of the dense layer after each vector.
    pub vector_units: usize,
    /// Units of the dense layers of the trunk. Tables: 64, 64.
    pub hidden: Vec<usize>,
    /// The activation function. Tables: tanh.
    pub activation: Activation,
    /// Units of the LSTM after the trunk; 0 for a feedforward network. Table 2: 256.
    pub memory: usize,
    /// The length of the sequences for truncated backpropagation through time.
    pub sequence: usize,
    /// How weights are initialised.
    pub initial: Initial,
    /// Whether images and the world's vector are normalised to mean 0 and standard deviation 1, by running statistics.
    pub normalise: bool,
}

/// An activation function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// The hyperbolic tangent.
    Tanh,
    /// The rectified linear unit.
    Relu,
}

impl Default for Architecture {
    fn default() -> Self {
        Self {
            filters: vec![16, 32, 32],
            pools: 1,
            vector_units: 64,
            hidden: vec![64, 64],
            activation: Activation::Tanh,
            memory: 0,
            sequence: 32,
            initial: Initial::Uniform,
            normalise: false,
        }
    }
}

impl Architecture {
    /// The network of an agent with these observations and this number of actions.
    pub fn network(&self, encoder: &ObservationEncoder, actions: usize) -> NetworkConfig {
        let activation = match self.activation {
            Activation::Tanh => LayerConfig::Tanh,
            Activation::Relu => LayerConfig::Relu,
        };
        let dense = |units: &usize| [LayerConfig::Dense { units: *units }, activation.clone()];
        let mut image_layers = Vec::new();
        for (place, filters) in self.filters.iter().enumerate() {
            image_layers.push(LayerConfig::Conv {
                filters: *filters,
                kernel: [2, 2],
                stride: 1,
            });
            if place < self.pools {
                image_layers.push(LayerConfig::MaxPool {
                    window: [2, 2],
                    stride: 2,
                });
            }
            image_layers.push(activation.clone());
        }
        let mut trunk: Vec<LayerConfig> = self.hidden.iter().flat_map(dense).collect();
        if self.memory > 0 {
            trunk.push(LayerConfig::Lstm { units: self.memory });
        }
        NetworkConfig {
            image: encoder.image().map(|shape| ImageConfig {
                shape,
                layers: image_layers,
                normalise: self.normalise,
            }),
            vectors: (encoder.vectors().into_iter())
                .map(|(name, size)| VectorConfig {
                    name: name.to_owned(),
                    size,
                    layers: dense(&self.vector_units).into(),
                    // Indicators are 0 or 1 already.
                    normalise: self.normalise && name == "world",
                })
                .collect(),
            trunk,
            actions,
            actor_gain: 1.0,
            initial: self.initial,
        }
    }
}
