//! The rows about worlds: steps per second with labels and machines, with and without observations; shortest solutions.

use std::collections::{HashSet, VecDeque};
use std::hint::black_box;
use std::sync::Arc;

use anyhow::{Result, bail};
use form_env::{
    Action, Environment, EpisodeOutcome, GridWorld, GridWorlds, Maps, Shortest, Split, Task,
    WorldOptions, Worlds, shortest,
};
use rayon::prelude::*;

use super::machine::Numbers;
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

/// The number of parallel worlds.
const WORLDS: usize = 4096;
/// The steps per world and measurement.
const STEPS: usize = 1000;
/// After this number of steps, actions are the same again.
const OTHERS: usize = 64;

/// MiniGrid 3.2.0 in the same room, on one core of the computer of book/src/performance.md.
const MINIGRID: Baseline = Baseline {
    value: 5_074.0,
    source: "MiniGrid with a full view, book/src/performance.md",
};

/// Steps per second on all cores: labels, ground truth, new episodes. Each core steps a part of the worlds, as in training.
fn step(name: &str) -> Result<Row> {
    let parts = rayon::current_num_threads();
    let value = steps_per_second(|worlds, actions| {
        let mut parts = worlds.split(parts);
        let ends = parts.iter().scan(0, |end, part| {
            *end += part.len();
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        (parts.par_iter_mut().zip(&ends)).try_for_each(|(part, end)| -> Result<()> {
            for i in 0..STEPS {
                part.step(&actions[i % OTHERS + end - part.len()..][..part.len()])?;
                part.next_episodes()?;
            }
            Ok(())
        })?;
        worlds.join(parts);
        Ok(())
    })?;
    Ok(Row::new(name, value, "steps/s"))
}

/// Steps per second on one core, with the full symbolic observation after every step.
fn step_and_observe(name: &str) -> Result<Row> {
    let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut images = Vec::new();
    let value = one_core.install(|| {
        steps_per_second(|worlds, actions| {
            images.resize(worlds.len() * worlds.spec().planes_len(), 0);
            for i in 0..STEPS {
                worlds.step(&actions[i % OTHERS..][..WORLDS])?;
                worlds.next_episodes()?;
                worlds.observe_all(&mut images, &mut [])?;
                black_box(&images);
            }
            Ok(())
        })
    })?;
    Ok(Row {
        baseline: Some(MINIGRID),
        ..Row::new(name, value, "steps/s")
    })
}

/// Random actions; the slowest of the paper's three tasks. `run` takes all steps; from step to step, actions begin one place later.
fn steps_per_second(
    mut run: impl FnMut(&mut GridWorlds, &[u8]) -> Result<()> + Send,
) -> Result<f64> {
    let mut numbers = Numbers(0x5eed);
    let actions: Vec<u8> = (0..WORLDS + OTHERS)
        .map(|_| numbers.below(7) as u8)
        .collect();
    let mut slowest = f64::INFINITY;
    for name in ["all-yellow", "green-but-one", "blue-all-yellow-7"] {
        let task = Arc::new(Task::builtin(name)?);
        let maps = Maps::Set(task.maps(7, Split::Training, 10)?);
        let mut worlds = GridWorlds::new(task, maps, WorldOptions::default(), WORLDS, 7)?;
        let seconds = median(3, || run(&mut worlds, &actions))?;
        slowest = slowest.min((STEPS * WORLDS) as f64 / seconds);
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
        expected = by_copies(&starts[0])?;
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

/// The length of a shortest solution by stepping copies of the world.
fn by_copies(start: &GridWorld) -> Result<Shortest> {
    let key = |world: &GridWorld| {
        let (agent, truth) = ((world.agent(), world.direction()), world.truth());
        let (seen, newest) = (truth.seen().clone(), truth.newest().clone());
        (agent, truth.state(), seen, newest)
    };
    let mut known = HashSet::from([key(start)]);
    let mut open = VecDeque::from([start.clone()]);
    while let Some(world) = open.pop_front() {
        for action in 0..Action::MOVES {
            let mut after = world.clone();
            match after.step(action)? {
                EpisodeOutcome::Goal => return Ok(Shortest::Exactly(after.steps() as usize)),
                EpisodeOutcome::Running if known.insert(key(&after)) => open.push_back(after),
                _ => {}
            }
        }
    }
    Ok(Shortest::Impossible)
}
