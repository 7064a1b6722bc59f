//! Weights survive their file bit by bit, and a file that does not fit is refused by name.

use std::fs;
use std::path::PathBuf;

use form_rl::Network;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use tempfile::TempDir;

use crate::samples::{network, paper, rng, small};

const TINY: &str = r#"{"vectors": [{"name": "v", "size": 3, "layers": []}], "actions": 2}"#;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.safetensors");
    (folder, path)
}

#[test]
fn weights_read_back_bit_by_bit() {
    for config in [paper(), small(true)] {
        let (_folder, path) = folder();
        let mut network = Network::new(&config, &mut rng(1)).unwrap();
        // Numbers that a detour over text or another precision would change.
        let odd = [-0.0, f32::MIN_POSITIVE / 4.0, f32::MAX, 1.0 + f32::EPSILON];
        network.weights_mut()[..4].copy_from_slice(&odd);
        network.save(&path).unwrap();
        let loaded = Network::load(&path).unwrap();
        assert_eq!(loaded.config(), &config);
        let bits = |network: &Network| -> Vec<u32> {
            network.weights().iter().map(|x| x.to_bits()).collect()
        };
        assert_eq!(bits(&loaded), bits(&network));
        let mut other = Network::new(&config, &mut rng(2)).unwrap();
        assert_ne!(bits(&other), bits(&network));
        other.read_weights(&path).unwrap();
        assert_eq!(bits(&other), bits(&network));
        let first = fs::read(&path).unwrap();
        loaded.save(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), first);
    }
}

#[test]
fn tensors_have_the_names_and_shapes_that_are_documented() {
    let (_folder, path) = folder();
    Network::new(&paper().recurrent(), &mut rng(1))
        .unwrap()
        .save(&path)
        .unwrap();
    let file = fs::read(&path).unwrap();
    let file = SafeTensors::deserialize(&file).unwrap();
    let shape = |name: &str| file.tensor(name).unwrap().shape().to_vec();
    assert_eq!(shape("image.0.weight"), [16, 2, 2, 3]);
    assert_eq!(shape("image.5.bias"), [32]);
    assert_eq!(shape("indicators.0.weight"), [64, 4]);
    assert_eq!(shape("trunk.0.weight"), [64, 512 + 64 + 64]);
    assert_eq!(shape("trunk.4.weight_input"), [1024, 64]);
    assert_eq!(shape("trunk.4.weight_state"), [1024, 256]);
    assert_eq!(shape("trunk.4.bias"), [1024]);
    assert_eq!(shape("actor.weight"), [7, 256]);
    assert_eq!(shape("critic.weight"), [1, 256]);
}

/// Every truncation, and every file with one byte changed in the header, is an error or reads as the whole thing it says.
#[test]
fn damaged_files_are_errors_that_name_them() {
    let (_folder, path) = folder();
    network(TINY, 1).save(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let error = Network::load(&path).unwrap_err().to_string();
        assert!(error.contains("policy.safetensors"), "{error}");
    }
    let mut refused = 0;
    for place in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x15;
        fs::write(&path, &damaged).unwrap();
        if let Err(error) = Network::load(&path) {
            let error = error.to_string();
            assert!(error.contains("policy.safetensors"), "{error}");
            refused += 1;
        }
    }
    assert!(refused > 100, "only {refused} were refused");
    let (_folder, missing) = folder();
    let error = Network::load(&missing).unwrap_err().to_string();
    assert!(error.contains("policy.safetensors"), "{error}");
}

/// Writes a file by hand and says why the tiny network refuses it.
fn refusal(tensors: &[(&str, Dtype, &[usize])]) -> String {
    let (_folder, path) = folder();
    let data = [0; 64];
    let views = tensors.iter().map(|(name, dtype, shape)| {
        let size = shape.iter().product::<usize>() * dtype.bitsize() / 8;
        let view = TensorView::new(*dtype, shape.to_vec(), &data[..size]).unwrap();
        (*name, view)
    });
    fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
    let mut network = network(TINY, 1);
    let before = network.weights().to_vec();
    let error = network.read_weights(&path).unwrap_err().to_string();
    assert_eq!(network.weights(), before);
    let error = error.strip_prefix(path.to_str().unwrap()).unwrap();
    error.strip_prefix(": ").unwrap().to_owned()
}

#[test]
fn files_of_other_networks_are_refused() {
    let weight = ("actor.weight", Dtype::F32, [2, 3].as_slice());
    let bias = ("actor.bias", Dtype::F32, [2].as_slice());
    let value = ("critic.weight", Dtype::F32, [1, 3].as_slice());
    let value_bias = ("critic.bias", Dtype::F32, [1].as_slice());
    assert_eq!(refusal(&[weight, bias, value]), "no tensor `critic.bias`");
    assert_eq!(
        refusal(&[
            ("actor.weight", Dtype::F64, &[2, 3]),
            bias,
            value,
            value_bias
        ]),
        "tensor `actor.weight` is of F64, not F32"
    );
    assert_eq!(
        refusal(&[
            ("actor.weight", Dtype::F32, &[3, 2]),
            bias,
            value,
            value_bias
        ]),
        "tensor `actor.weight` has the shape [3, 2], not [2, 3]"
    );
    assert_eq!(
        refusal(&[
            weight,
            bias,
            value,
            value_bias,
            ("trunk.0.bias", Dtype::F32, &[1])
        ]),
        "tensor `trunk.0.bias` does not belong to this network"
    );
    let (_folder, path) = folder();
    let views: [(&str, TensorView<'_>); 0] = [];
    fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
    let error = Network::load(&path).unwrap_err().to_string();
    assert!(error.ends_with("its metadata has no `network`"), "{error}");
}

#[test]
fn saving_replaces_and_leaves_nothing_else_behind() {
    let (folder, path) = folder();
    network(TINY, 1).save(&path).unwrap();
    network(TINY, 2).save(&path).unwrap();
    assert_eq!(
        Network::load(&path).unwrap().weights(),
        network(TINY, 2).weights()
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let error = network(TINY, 1).save(&folder.path().join("none").join("policy"));
    assert!(error.unwrap_err().to_string().contains("policy"));
}
