//! Many copies of one environment of any sort.

use std::sync::Arc;

use form_core::{AtomId, AtomSet, Signature, StepMode};
use rayon::prelude::*;

use super::worlds::{Worlds, check_actions, shares};
use crate::env::environment::Environment;
use crate::env::random::{Stream, generator};
use crate::env::spec::{Cell, EpisodeOutcome, Spec};
use crate::error::{Error, Result};

/// Many copies of an environment, stepped together.
///
/// ```
/// use form_env::{Copies, GridWorld, Maps, Split, Task, WorldOptions, Worlds};
/// let task = std::sync::Arc::new(Task::builtin("all-yellow")?);
/// let world = GridWorld::new(task, Maps::Fresh(Split::Training), WorldOptions::default())?;
/// let mut worlds = Copies::new(vec![world; 8], 7)?;
/// worlds.step(&[2; 8])?;
/// # Ok::<(), form_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Copies<E> {
    seed: u64,
    /// The number of the first of them, in a group of worlds that were taken apart.
    first: usize,
    copies: Vec<Copy<E>>,
}

#[derive(Clone, Debug)]
struct Copy<E> {
    environment: E,
    outcome: EpisodeOutcome,
    episode: u64,
}

impl<E: Environment> Copies<E> {
    /// The worlds, each at the start of its first episode.
    pub fn new(environments: Vec<E>, seed: u64) -> Result<Self> {
        if environments.is_empty() {
            return Err(Error::None { what: "worlds" });
        }
        let copies = (environments.into_iter())
            .map(|environment| Copy {
                environment,
                outcome: EpisodeOutcome::Running,
                episode: 0,
            })
            .collect();
        let mut worlds = Self {
            seed,
            first: 0,
            copies,
        };
        for world in 0..worlds.len() {
            worlds.start(world, 0)?;
        }
        Ok(worlds)
    }

    /// The environment of a world.
    pub fn environment(&self, world: usize) -> &E {
        &self.copies[world].environment
    }
}

impl<E: Environment> Worlds for Copies<E> {
    fn len(&self) -> usize {
        self.copies.len()
    }

    fn signature(&self) -> &Signature {
        self.copies[0].environment.signature()
    }

    fn own_signature(&self, world: usize) -> Option<&Arc<AtomSet>> {
        self.copies[world].environment.own_signature()
    }

    fn shared_signature(&self) -> Option<&Arc<AtomSet>> {
        self.copies[0].environment.shared_signature()
    }

    fn spec(&self) -> &Spec {
        self.copies[0].environment.spec()
    }

    fn actions(&self) -> &[String] {
        self.copies[0].environment.actions()
    }

    fn step(&mut self, actions: &[u8]) -> Result<()> {
        check_actions(actions, self.len(), self.actions().len())?;
        let worlds = self.copies.par_iter_mut().zip(actions);
        worlds.with_min_len(16).try_for_each(|(copy, action)| {
            copy.outcome = copy.environment.step(usize::from(*action))?;
            Ok(())
        })
    }

    fn outcome(&self, world: usize) -> EpisodeOutcome {
        self.copies[world].outcome
    }

    fn labels(&self, world: usize) -> &AtomSet {
        self.copies[world].environment.labels()
    }

    fn step_mode(&self) -> StepMode {
        self.copies[0].environment.step_mode()
    }

    fn observe(&self, world: usize, planes: &mut [u8], vector: &mut [f32]) {
        self.copies[world].environment.observe(planes, vector);
    }

    fn cell_of(&self, world: usize, atom: AtomId) -> Option<Cell> {
        self.copies[world].environment.cell_of(atom)
    }

    fn episode(&self, world: usize) -> u64 {
        self.copies[world].episode
    }

    fn start(&mut self, world: usize, episode: u64) -> Result<()> {
        let stream = Stream::Episode {
            world: (self.first + world) as u64,
            episode,
        };
        let copy = &mut self.copies[world];
        copy.environment.reset(&mut generator(self.seed, stream))?;
        copy.outcome = EpisodeOutcome::Running;
        copy.episode = episode;
        Ok(())
    }

    fn split(&mut self, most: usize) -> Vec<Self> {
        let (seed, mut first, mut left) = (self.seed, self.first, std::mem::take(&mut self.copies));
        let sizes = shares(left.len(), most);
        let group = |size: usize| {
            let after = left.split_off(size);
            let copies = std::mem::replace(&mut left, after);
            let group = Self {
                seed,
                first,
                copies,
            };
            first += size;
            group
        };
        sizes.map(group).collect()
    }

    fn join(&mut self, groups: Vec<Self>) {
        self.copies = groups.into_iter().flat_map(|group| group.copies).collect();
    }
}
