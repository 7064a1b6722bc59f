//! Networks and batches that do not fit are refused, and the message says where.

use form_rl::{Batch, Engine, Network, NetworkConfig, Outputs};

use crate::samples::{network, numbers, paper, rng};

fn check(config: &str, expected: &str) {
    let config: NetworkConfig = serde_json::from_str(config).unwrap();
    let error = Network::new(&config, &mut rng(0)).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn layers_that_do_not_fit_are_named() {
    check(
        r#"{"image": {"shape": [3, 3, 1], "layers": [{"layer": "conv", "filters": 2, "kernel": [2, 2]},
            {"layer": "tanh"}, {"layer": "conv", "filters": 2, "kernel": [3, 2]}]}, "actions": 2}"#,
        "image.2 (conv): a kernel of 3x2 does not fit into an image of 2x2",
    );
    check(
        r#"{"image": {"shape": [3, 3, 1], "layers": []}, "trunk": [{"layer": "max-pool", "window": [2, 2]}], "actions": 2}"#,
        "trunk.0 (max-pool): it needs an image, and here comes a flat vector",
    );
    check(
        r#"{"vectors": [{"name": "v", "size": 3, "layers": [{"layer": "dense", "units": 0}]}], "actions": 2}"#,
        "v.0 (dense): a layer needs at least one output",
    );
    check(
        r#"{"image": {"shape": [3, 3, 1], "layers": [{"layer": "conv", "filters": 2, "kernel": [2, 2], "stride": 0}]}, "actions": 2}"#,
        "image.0 (conv): kernel and stride must be at least 1",
    );
}

#[test]
fn networks_that_make_no_sense_are_refused() {
    check(
        r#"{"actions": 2}"#,
        "network: it has neither an image nor a vector to see",
    );
    let v = r#"{"name": "v", "size": 3, "layers": []}"#;
    check(
        &format!(r#"{{"vectors": [{v}], "actions": 0}}"#),
        "actor: there are no actions to choose from",
    );
    check(
        &format!(r#"{{"vectors": [{v}, {v}], "actions": 2}}"#),
        "v: two inputs of the same name",
    );
    check(
        r#"{"vectors": [{"name": "actor", "size": 3, "layers": []}], "actions": 2}"#,
        "actor: not a name for a vector",
    );
    check(
        r#"{"vectors": [{"name": "v", "size": 0, "layers": []}], "actions": 2}"#,
        "v: an input without numbers",
    );
    check(
        r#"{"vectors": [{"name": "v", "size": 3, "layers": [{"layer": "lstm", "units": 2}]}], "actions": 2}"#,
        "v: memory (lstm) belongs into the trunk",
    );
    check(
        &format!(
            r#"{{"vectors": [{v}], "trunk": [{{"layer": "lstm", "units": 2}}, {{"layer": "lstm", "units": 2}}], "actions": 2}}"#
        ),
        "trunk: more than one lstm",
    );
}

#[test]
fn unknown_settings_are_refused() {
    let text = r#"{"actions": 2, "kernel": 3}"#;
    assert!(serde_json::from_str::<NetworkConfig>(text).is_err());
    let text = r#"{"trunk": [{"layer": "dense", "units": 3, "bias": false}], "actions": 2}"#;
    assert!(serde_json::from_str::<NetworkConfig>(text).is_err());
}

#[test]
fn a_configuration_reads_back_as_itself() {
    let config = paper().recurrent();
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(
        serde_json::from_str::<NetworkConfig>(&text).unwrap(),
        config
    );
}

#[test]
fn the_papers_network_has_the_size_it_should_have() {
    let network = Network::new(&paper(), &mut rng(0)).unwrap();
    assert_eq!(
        (network.image_len(), network.vector_len()),
        (13 * 13 * 3, 8)
    );
    assert_eq!(network.weights().len(), 52_760);
    let recurrent = Network::new(&paper().recurrent(), &mut rng(0)).unwrap();
    assert_eq!(recurrent.state(), 512);
    // The heads stand on 256 numbers instead of 64, and the memory has four gates.
    let more = 4 * 256 * (64 + 256 + 1) + 8 * (256 - 64);
    assert_eq!(recurrent.weights().len(), 52_760 + more);
}

const TINY: &str = r#"{"vectors": [{"name": "v", "size": 3, "layers": []}], "actions": 2}"#;
const BOTH: &str = r#"{"image": {"shape": [2, 1, 2], "layers": []},
    "vectors": [{"name": "v", "size": 3, "layers": []}], "actions": 2}"#;
const MEMORY: &str = r#"{"vectors": [{"name": "v", "size": 3, "layers": []}],
    "trunk": [{"layer": "lstm", "units": 2}], "actions": 2}"#;

