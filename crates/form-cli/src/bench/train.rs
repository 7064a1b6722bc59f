//! The row about training end to end: environment steps per second, with labels, machine and 20 epochs of minibatch 4096.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use form_lab::{GridEnvFactory, Method, Preset, RunConfig, Trainer};

use super::{Baseline, Benchmark, Row};

pub(super) const BENCHMARKS: [Benchmark; 1] = [Benchmark {
    name: "train.end-to-end",
    measure: end_to_end,
}];

/// The warm-up iterations: until episodes have ended, samples are held back.
const WARM_UP: usize = 2;
/// The measured iterations.
const MEASURED: usize = 3;

/// A run of the preset `paper` on all-yellow with a given machine, observed as MiniGrid's numbers, as what it is compared with: only rollouts
/// and updates are measured.
fn end_to_end(name: &str) -> Result<Row> {
    let mut config = RunConfig::new("all-yellow", Method::Handcrafted, Preset::Paper);
    config.set("view", "symbols")?;
    config.set("actions", "all")?;
    let steps = (config.steps() * config.worlds) as f64;
    let envs = GridEnvFactory::new(&config)?;
    let mut run = Trainer::new(config, envs, Arc::default())?;
    let (mut rates, mut samples) = (Vec::new(), 0);
    for iteration in 0..WARM_UP + MEASURED {
        let start = Instant::now();
        let done = run.iterate()?.context("the run was interrupted")?;
        if iteration >= WARM_UP {
            rates.push(steps / start.elapsed().as_secs_f64());
            samples += done.policies.iter().map(|row| row.samples).sum::<u64>();
        }
    }
    let share = samples as f64 / (steps * MEASURED as f64);
    let value = super::middle(rates);
    let baseline = Baseline {
        value: 971.0,
        source: "Stable-Baselines3 on MiniGrid on 2 cores, book/src/performance.md",
    };
    Ok(Row {
        baseline: Some(baseline),
        note: Some(format!(
            "{share:.2} samples trained per step, 20 epochs each"
        )),
        ..Row::new(name, value, "steps/s")
    })
}
