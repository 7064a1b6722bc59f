//! The figures of the worlds: steps a second with labels and machines, alone and with a full observation.

use std::hint::black_box;
use std::sync::Arc;

use anyhow::Result;
use form_env::{GridWorlds, Maps, Split, Task, WorldOptions, Worlds};

use super::machine::Numbers;
use super::{Baseline, Benchmark, Row, median};

pub(super) const BENCHMARKS: [Benchmark; 2] = [
    Benchmark {
        name: "env.step",
        measure: step,
    },
    Benchmark {
        name: "env.step+observe",
        measure: step_and_observe,
    },
];

/// Worlds that are stepped together.
const WORLDS: usize = 4096;
/// Steps of each of them in one measurement.
const STEPS: usize = 1000;

/// What MiniGrid 3.2.0 did in the same room, on one core of the computer of book/src/performance.md.
const MINIGRID: Baseline = Baseline {
    value: 5_074.0,
    source: "MiniGrid with a full view, book/src/performance.md",
};

/// Steps a second of all tasks' worlds on all cores: labels, ground truth, new episodes.
fn step(name: &str) -> Result<Row> {
    Ok(Row::new(name, steps_a_second(|_| Ok(()))?, "steps/s"))
}

/// The same on one core, and after every step the full symbolic view of every world is written.
fn step_and_observe(name: &str) -> Result<Row> {
    let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut images = Vec::new();
    let value = one_core.install(|| {
        steps_a_second(|worlds| {
            images.resize(worlds.len() * worlds.spec().planes_len(), 0);
            worlds.observe_all(&mut images, &mut [])?;
            black_box(&images);
            Ok(())
        })
    })?;
    Ok(Row {
        baseline: Some(MINIGRID),
        ..Row::new(name, value, "steps/s")
    })
}

/// Random actions in the worlds of a task: the slowest of the paper's three.
fn steps_a_second(mut then: impl FnMut(&GridWorlds) -> Result<()> + Send) -> Result<f64> {
    let mut numbers = Numbers(0x5eed);
    let actions: Vec<u8> = (0..WORLDS + 64).map(|_| numbers.below(7) as u8).collect();
    let mut slowest = f64::INFINITY;
    for name in ["all-yellow", "green-but-one", "blue-all-yellow-7"] {
        let task = Arc::new(Task::builtin(name)?);
        let maps = Maps::Set(task.maps(7, Split::Training, 10)?);
        let mut worlds = GridWorlds::new(task, maps, WorldOptions::default(), WORLDS, 7)?;
        let seconds = median(3, || {
            for i in 0..STEPS {
                // Other actions every time, without drawing them anew.
                worlds.step(&actions[i % 64..][..WORLDS])?;
                worlds.next_episodes()?;
                then(&worlds)?;
            }
            Ok(())
        })?;
        slowest = slowest.min((STEPS * WORLDS) as f64 / seconds);
    }
    Ok(slowest)
}
