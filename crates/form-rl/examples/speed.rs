//! Samples a second through the paper's network: trained at minibatch 4096, judged at batch 256, and what share of the
//! processor's peak training reaches. Once for images of three numbers a cell, once for planes of mostly zeros.
//!
//! `cargo run --release -p form-rl --example speed -- SECONDS [avx2]`: so long for each figure, the best of three counts; `avx2` does
//! without AVX-512. The number of threads is rayon's: `RAYON_NUM_THREADS`.

use std::time::{Duration, Instant};

use form_rl::{Workload, only_avx2, peak_flops};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

fn main() -> form_rl::Result<()> {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    if std::env::args().nth(2).is_some_and(|set| set == "avx2") {
        only_avx2();
    }
    let time = Duration::from_secs_f64(seconds.unwrap_or(0.2));
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let (trained, judged) = measure(Workload::paper(&mut rng)?, time)?;
    let (trained_planes, judged_planes) = measure(Workload::planes(&mut rng)?, time)?;
    let threads = rayon::current_num_threads();
    let peak = (0..3)
        .map(|_| peak_flops(threads, time))
        .fold(0.0, f64::max);
    let share = 100.0 * trained * Workload::FLOPS / peak;
    show("threads", threads as f64, "");
    show("peak", peak / 1e9, "GFLOP/s");
    show("training, minibatch 4096", trained, "samples/s");
    show("share of the peak", share, "%");
    show("inference, batch 256", judged, "samples/s");
    show("planes: training", trained_planes, "samples/s");
    show("planes: inference", judged_planes, "samples/s");
    Ok(())
}

/// Samples a second trained, and judged.
fn measure(mut work: Workload, time: Duration) -> form_rl::Result<(f64, f64)> {
    let trained = rate(time, Workload::TRAINED, || work.train())?;
    Ok((
        trained,
        rate(time, Workload::EVALUATED, || work.evaluate())?,
    ))
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
