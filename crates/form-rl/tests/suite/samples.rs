//! Made-up networks, observations and losses for the tests.

use form_rl::{LayerConfig, Loss, LossInput, Network, NetworkConfig};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

pub fn rng(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

/// Numbers between -1 and 1.
pub fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut rng = rng(seed);
    (0..count)
        .map(|_| 2.0 * rng.random::<f32>() - 1.0)
        .collect()
}

/// Images of small bytes, and vectors of numbers between -1 and 1.
pub fn observations(network: &Network, count: usize, seed: u64) -> (Vec<u8>, Vec<f32>) {
    let mut bytes = rng(seed + 100);
    let images = (0..count * network.image_len()).map(|_| bytes.random_range(0..3));
    let vectors = numbers(count * network.vector_len(), seed);
    (images.collect(), vectors)
}

pub fn network(config: &str, seed: u64) -> Network {
    let config: NetworkConfig = serde_json::from_str(config).unwrap();
    Network::new(&config, &mut rng(seed)).unwrap()
}

/// The network that the design's figures are about: 13×13 cells of three numbers, four indicators, four machine states.
pub fn paper() -> NetworkConfig {
    NetworkConfig::paper([13, 13, 3], &[("indicators", 4), ("machine", 4)], 7)
}

/// The same, but small enough to be differentiated number by number.
pub fn small(recurrent: bool) -> NetworkConfig {
    let mut config = NetworkConfig::paper([7, 7, 2], &[("indicators", 2), ("machine", 3)], 3);
    let image = config.image.as_mut().unwrap();
    let branches = (config.vectors.iter_mut()).map(|vector| &mut vector.layers);
    for layers in branches.chain([&mut image.layers, &mut config.trunk]) {
        for layer in layers {
            match layer {
                LayerConfig::Dense { units } => *units = 5,
                LayerConfig::Conv { filters, .. } => *filters = 3,
                _ => {}
            }
        }
    }
    if recurrent {
        config.trunk.push(LayerConfig::Lstm { units: 4 });
    }
    config
}

/// A weighted sum of all outputs, with weights of its own for every place.
pub struct Weighted {
    pub actions: usize,
    pub of_logits: Vec<f32>,
    pub of_values: Vec<f32>,
}

impl Weighted {
    pub fn new(network: &Network, places: usize, seed: u64) -> Self {
        Self {
            actions: network.actions(),
            of_logits: numbers(places * network.actions(), seed),
            of_values: numbers(places, seed + 1),
        }
    }
}

impl Loss for Weighted {
    type Sum = f64;

    fn block(&self, input: LossInput<'_>) -> f64 {
        let mut sum = 0.0;
        for (row, &place) in input.places.iter().enumerate() {
            for action in 0..self.actions {
                let weight = self.of_logits[place * self.actions + action];
                input.d_logits[row * self.actions + action] = weight;
                let logit = input.logits[row * self.actions + action];
                sum += f64::from(weight) * f64::from(logit);
            }
            input.d_values[row] = self.of_values[place];
            sum += f64::from(self.of_values[place]) * f64::from(input.values[row]);
        }
        sum
    }
}
