//! The rows about networks: samples trained and evaluated per second with the paper's network, on all cores.

use std::time::{Duration, Instant};

use anyhow::Result;
use form_env::{Stream, generator};
use form_rl::Workload;

use super::{Baseline, Benchmark, Row};

pub(super) const BENCHMARKS: [Benchmark; 2] = [
    Benchmark {
        name: "net.train",
        measure: train,
    },
    Benchmark {
        name: "net.infer",
        measure: judge,
    },
];

/// The duration of one run.
const TIME: Duration = Duration::from_millis(500);
/// The number of runs.
const RUNS: usize = 5;

/// PyTorch with its best settings on the two cores of the computer of book/src/performance.md.
const PYTORCH: &str = "PyTorch's best settings on 2 cores, book/src/performance.md";

/// Samples trained per second with minibatch 4096: loss, gradient, clipping and a step of Adam.
fn train(name: &str) -> Result<Row> {
    let mut work = Workload::paper(&mut generator(7, Stream::Other(0)))?;
    let value = rate(Workload::TRAINED, || work.train())?;
    Ok(row(name, value, 37_311.0))
}

/// Samples evaluated per second with batch 256.
fn judge(name: &str) -> Result<Row> {
    let mut work = Workload::paper(&mut generator(7, Stream::Other(0)))?;
    let value = rate(Workload::EVALUATED, || work.evaluate())?;
    Ok(row(name, value, 120_768.0))
}

fn row(name: &str, value: f64, pytorch: f64) -> Row {
    let baseline = Baseline {
        value: pytorch,
        source: PYTORCH,
    };
    Row {
        baseline: Some(baseline),
        ..Row::new(name, value, "samples/s")
    }
}

/// Samples per second: the median of several runs after a warm-up.
fn rate(samples: usize, mut work: impl FnMut() -> form_rl::Result<()>) -> Result<f64> {
    let mut rates = Vec::with_capacity(RUNS);
    work()?;
    for _ in 0..RUNS {
        let (start, mut calls) = (Instant::now(), 0);
        while calls == 0 || start.elapsed() < TIME {
            work()?;
            calls += 1;
        }
        rates.push((calls * samples) as f64 / start.elapsed().as_secs_f64());
    }
    Ok(super::middle(rates))
}
