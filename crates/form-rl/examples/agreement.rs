//! Writes down what networks, loss, gradient and ten steps of training come to, for `tests/torch/agreement.py` to compare with
//! PyTorch.
//!
//! `cargo run --release -p form-rl --example agreement -- FOLDER`; without a folder, into a temporary one. For every network a
//! folder: the network's file, what was collected (`data.safetensors`; the settings and the parts of the loss stand in its
//! metadata), and for both kinds of value clipping the gradients and the weights after ten steps, as networks' files.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use form_rl::{
    Adam, Batch, Engine, LayerConfig, Network, NetworkConfig, Outputs, PpoConfig, PpoLoss, Samples,
    ValueClip, update,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

const STEPS: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let temporary = tempfile::tempdir()?;
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = given.unwrap_or_else(|| temporary.path().to_owned());
    let paper = NetworkConfig::paper([13, 13, 3], &[("indicators", 4), ("machine", 4)], 7);
    // Seeds with which no sample comes to stand on a kink of network or loss, where rounding would decide.
    let byte = |rng: &mut Pcg64Mcg| rng.random_range(0..8);
    write(&folder.join("paper"), &paper, [200, 1], 1, byte)?;
    write(&folder.join("relu"), &relu(), [40, 1], 2, byte)?;
    write(
        &folder.join("recurrent"),
        &paper.recurrent(),
        [37, 12],
        6,
        byte,
    )?;
    let planes = NetworkConfig::paper([13, 13, 14], &[], 3);
    let rare = |rng: &mut Pcg64Mcg| u8::from(rng.random_range(0..20) == 0);
    write(&folder.join("planes"), &planes, [200, 1], 2, rare)
}

/// Relu, normalised inputs, and kernels, windows and strides other than the paper's. Small: every unit has a kink, and steps
/// from weights on either side of one soon lead far apart.
fn relu() -> NetworkConfig {
    let mut config = NetworkConfig::paper([11, 13, 5], &[("indicators", 3), ("machine", 6)], 4);
    let dense = [LayerConfig::Dense { units: 8 }, LayerConfig::Relu];
    if let Some(image) = &mut config.image {
        image.normalise = true;
        let conv = |filters, kernel, stride| LayerConfig::Conv {
            filters,
            kernel,
            stride,
        };
        let (window, stride) = ([3, 2], 1);
        image.layers = vec![
            conv(4, [2, 3], 1),
            LayerConfig::MaxPool { window, stride },
            LayerConfig::Relu,
            conv(6, [3, 2], 2),
            LayerConfig::Relu,
        ];
    }
    for vector in &mut config.vectors {
        vector.normalise = vector.name == "machine";
        vector.layers = dense.to_vec();
    }
    config.trunk = [dense.clone(), dense].concat();
    config
}

/// Samples as a policy that has moved on since would have left them: every bound of the loss holds for some of them.
fn write(
    folder: &Path,
    config: &NetworkConfig,
    [sequences, steps]: [usize; 2],
    seed: u64,
    byte: impl Fn(&mut Pcg64Mcg) -> u8,
) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut network = Network::new(config, &mut rng)?;
    let count = sequences * steps;
    let images: Vec<u8> = (0..count * network.image_len())
        .map(|_| byte(&mut rng))
        .collect();
    let actions: Vec<usize> = (0..count)
        .map(|_| rng.random_range(0..network.actions()))
        .collect();
    let mut numbers = |count, size: f32| -> Vec<f32> {
        let number = |_| size * (2.0 * rng.random::<f32>() - 1.0);
        (0..count).map(number).collect()
    };
    let vectors = numbers(count * network.vector_len(), 2.0);
    let states = numbers(count / steps * network.state(), 0.8);
    let advantages = numbers(count, 2.0);
    let starts: Vec<bool> = (0..count).map(|place| place % 7 == 3).collect();
    network.observe_statistics(&images, &vectors)?;
    let batch = Batch {
        starts: &starts,
        states: &states,
        steps,
        ..Batch::all(&images, &vectors)
    };
    let mut engine = Engine::new(&network, steps);
    let mut outputs = Outputs::default();
    engine.evaluate(&network, &batch, &mut outputs)?;
    let mut near = |outputs: &[f32], size| -> Vec<f32> {
        let noise = numbers(outputs.len(), size);
        outputs.iter().zip(noise).map(|(x, y)| x + y).collect()
    };
    let samples = Samples {
        images: &images,
        vectors: &vectors,
        actions: &actions,
        logits: &near(&outputs.logits, 0.4),
        values: &near(&outputs.values, 0.3),
        advantages: &advantages,
        returns: &near(&outputs.values, 0.6),
        steps,
        starts: &starts,
        states: &states,
    };
    network.save(&folder.join("network.safetensors"))?;
    let mut report = json!({ "steps": steps });
    for (form, name) in [(ValueClip::Error, "error"), (ValueClip::Change, "change")] {
        let settings = PpoConfig {
            value_clip_of: form,
            epochs: STEPS,
            minibatch: count,
            gradient_clip: 0.01,
            ..PpoConfig::default()
        };
        report[name] = train(folder, name, &network, &mut engine, &samples, &settings)?;
    }
    write_data(folder, &samples, &outputs, &report)
}