fn check_batch(config: &str, batch: &Batch<'_>, expected: &str) {
    let network = network(config, 0);
    let mut engine = Engine::new(&network, 2);
    let mut outputs = Outputs::default();
    let error = engine.evaluate(&network, batch, &mut outputs).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let data = numbers(12, 0);
    check_batch(
        TINY,
        &Batch::all(&[], &data[..11]),
        "numbers of vectors: 11 given, 9 needed",
    );
    check_batch(
        TINY,
        &Batch::some(&[], &data, &[0, 4]),
        "selected observations: 4 given, 5 needed",
    );
    check_batch(
        TINY,
        &Batch::all(&[1], &data),
        "bytes of images: 1 given, 0 needed",
    );
    check_batch(
        BOTH,
        &Batch::all(&[1; 7], &data[..3]),
        "bytes of images: 7 given, 4 needed",
    );
    check_batch(
        BOTH,
        &Batch::all(&[1; 8], &data[..3]),
        "numbers of vectors: 3 given, 6 needed",
    );
    let steps = |steps| Batch {
        steps,
        ..Batch::all(&[], &data)
    };
    check_batch(TINY, &steps(0), "steps per sequence: 0 given, 1 needed");
    check_batch(
        TINY,
        &steps(2),
        "steps per sequence without a recurrent layer: 2 given, 1 needed",
    );
    check_batch(
        MEMORY,
        &steps(3),
        "samples in whole sequences: 4 given, 3 needed",
    );
    check_batch(
        MEMORY,
        &steps(2),
        "marks of episodes' starts: 0 given, 4 needed",
    );
    let starts = [false; 4];
    let states = |steps, count| Batch {
        starts: &starts,
        states: &data[..count],
        ..Batch {
            steps,
            ..Batch::all(&[], &data)
        }
    };
    check_batch(
        MEMORY,
        &states(2, 7),
        "numbers of hidden states: 7 given, 8 needed",
    );
    check_batch(
        MEMORY,
        &states(4, 4),
        "steps that there is room for: 2 given, 4 needed",
    );
}

#[test]
fn an_engine_of_another_network_is_refused() {
    let mut engine = Engine::new(&network(MEMORY, 0), 1);
    let data = numbers(3, 0);
    let error = engine
        .evaluate(
            &network(TINY, 0),
            &Batch::all(&[], &data),
            &mut Outputs::default(),
        )
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "weights that there is room for: 57 given, 12 needed"
    );
}

/// Descriptions come from files, too: whatever they ask for, the process goes on.
#[test]
fn networks_that_no_machine_has_room_for_are_refused() {
    let huge = [1 << 24, 1 << 40, usize::MAX / 2, usize::MAX];
    for size in huge {
        let refused = |config: String, place: &str| {
            let config: NetworkConfig = serde_json::from_str(&config).unwrap();
            let message = Network::new(&config, &mut rng(0)).unwrap_err().to_string();
            assert!(
                message.starts_with(place) && message.contains("more than"),
                "{size}: {message}"
            );
        };
        let v = r#"{"name": "v", "size": 3, "layers": []}"#;
        let vector = |size, layers: &str| {
            format!(
                r#"{{"vectors": [{{"name": "v", "size": {size}, "layers": [{layers}]}}], "actions": 2}}"#
            )
        };
        refused(vector(size, ""), "v: ");
        let dense = format!(r#"{{"layer": "dense", "units": {size}}}"#);
        refused(vector(3, &dense), "v.0 (dense): ");
        refused(
            format!(r#"{{"vectors": [{v}], "actions": {size}}}"#),
            "actor: ",
        );
        let lstm = format!(r#"{{"layer": "lstm", "units": {size}}}"#);
        refused(
            format!(r#"{{"vectors": [{v}], "trunk": [{lstm}], "actions": 2}}"#),
            "trunk.0 (lstm): ",
        );
        for shape in [[size, 3, 3], [3, size, 3], [3, 3, size], [4096, 4096, 4096]] {
            let image = format!(r#"{{"shape": {shape:?}, "layers": []}}"#);
            refused(format!(r#"{{"image": {image}, "actions": 2}}"#), "image: ");
        }
        let conv = format!(r#"{{"layer": "conv", "filters": {size}, "kernel": [2, 2]}}"#);
        refused(
            format!(r#"{{"image": {{"shape": [3, 3, 3], "layers": [{conv}]}}, "actions": 2}}"#),
            "image.0 (conv): ",
        );
    }
    // Each is within the limits, and all of them together are not.
    let dense = r#"{"layer": "dense", "units": 16000}"#;
    check(
        &format!(
            r#"{{"vectors": [{{"name": "v", "size": 16000, "layers": [{dense}, {dense}]}}], "actions": 2}}"#
        ),
        "network: weights: more than 268435456",
    );
    check(
        r#"{"image": {"shape": [2000, 2000, 1], "layers": [{"layer": "max-pool", "window": [1000, 1000], "stride": 1}]}, "actions": 2}"#,
        "image.0 (max-pool): places under its windows: more than 8388608",
    );
}

/// By hand: convolutions of 2×2 over 13×13 cells of three bytes, halved after the first; then 32 filters on 4×4 cells are joined with
/// the 64 units of four indicators, and go through two layers of 64 units to seven actions and one value. Biases count as weights.
#[test]
fn multiplications_of_the_papers_network() {
    let config = NetworkConfig::paper([13, 13, 3], &[("indicators", 4)], 7);
    let network = Network::new(&config, &mut rng(1)).unwrap();
    let convolutions = 12 * 12 * 16 * (12 + 1) + 5 * 5 * 32 * (64 + 1) + 4 * 4 * 32 * (128 + 1);
    let dense = 64 * (4 + 1) + 64 * (512 + 64 + 1) + 64 * (64 + 1) + 7 * (64 + 1) + (64 + 1);
    assert_eq!(network.multiplications(), convolutions + dense);
}
