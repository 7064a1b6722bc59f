//! What agents' networks have in common, whatever each of them sees.

use serde::{Deserialize, Serialize};

use super::sight::Sight;
use crate::{ImageConfig, Initial, LayerConfig, NetworkConfig, VectorConfig};

/// How networks are built. The defaults are Table 1's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkStyle {
    /// Filters of the convolutions, 2×2 each. Tables: 16, 32, 32.
    pub filters: Vec<usize>,
    /// After how many of them the image is halved by max-pooling. Tables: after the first.
    pub pools: usize,
    /// Units of the layer that every vector goes through.
    pub vector_units: usize,
    /// Units of the layers on top. Tables: 64, 64.
    pub hidden: Vec<usize>,
    /// What stands between the layers. Tables: tanh.
    pub activation: ActivationStyle,
    /// Units of the memory on top of it all; 0 for none. Table 2: 256.
    pub memory: usize,
    /// The length of the sequences that memory is trained on.
    pub sequence: usize,
    /// How weights begin.
    pub initial: Initial,
    /// Whether images and the worlds' vectors are brought to mean 0 and deviation 1, by what was seen so far.
    pub normalise: bool,
}

/// What stands between layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActivationStyle {
    /// The hyperbolic tangent.
    Tanh,
    /// The rectifier.
    Relu,
}

impl Default for NetworkStyle {
    fn default() -> Self {
        Self {
            filters: vec![16, 32, 32],
            pools: 1,
            vector_units: 64,
            hidden: vec![64, 64],
            activation: ActivationStyle::Tanh,
            memory: 0,
            sequence: 32,
            initial: Initial::Uniform,
            normalise: false,
        }
    }
}

impl NetworkStyle {
    /// The network of an agent that sees this and has so many actions.
    pub fn network(&self, sight: &Sight, actions: usize) -> NetworkConfig {
        let activation = match self.activation {
            ActivationStyle::Tanh => LayerConfig::Tanh,
            ActivationStyle::Relu => LayerConfig::Relu,
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
            image: sight.image().map(|shape| ImageConfig {
                shape,
                layers: image_layers,
                normalise: self.normalise,
            }),
            vectors: (sight.vectors().into_iter())
                .map(|(name, size)| VectorConfig {
                    name: name.to_owned(),
                    size,
                    layers: dense(&self.vector_units).into(),
                    // Indicators are 0 or 1, and stay so.
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
