//! The gradient of every layer against finite differences, by itself and in the paper's network.
//!
//! A layer's gradient with respect to its input shows in the weights of a layer before it.

use form_rl::{Batch, Engine, Loss, Network};

use crate::samples::{Weighted, network, numbers, observations, rng, small};

/// Moves every weight a little to both sides and compares the slope with the gradient. A wide step may go over an edge of a
/// pool or rectifier, where the slope is another; a narrow one does not, but sees more of the rounding. One has to agree.
pub fn check(mut network: Network, batch: &Batch<'_>, loss: &impl Loss<Sum = f64>) {
    let mut engine = Engine::new(&network, batch.steps);
    engine.gradient(&network, batch, loss).unwrap();
    let gradient = engine.last_gradient().to_vec();
    let size = gradient.iter().fold(0.0_f32, |size, x| size.max(x.abs()));
    assert!(size > 0.01, "nothing to compare: {size}");
    for (place, expected) in gradient.iter().enumerate() {
        let weight = network.weights()[place];
        let mut at = |weight: f32| {
            network.weights_mut()[place] = weight;
            engine.gradient(&network, batch, loss).unwrap()
        };
        let mut slope = |step: f32| {
            let (above, below) = (weight + step, weight - step);
            (at(above) - at(below)) / f64::from(above - below)
        };
        let slopes = [4e-3, 1e-3, 2.5e-4].map(&mut slope);
        let close =
            |slope: &f64| (slope - f64::from(*expected)).abs() < 2e-3 * f64::from(size.max(1.0));
        assert!(
            slopes.iter().any(close),
            "weight {place}: gradient {expected}, slopes {slopes:?}"
        );
        at(weight);
    }
}

/// Nineteen samples: one whole block and a part of one.
fn check_config(config: &str) {
    let network = network(config, 1);
    let (images, vectors) = observations(&network, 19, 2);
    let loss = Weighted::new(&network, 19, 3);
    check(network, &Batch::all(&images, &vectors), &loss);
}

/// What is normalised: the statistics are constants to the gradient.
#[test]
fn normalised_inputs() {
    let mut network = network(
        r#"{"image": {"shape": [4, 4, 2], "normalise": true, "layers": [{"layer": "conv", "filters": 3, "kernel": [2, 2]}]},
        "vectors": [{"name": "v", "size": 3, "normalise": true, "layers": [{"layer": "dense", "units": 4}]}],
        "actions": 2}"#,
        1,
    );
    let (images, vectors) = observations(&network, 19, 2);
    network.observe_statistics(&images, &vectors).unwrap();
    let loss = Weighted::new(&network, 19, 3);
    check(network, &Batch::all(&images, &vectors), &loss);
}

#[test]
fn dense() {
    check_config(
        r#"{"vectors": [{"name": "v", "size": 3, "layers": [{"layer": "dense", "units": 4}]}],
        "trunk": [{"layer": "dense", "units": 5}], "actions": 2}"#,
    );
}

#[test]
fn tanh() {
    check_config(
        r#"{"vectors": [{"name": "v", "size": 3, "layers": [{"layer": "dense", "units": 4}]}],
        "trunk": [{"layer": "tanh"}], "actions": 2}"#,
    );
}

#[test]
fn relu() {
    check_config(
        r#"{"vectors": [{"name": "v", "size": 3, "layers": [{"layer": "dense", "units": 4}]}],
        "trunk": [{"layer": "relu"}], "actions": 2}"#,
    );
}

#[test]
fn conv() {
    check_config(
        r#"{"image": {"shape": [5, 4, 2], "layers": [
        {"layer": "conv", "filters": 3, "kernel": [2, 2]}, {"layer": "conv", "filters": 2, "kernel": [2, 2]}]},
        "actions": 2}"#,
    );
}

#[test]
fn conv_with_a_long_kernel_and_a_stride_that_leaves_a_margin() {
    check_config(
        r#"{"image": {"shape": [8, 6, 2], "layers": [
        {"layer": "conv", "filters": 3, "kernel": [1, 2]}, {"layer": "conv", "filters": 2, "kernel": [3, 1], "stride": 2}]},
        "actions": 2}"#,
    );
}

/// The lengths that have code of their own.
#[test]
fn conv_with_the_papers_channels() {
    check_config(
        r#"{"image": {"shape": [4, 4, 3], "layers": [{"layer": "conv", "filters": 16, "kernel": [2, 2]},
        {"layer": "conv", "filters": 32, "kernel": [2, 2]}, {"layer": "conv", "filters": 2, "kernel": [2, 2]}]},
        "actions": 2}"#,
    );
}

#[test]
fn max_pool() {
    check_config(
        r#"{"image": {"shape": [7, 6, 2], "layers": [{"layer": "conv", "filters": 3, "kernel": [2, 2]},
        {"layer": "max-pool", "window": [2, 2]}]}, "actions": 2}"#,
    );
}

#[test]
fn max_pool_with_overlapping_windows() {
    check_config(
        r#"{"image": {"shape": [6, 6, 2], "layers": [{"layer": "conv", "filters": 3, "kernel": [2, 2]},
        {"layer": "max-pool", "window": [3, 2], "stride": 1}]}, "actions": 2}"#,
    );
}

/// Of equal numbers under a window one gets the gradient, not all: a constant image under a pool is one number.
#[test]
fn max_pool_with_ties() {
    let network = network(
        r#"{"image": {"shape": [2, 2, 1], "layers": [{"layer": "conv", "filters": 1, "kernel": [1, 1]},
        {"layer": "max-pool", "window": [2, 2]}]}, "actions": 1}"#,
        1,
    );
    let loss = Weighted::new(&network, 1, 3);
    check(network, &Batch::all(&[1; 4], &[]), &loss);
}

/// Sequences with a state to begin with, and episodes that start at, before and within them.
fn check_recurrent(network: Network) {
    let (sequences, steps) = (18, 5);
    let places = sequences * steps;
    let (images, vectors) = observations(&network, places, 2);
    let states = numbers(sequences * network.state(), 4);
    let starts: Vec<bool> = (0..places).map(|place| place % 7 == 3).collect();
    let select: Vec<usize> = (0..places).rev().collect();
    let loss = Weighted::new(&network, places, 3);
    let batch = Batch {
        images: &images,
        vectors: &vectors,
        select: Some(&select),
        steps,
        starts: &starts,
        states: &states,
    };
    check(network, &batch, &loss);
}

#[test]
fn lstm() {
    check_recurrent(network(
        r#"{"vectors": [{"name": "v", "size": 3, "layers": [{"layer": "dense", "units": 4}]}],
        "trunk": [{"layer": "lstm", "units": 3}], "actions": 2}"#,
        1,
    ));
}

#[test]
fn the_papers_network() {
    let network = Network::new(&small(false), &mut rng(1)).unwrap();
    let (images, vectors) = observations(&network, 19, 2);
    let loss = Weighted::new(&network, 19, 3);
    check(network, &Batch::all(&images, &vectors), &loss);
}

#[test]
fn the_papers_recurrent_network() {
    check_recurrent(Network::new(&small(true), &mut rng(1)).unwrap());
}
