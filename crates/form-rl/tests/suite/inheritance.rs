//! What a network takes over from another one, tensor by tensor.

use std::collections::BTreeMap;

use form_rl::{Inheritance, Network, WeightOrigin};

use crate::samples::{network, observations};

fn config(channels: usize, indicators: usize, units: usize) -> String {
    format!(
        r#"{{"image": {{"shape": [3, 3, {channels}], "normalise": true, "layers": [
            {{"layer": "conv", "filters": 4, "kernel": [2, 2]}}]}},
        "vectors": [{{"name": "indicators", "size": {indicators}, "normalise": true,
            "layers": [{{"layer": "dense", "units": {units}}}]}}],
        "trunk": [{{"layer": "dense", "units": 5}}], "actions": 2}}"#
    )
}

fn fates(inheritance: Vec<Inheritance>) -> BTreeMap<String, WeightOrigin> {
    let pairs = inheritance.into_iter().map(|row| (row.tensor, row.origin));
    pairs.collect()
}

fn adapted(kept: usize, fresh: usize) -> WeightOrigin {
    WeightOrigin::Adapted { kept, fresh }
}

fn fresh(reason: &str) -> WeightOrigin {
    let reason = reason.to_owned();
    WeightOrigin::Fresh { reason }
}

/// A network that has seen something.
fn experienced(config: &str, seed: u64) -> Network {
    let mut network = network(config, seed);
    let (images, vectors) = observations(&network, 20, seed);
    network.observe_statistics(&images, &vectors).unwrap();
    network
}

/// The tensors in the order of their weights: filters, indicators, trunk, actor, critic; weights before biases.
fn indicators(network: &Network, channels: usize, indicators: usize) -> &[f32] {
    let first = 4 * 4 * channels + 4;
    &network.weights()[first..first + 3 * indicators]
}

#[test]
fn the_same_network_is_loaded_whole() {
    let old = experienced(&config(2, 3, 3), 1);
    let mut new = network(&config(2, 3, 3), 2);
    let fates = fates(new.inherit(&old, &[]));
    assert_eq!(fates.len(), 10 + 6);
    assert!(fates.values().all(|fate| *fate == WeightOrigin::Loaded));
    assert_eq!(new.weights(), old.weights());
    let folder = tempfile::tempdir().unwrap();
    let save = |network: &Network, name: &str| {
        let path = folder.path().join(name);
        network.save(&path).unwrap();
        std::fs::read(path).unwrap()
    };
    assert_eq!(save(&new, "new"), save(&old, "old"));
}

#[test]
fn columns_go_where_the_list_says() {
    let old = experienced(&config(2, 3, 3), 1);
    let mut new = network(&config(2, 4, 3), 2);
    let before = new.clone();
    let list = vec![Some(2), None, Some(0), None];
    let fates = fates(new.inherit(&old, &[("indicators", list)]));
    assert_eq!(fates["indicators.0.weight"], adapted(2, 2));
    assert_eq!(fates["normalisation.indicators.mean"], adapted(2, 2));
    for name in ["image.0.weight", "indicators.0.bias", "trunk.0.weight"] {
        assert_eq!(fates[name], WeightOrigin::Loaded, "{name}");
    }
    let (theirs, kept) = (indicators(&old, 2, 3), indicators(&before, 2, 4));
    for (row, found) in indicators(&new, 2, 4).chunks(4).enumerate() {
        let expected = [
            theirs[3 * row + 2],
            kept[4 * row + 1],
            theirs[3 * row],
            kept[4 * row + 3],
        ];
        assert_eq!(found, expected);
    }
    // A list of columns counts even where the sizes are the same.
    let mut swapped = network(&config(2, 3, 3), 2);
    let list = vec![Some(1), Some(0), Some(2)];
    swapped.inherit(&old, &[("indicators", list)]);
    for (row, found) in indicators(&swapped, 2, 3).chunks(3).enumerate() {
        let theirs = &theirs[3 * row..];
        assert_eq!(found, [theirs[1], theirs[0], theirs[2]]);
    }
}

#[test]
fn without_a_list_columns_and_channels_keep_their_places() {
    let old = experienced(&config(2, 3, 3), 1);
    let mut new = network(&config(3, 2, 3), 2);
    let before = new.clone();
    let fates = fates(new.inherit(&old, &[]));
    assert_eq!(fates["indicators.0.weight"], adapted(2, 0));
    assert_eq!(fates["image.0.weight"], adapted(2, 1));
    assert_eq!(fates["normalisation.image.count"], adapted(2, 1));
    for (place, found) in new.weights()[..4 * 4 * 3].chunks(3).enumerate() {
        let theirs = &old.weights()[2 * place..];
        assert_eq!(
            found,
            [theirs[0], theirs[1], before.weights()[3 * place + 2]]
        );
    }
}

#[test]
fn what_does_not_fit_stays_fresh_and_says_why() {
    let old = experienced(&config(2, 3, 3), 1);
    let mut new = network(&config(2, 3, 6), 2);
    let before = new.clone();
    let found = fates(new.inherit(&old, &[]));
    assert_eq!(
        found["indicators.0.weight"],
        fresh("its shape is [6, 3], the other network's [3, 3]")
    );
    assert_eq!(
        found["trunk.0.weight"],
        fresh("its shape is [5, 22], the other network's [5, 19]")
    );
    assert_eq!(indicators(&new, 2, 6), indicators(&before, 2, 6));
    let check = |list: Vec<Option<usize>>, reason: &str| {
        let mut new = network(&config(2, 4, 3), 2);
        let found = fates(new.inherit(&old, &[("indicators", list)]));
        assert_eq!(found["indicators.0.weight"], fresh(reason));
        assert_eq!(indicators(&new, 2, 4), {
            let before = network(&config(2, 4, 3), 2);
            indicators(&before, 2, 4).to_vec()
        });
    };
    check(
        vec![None],
        "the list of columns has 1 entries for 4 columns",
    );
    check(
        vec![None, None, None, Some(3)],
        "the list of columns names column 3 of 3",
    );
}

#[test]
fn what_only_one_of_them_has_is_named() {
    let old = experienced(&config(2, 3, 3), 1);
    let blind = r#"{"vectors": [{"name": "machine", "size": 4, "normalise": true, "layers": [{"layer": "dense", "units": 3}]}],
        "trunk": [{"layer": "dense", "units": 5}], "actions": 2}"#;
    let mut new = network(blind, 2);
    let fates = fates(new.inherit(&old, &[]));
    assert_eq!(
        fates["machine.0.weight"],
        fresh("the other network has no such tensor")
    );
    assert_eq!(
        fates["normalisation.machine.count"],
        fresh("the other network does not normalise it")
    );
    assert_eq!(fates["actor.weight"], WeightOrigin::Loaded);
    for name in [
        "image.0.weight",
        "indicators.0.bias",
        "normalisation.image.squares",
    ] {
        assert_eq!(fates[name], WeightOrigin::Unused, "{name}");
    }
}
