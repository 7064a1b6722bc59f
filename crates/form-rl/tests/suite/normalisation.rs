//! Observations are normalised by what was seen so far, and the statistics live as long as the network.

use form_rl::{Batch, Engine, Network, NetworkConfig, Outputs};

use crate::samples::{network, observations, rng};

const CONFIG: &str = r#"{
    "image": {"shape": [2, 2, 2], "normalise": true, "layers": []},
    "vectors": [{"name": "plain", "size": 1, "layers": []}, {"name": "scaled", "size": 2, "normalise": true, "layers": []}],
    "actions": 3}"#;

fn outputs(network: &Network, batch: &Batch<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    let mut engine = Engine::new(network, 1);
    engine.evaluate(network, batch, &mut outputs).unwrap();
    outputs
}

/// The same network without normalisation says the same of observations that were normalised by hand.
#[test]
fn what_goes_in_has_mean_0_and_deviation_1() {
    let mut normalised = network(CONFIG, 1);
    // Two observations. The image's channels: 0, 2, 4, 6, 0, 2, 4, 6 with mean 3 and variance 5, and all 7.
    let images = [0, 7, 2, 7, 4, 7, 6, 7, 0, 7, 2, 7, 4, 7, 6, 7];
    let vectors = [9.0, 1.0, -5.0, 8.0, 3.0, -5.0];
    normalised.observe_statistics(&images, &vectors).unwrap();
    let plain = CONFIG.replace(r#""normalise": true"#, r#""normalise": false"#);
    // An image cannot hold negative numbers, so the plain network sees it as a vector.
    let plain = plain.replace(
        r#""image": {"shape": [2, 2, 2], "normalise": false, "layers": []},"#,
        "",
    );
    let plain = plain.replace(
        r#"[{"name": "plain""#,
        r#"[{"name": "seen", "size": 8, "layers": []}, {"name": "plain""#,
    );
    let mut plain = network(&plain, 2);
    plain.weights_mut().copy_from_slice(normalised.weights());
    let root = 5.0_f32.sqrt();
    let (a, b) = (3.0 / root, 1.0 / root);
    let image = [-a, 0.0, -b, 0.0, b, 0.0, a, 0.0];
    let by_hand = [&image[..], &[9.0, -1.0, 0.0], &image[..], &[8.0, 1.0, 0.0]];
    let found = outputs(&normalised, &Batch::all(&images, &vectors));
    let expected = outputs(&plain, &Batch::all(&[], &by_hand.concat()));
    for (found, expected) in found.logits.iter().zip(&expected.logits) {
        assert!((found - expected).abs() < 1e-5, "{found}, not {expected}");
    }
}

#[test]
fn statistics_are_cloned_and_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.safetensors");
    let mut network = network(CONFIG, 1);
    let (images, vectors) = observations(&network, 50, 2);
    let batch = Batch::all(&images, &vectors);
    let before = outputs(&network, &batch);
    network.observe_statistics(&images, &vectors).unwrap();
    let after = outputs(&network, &batch);
    assert_ne!(before, after);
    network.save(&path).unwrap();
    let mut loaded = Network::load(&path).unwrap();
    assert_eq!(outputs(&loaded, &batch), after);
    let mut cloned = network.clone();
    // All three go on alike.
    for network in [&mut network, &mut loaded, &mut cloned] {
        network
            .observe_statistics(&images[8..16], &[5.0; 3])
            .unwrap();
    }
    let after = outputs(&network, &batch);
    assert_eq!(outputs(&loaded, &batch), after);
    assert_eq!(outputs(&cloned, &batch), after);
}

/// In parts or at once, up to rounding.
#[test]
fn parts_add_up() {
    let mut at_once = network(CONFIG, 1);
    let (images, vectors) = observations(&at_once, 50, 2);
    let mut in_parts = at_once.clone();
    at_once.observe_statistics(&images, &vectors).unwrap();
    for (images, vectors) in images.chunks(7 * 8).zip(vectors.chunks(7 * 3)) {
        in_parts.observe_statistics(images, vectors).unwrap();
    }
    let batch = Batch::all(&images, &vectors);
    let (one, other) = (outputs(&at_once, &batch), outputs(&in_parts, &batch));
    for (one, other) in one.logits.iter().zip(&other.logits) {
        assert!((one - other).abs() < 1e-5, "{one} {other}");
    }
}

#[test]
fn what_does_not_fit_or_is_not_finite_is_refused() {
    let mut network = network(CONFIG, 1);
    let before = network.clone();
    let error = network.observe_statistics(&[1; 8], &[1.0; 6]).unwrap_err();
    assert_eq!(error.to_string(), "numbers of vectors: 6 given, 3 needed");
    let error = network.observe_statistics(&[1; 8], &[1.0, f32::NAN, 2.0]);
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("observation is NaN")
    );
    let (images, vectors) = observations(&network, 5, 2);
    let batch = Batch::all(&images, &vectors);
    assert_eq!(outputs(&network, &batch), outputs(&before, &batch));
}

/// A file whose statistics cannot be is refused.
#[test]
fn impossible_statistics_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.safetensors");
    let mut network = network(CONFIG, 1);
    network.observe_statistics(&[1; 8], &[1.0; 3]).unwrap();
    network.save(&path).unwrap();
    let mut file = std::fs::read(&path).unwrap();
    // The counts of the image, four cells, are the first 64-bit numbers of the file; now they are negative.
    let four = 4.0_f64.to_le_bytes();
    let place = file.windows(8).position(|bytes| bytes == four).unwrap();
    file[place + 7] |= 0x80;
    std::fs::write(&path, &file).unwrap();
    let error = Network::load(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("the normalisation of `image` has impossible statistics"),
        "{error}"
    );
}

#[test]
fn configurations_mention_it_only_where_it_is_wanted() {
    let config: NetworkConfig = serde_json::from_str(CONFIG).unwrap();
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(text.matches("normalise").count(), 2);
    assert!(!text.contains("initial"));
    assert_eq!(
        serde_json::from_str::<NetworkConfig>(&text).unwrap(),
        config
    );
}

/// Rows of the first dense layer, and of the heads, have the lengths that orthogonal initial weights have there.
#[test]
fn orthogonal_networks_start_with_small_policies_and_no_biases() {
    let config = r#"{"vectors": [{"name": "v", "size": 9, "layers": [{"layer": "dense", "units": 4}, {"layer": "tanh"}]}],
        "actions": 2, "initial": "orthogonal"}"#;
    let config: NetworkConfig = serde_json::from_str(config).unwrap();
    let network = Network::new(&config, &mut rng(1)).unwrap();
    let weights = network.weights();
    let length = |row: &[f32]| row.iter().map(|x| x * x).sum::<f32>().sqrt();
    let (dense, rest) = weights.split_at(4 * 9);
    let (dense_bias, rest) = rest.split_at(4);
    let (actor, rest) = rest.split_at(2 * 4);
    let (actor_bias, rest) = rest.split_at(2);
    let (critic, critic_bias) = rest.split_at(4);
    for row in dense.chunks(9) {
        assert!((length(row) - 2.0_f32.sqrt()).abs() < 1e-5);
    }
    for row in actor.chunks(4) {
        assert!((length(row) - 0.01).abs() < 1e-7);
    }
    assert!((length(critic) - 1.0).abs() < 1e-5);
    assert_eq!(
        [dense_bias, actor_bias, critic_bias].concat(),
        [0.0; 4 + 2 + 1]
    );
}
