//! Work for benchmarks of worlds, here so that it is optimised as worlds are: many worlds with random actions, and shortest solutions
//! by stepping copies of a world.

use std::collections::{HashSet, VecDeque};
use std::hint::black_box;
use std::sync::Arc;

use form_core::speed::Numbers;
use rayon::prelude::*;

use crate::{
    Action, Environment, EpisodeOutcome, GridWorld, GridWorlds, Maps, Result, Shortest, Split,
    Task, WorldOptions, Worlds,
};

/// After this number of steps, actions are the same again.
const OTHERS: usize = 64;

/// Worlds of a task, and random actions; from step to step, actions begin one place later.
#[derive(Debug)]
pub struct Workload {
    worlds: GridWorlds,
    actions: Vec<u8>,
    images: Vec<u8>,
}

impl Workload {
    /// The number of worlds.
    pub const WORLDS: usize = 4096;
    /// The steps of each world at a time.
    pub const STEPS: usize = 1000;

    /// Worlds of a built-in task.
    pub fn new(task: &str) -> Result<Self> {
        let task = Arc::new(Task::builtin(task)?);
        let maps = Maps::Set(task.maps(7, Split::Training, 10)?);
        let mut numbers = Numbers(0x5eed);
        Ok(Self {
            worlds: GridWorlds::new(task, maps, WorldOptions::default(), Self::WORLDS, 7)?,
            actions: (0..Self::WORLDS + OTHERS)
                .map(|_| numbers.below(7) as u8)
                .collect(),
            images: Vec::new(),
        })
    }

    /// Labels, ground truth, new episodes: each thread steps a part of the worlds, as in training.
    pub fn step(&mut self) -> Result<()> {
        let mut parts = self.worlds.split(rayon::current_num_threads());
        let ends = parts.iter().scan(0, |end, part| {
            *end += part.len();
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        let actions = &self.actions;
        (parts.par_iter_mut().zip(&ends)).try_for_each(|(part, end)| -> Result<()> {
            for i in 0..Self::STEPS {
                part.step(&actions[i % OTHERS + end - part.len()..][..part.len()])?;
                part.next_episodes()?;
            }
            Ok(())
        })?;
        self.worlds.join(parts);
        Ok(())
    }

    /// Steps all worlds together, with the full symbolic observation after every step.
    pub fn step_and_observe(&mut self) -> Result<()> {
        let worlds = &mut self.worlds;
        self.images
            .resize(worlds.len() * worlds.spec().planes_len(), 0);
        for i in 0..Self::STEPS {
            worlds.step(&self.actions[i % OTHERS..][..Self::WORLDS])?;
            worlds.next_episodes()?;
            worlds.observe_all(&mut self.images, &mut [])?;
            black_box(&self.images);
        }
        Ok(())
    }
}

/// The length of a shortest solution by a breadth-first search that steps copies of the world.
pub fn shortest_by_copies(start: &GridWorld) -> Result<Shortest> {
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
