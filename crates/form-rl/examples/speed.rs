//! Samples a second through the paper's network: trained at minibatch 4096, judged at batch 256, and what share of the
//! processor's matrix peak training reaches.
//!
//! `cargo run --release -p form-rl --example speed -- SECONDS`: so long for each figure, the best of three counts. The number of
//! threads is rayon's: `RAYON_NUM_THREADS`.

use std::time::{Duration, Instant};

use form_rl::{
    Adam, Batch, Engine, Network, NetworkConfig, Outputs, PpoConfig, PpoLoss, Samples,
    clip_gradient, matrix_flops,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

const MINIBATCH: usize = 4096;
const INFERENCE: usize = 256;

/// Floating-point operations a trained sample: forward, and twice as much backward except into the image.
const TRAINED: f64 = 1.09e6;

fn main() -> form_rl::Result<()> {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let time = Duration::from_secs_f64(seconds.unwrap_or(0.2));
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let config = NetworkConfig::paper([13, 13, 3], &[("indicators", 4), ("machine", 4)], 7);
    let mut network = Network::new(&config, &mut rng)?;
    let mut engine = Engine::new(&network, 1);
    let mut numbers = |count| -> Vec<f32> { (0..count).map(|_| rng.random()).collect() };
    let vectors = numbers(MINIBATCH * network.vector_len());
    let (advantages, returns) = (numbers(MINIBATCH), numbers(MINIBATCH));
    let images: Vec<u8> = (0..MINIBATCH * network.image_len())
        .map(|_| rng.random_range(0..6))
        .collect();
    let batch = Batch::all(&images, &vectors);
    let mut outputs = Outputs::default();
    engine.evaluate(&network, &batch, &mut outputs)?;
    let actions: Vec<usize> = (0..MINIBATCH).map(|place| place % 7).collect();
    let samples = Samples {
        images: &images,
        vectors: &vectors,
        actions: &actions,
        logits: &outputs.logits,
        values: &outputs.values,
        advantages: &advantages,
        returns: &returns,
        steps: 1,
        ..Samples::default()
    };

    let settings = PpoConfig::default();
    let mut adam = Adam::new(network.weights().len(), settings.learning_rate);
    let loss = PpoLoss {
        config: &settings,
        samples: &samples,
        kl_coefficient: settings.kl_coefficient,
        count: MINIBATCH,
    };
    let trained = rate(time, MINIBATCH, || {
        engine.gradient(&network, &batch, &loss)?;
        clip_gradient(engine.last_gradient_mut(), settings.gradient_clip);
        adam.step(network.weights_mut(), engine.last_gradient())
    })?;
    let few = Batch::all(
        &images[..INFERENCE * network.image_len()],
        &vectors[..INFERENCE * network.vector_len()],
    );
    let mut judged_outputs = Outputs::default();
    let judged = rate(time, INFERENCE, || {
        engine.evaluate(&network, &few, &mut judged_outputs)
    })?;
    let threads = rayon::current_num_threads();
    let peak = (0..3)
        .map(|_| matrix_flops(threads, time))
        .fold(0.0, f64::max);
    show("weights", network.weights().len() as f64, "");
    show("threads", threads as f64, "");
    show("matrix peak", peak / 1e9, "GFLOP/s");
    show("training, minibatch 4096", trained, "samples/s");
    show("share of the peak", 100.0 * trained * TRAINED / peak, "%");
    show("inference, batch 256", judged, "samples/s");
    Ok(())
}

/// Samples a second, the best of three rounds.
fn rate(
    time: Duration,
    samples: usize,
    mut run: impl FnMut() -> form_rl::Result<()>,
) -> form_rl::Result<f64> {
    let mut best: f64 = 0.0;
    for _ in 0..3 {
        let (start, mut rounds) = (Instant::now(), 0);
        while rounds == 0 || start.elapsed() < time {
            run()?;
            rounds += 1;
        }
        best = best.max((rounds * samples) as f64 / start.elapsed().as_secs_f64());
    }
    Ok(best)
}

#[expect(clippy::print_stdout, reason = "what an example is for")]
fn show(what: &str, figure: f64, unit: &str) {
    println!("{what:26} {figure:10.0} {unit}");
}
