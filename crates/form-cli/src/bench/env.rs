//! The rows about worlds: steps per second with labels and machines, with and without observations; shortest solutions.

use std::sync::Arc;

use anyhow::{Result, bail};
use form_env::speed::{Workload, shortest_by_copies};
use form_env::{GridWorld, GridWorlds, Maps, Shortest, Split, Task, WorldOptions, shortest};

use super::{Baseline, Benchmark, Row, median};

pub(super) const BENCHMARKS: [Benchmark; 3] = [
    Benchmark {
        name: "env.step",
        measure: step,
    },
    Benchmark {
        name: "env.step+observe",
        measure: step_and_observe,
    },
    Benchmark {
        name: "env.shortest",
        measure: shortest_solutions,
    },
];

/// MiniGrid 3.2.0 in the same room, on one core of the computer of book/src/performance.md.
const MINIGRID: Baseline = Baseline {
    value: 5_074.0,
    source: "MiniGrid with a full view, book/src/performance.md",
};

/// Steps per second on all cores: labels, ground truth, new episodes.
fn step(name: &str) -> Result<Row> {
    let value = steps_per_second(Workload::step)?;
    Ok(Row::new(name, value, "steps/s"))
}

/// Steps per second on one core, with the full symbolic observation after every step.
fn step_and_observe(name: &str) -> Result<Row> {
    let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let value = one_core.install(|| steps_per_second(Workload::step_and_observe))?;
    Ok(Row {
        baseline: Some(MINIGRID),
        ..Row::new(name, value, "steps/s")
    })
}

/// Random actions; the slowest of the paper's three tasks.
fn steps_per_second(step: fn(&mut Workload) -> form_env::Result<()>) -> Result<f64> {
    let mut slowest = f64::INFINITY;
    for task in ["all-yellow", "green-but-one", "blue-all-yellow-7"] {
        let mut work = Workload::new(task)?;
        let seconds = median(3, || Ok(step(&mut work)?))?;
        slowest = slowest.min((Workload::STEPS * Workload::WORLDS) as f64 / seconds);
    }
    Ok(slowest)
}

/// Shortest solutions per second on one core with six yellow checkpoints, beside a search that steps copies of the world.
fn shortest_solutions(name: &str) -> Result<Row> {
    const EPISODES: usize = 100;
    let task = Arc::new(Task::builtin("all-yellow-6")?);
    let maps = Maps::Set(task.maps(7, Split::Training, EPISODES)?);
    let worlds = GridWorlds::new(task, maps, WorldOptions::default(), EPISODES, 7)?;
    let starts: Vec<GridWorld> = (0..EPISODES)
        .map(|world| worlds.copy_of(world))
        .collect::<Result<_, _>>()?;
    let mut found = Vec::new();
    let seconds = median(3, || {
        found = starts
            .iter()
            .map(|world| shortest(world, usize::MAX))
            .collect();
        Ok(())
    })?;
    let mut expected = Shortest::Impossible;
    let plain = median(1, || {
        expected = shortest_by_copies(&starts[0])?;
        Ok(())
    })?;
    if found[0] != expected {
        bail!("the two searches disagree: {:?} and {expected:?}", found[0]);
    }
    let baseline = Baseline {
        value: 1.0 / plain,
        source: "a breadth-first search that steps copies of the world, in the same run",
    };
    Ok(Row {
        baseline: Some(baseline),
        ..Row::new(name, EPISODES as f64 / seconds, "/s")
    })
}
