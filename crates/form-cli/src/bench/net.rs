//! The figures of the policies' networks: samples trained and judged a second on the paper's network, all cores.

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

/// How long a run lasts.
const TIME: Duration = Duration::from_millis(500);
/// How many runs there are.
const RUNS: usize = 5;

/// What PyTorch did with its best settings on the two cores of the computer of book/src/performance.md.
const PYTORCH: &str = "PyTorch's best settings on 2 cores, book/src/performance.md";

/// Samples trained a second at minibatch 4096: loss, gradient, its clipping and a step of Adam.
fn train(name: &str) -> Result<Row> {
    let mut work = Workload::paper(&mut generator(7, Stream::Other(0)))?;
    let value = rate(Workload::TRAINED, || work.train())?;
    Ok(row(name, value, 37_311.0))
}

/// Samples judged a second at batch 256.
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

/// Samples a second: the median of several runs, after one that warms up.
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
