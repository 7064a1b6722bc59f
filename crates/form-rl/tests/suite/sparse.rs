//! Images of mostly zeros take a shorter way through the first convolution, with the same results.

use form_rl::{Batch, Engine, Network, Outputs};
use rand::RngExt;

use crate::gradients::check;
use crate::samples::{Weighted, network, rng};

/// A block of few ones is sparse. With images full of numbers behind them it is not, and says the same of the first ones; nor does
/// the gradient change if the others do not count.
#[test]
fn both_ways_lead_to_the_same_bits() {
    let (few, all) = (7, 16);
    for seed in 0..60 {
        let mut rng = rng(seed);
        let mut size = |from: usize, to: usize| rng.random_range(from..=to);
        let (height, width, channels) = (size(3, 7), size(3, 7), size(1, 9));
        let (lines, columns, stride) = (size(1, 3), size(1, 3), size(1, 2));
        let filters = [1, 3, 8, 16, 20, 32, 48][size(0, 6)];
        let config = format!(
            r#"{{"image": {{"shape": [{height}, {width}, {channels}], "layers": [
                {{"layer": "conv", "filters": {filters}, "kernel": [{lines}, {columns}], "stride": {stride}}},
                {{"layer": "tanh"}}, {{"layer": "dense", "units": 5}}]}}, "actions": 3}}"#
        );
        let network = network(&config, seed);
        let length = network.image_len();
        let mut images: Vec<u8> = vec![0; few * length];
        for _ in 0..images.len() / 5 {
            images[rng.random_range(0..few * length)] = rng.random_range(0..4);
        }
        let sparse = run(&network, &images, few);
        images.resize(all * length, 9);
        let dense = run(&network, &images, few);
        assert_eq!(sparse.0, dense.0[..few * 3], "{config}");
        assert_eq!(sparse.1, dense.1, "{config}");
    }
}

/// The logits, and the gradient of a loss that only sees the first samples.
fn run(network: &Network, images: &[u8], few: usize) -> (Vec<f32>, Vec<f32>) {
    let mut engine = Engine::new(network, 1);
    let mut outputs = Outputs::default();
    let batch = Batch::all(images, &[]);
    engine.evaluate(network, &batch, &mut outputs).unwrap();
    let mut loss = Weighted::new(network, few, 3);
    let samples = images.len() / network.image_len();
    loss.of_logits.resize(samples * network.actions(), 0.0);
    loss.of_values.resize(samples, 0.0);
    engine.gradient(network, &batch, &loss).unwrap();
    (outputs.logits, engine.last_gradient().to_vec())
}

#[test]
fn the_gradient_of_sparse_images_is_the_slope() {
    let network = network(
        r#"{"image": {"shape": [5, 4, 6], "layers": [
        {"layer": "conv", "filters": 4, "kernel": [2, 2]}, {"layer": "max-pool", "window": [2, 2]}, {"layer": "tanh"}]},
        "actions": 2}"#,
        1,
    );
    let mut rng = rng(2);
    let images: Vec<u8> = (0..19 * network.image_len())
        .map(|_| u8::from(rng.random_range(0..12) == 0))
        .collect();
    let loss = Weighted::new(&network, 19, 3);
    check(network, &Batch::all(&images, &[]), &loss);
}