/// The loss and its gradient, then ten steps.
fn train(
    folder: &Path,
    name: &str,
    network: &Network,
    engine: &mut Engine,
    samples: &Samples<'_>,
    settings: &PpoConfig,
) -> Result<Value, Box<dyn Error>> {
    let mut network = network.clone();
    let before = network.weights().to_vec();
    let mut kl_coefficient = settings.kl_coefficient;
    let count = samples.actions.len();
    let loss = PpoLoss {
        config: settings,
        samples,
        kl_coefficient,
        count,
    };
    let batch = Batch {
        starts: samples.starts,
        states: samples.states,
        steps: samples.steps,
        ..Batch::all(samples.images, samples.vectors)
    };
    let sums = engine.gradient(&network, &batch, &loss)?;
    let mean = |sum: f64| sum / count as f64;
    // A gradient has as many numbers as the network: its file names them.
    (network.weights_mut()).copy_from_slice(engine.last_gradient());
    network.save(&folder.join(format!("gradient-{name}.safetensors")))?;
    network.weights_mut().copy_from_slice(&before);
    let mut adam = Adam::new(before.len(), settings.learning_rate);
    // All samples are one minibatch: their order does not matter.
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let trained = update(
        &mut network,
        engine,
        &mut adam,
        samples,
        settings,
        &mut kl_coefficient,
        &mut rng,
    )?;
    network.save(&folder.join(format!("trained-{name}.safetensors")))?;
    Ok(json!({
        "settings": settings,
        "loss": {
            "policy": mean(sums.policy),
            "value": mean(sums.value),
            "entropy": mean(sums.entropy),
            "kl": mean(sums.kl),
            "clipped": mean(sums.clipped),
            "total": mean(sums.total),
        },
        "trained": {
            "policy": trained.policy_loss,
            "value": trained.value_loss,
            "entropy": trained.entropy,
            "kl": trained.kl,
            "clipped": trained.clipped,
            "gradient": trained.gradient,
        },
    }))
}

/// What was collected and what the network said about it.
fn write_data(
    folder: &Path,
    samples: &Samples<'_>,
    outputs: &Outputs,
    report: &Value,
) -> Result<(), Box<dyn Error>> {
    let count = samples.actions.len();
    let numbers = |numbers: &[f32]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let actions = samples.actions.iter().map(|action| *action as i64);
    let starts = samples.starts.iter().map(|start| u8::from(*start));
    let tensors: [(&str, Dtype, Vec<u8>); 12] = [
        ("images", Dtype::U8, samples.images.to_vec()),
        ("vectors", Dtype::F32, numbers(samples.vectors)),
        (
            "actions",
            Dtype::I64,
            actions.flat_map(i64::to_le_bytes).collect(),
        ),
        ("logits", Dtype::F32, numbers(samples.logits)),
        ("values", Dtype::F32, numbers(samples.values)),
        ("advantages", Dtype::F32, numbers(samples.advantages)),
        ("returns", Dtype::F32, numbers(samples.returns)),
        ("starts", Dtype::U8, starts.collect()),
        ("states", Dtype::F32, numbers(samples.states)),
        ("output_logits", Dtype::F32, numbers(&outputs.logits)),
        ("output_values", Dtype::F32, numbers(&outputs.values)),
        ("output_states", Dtype::F32, numbers(&outputs.states)),
    ];
    let mut views = Vec::new();
    for (name, dtype, bytes) in &tensors {
        let length = bytes.len() / (dtype.bitsize() / 8);
        // Recurrent states have a row a sequence, all else a row a sample.
        let rows = match name.ends_with("states") {
            true => count / samples.steps,
            false => count,
        };
        let shape = match length / rows {
            1 => vec![rows],
            columns => vec![rows, columns],
        };
        views.push((*name, TensorView::new(*dtype, shape, bytes)?));
    }
    let metadata = HashMap::from([("report".to_owned(), report.to_string())]);
    let file = safetensors::serialize(views, Some(metadata))?;
    Ok(fs::write(folder.join("data.safetensors"), file)?)
}
