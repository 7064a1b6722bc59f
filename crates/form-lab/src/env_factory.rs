//! Where a run takes place: something that can make worlds to train in, and others to be tested in.

use std::sync::Arc;

use anyhow::{Context, Result};
use form_core::Machine;
use form_env::{Copies, Environment, GridWorlds, Maps, Shortest, Split, Task, Worlds};

use crate::blind_spots::{BlindSpot, blind_spots};
use crate::config::{RunConfig, is_task_file};

/// Makes worlds.
pub trait EnvFactory: Sync {
    /// What it makes.
    type Worlds: Worlds;

    /// So many worlds. Their episodes are drawn from the seed; which maps they are played on is not.
    fn worlds(&self, count: usize, seed: u64, split: Split) -> Result<Self::Worlds>;

    /// The machine of those who know the task, for the method that is given one.
    fn truth(&self) -> Option<&Machine> {
        None
    }

    /// The number of the map that a world is on, where maps have numbers.
    fn map_number(&self, worlds: &Self::Worlds, world: usize) -> Option<usize> {
        let _ = (worlds, world);
        None
    }

    /// How few steps complete the task from where a world is, where there is a solver.
    fn shortest(&self, worlds: &Self::Worlds, world: usize) -> Option<Shortest> {
        let _ = (worlds, world);
        None
    }

    /// The most steps of an episode, where that is known.
    fn step_limit(&self) -> Option<u64> {
        None
    }

    /// What the policies of a machine would have to see and are not shown, state by state, for people.
    fn blind_spots(&self, machine: &Machine) -> Vec<BlindSpot> {
        let _ = machine;
        Vec::new()
    }

    /// The task as a file that a run keeps beside its configuration, where the task is not known by name.
    fn task_file(&self) -> Option<String> {
        None
    }
}

/// The grid worlds of a task.
#[derive(Clone, Debug)]
pub struct GridEnvFactory {
    task: Arc<Task>,
    config: RunConfig,
}

/// How many maps those who were not trained on are tested on, at least.
const HELD_OUT_MAPS: usize = 1000;

/// How many pairs of a pose and a situation the search for a shortest solution goes through: some tenths of a second.
const SEARCH_LIMIT: usize = 5_000_000;

impl GridEnvFactory {
    /// The worlds of a run.
    pub fn new(config: &RunConfig) -> Result<Self> {
        let found = Task::find(&config.task);
        let task = match is_task_file(&config.task) {
            true => found.context("cannot read the task")?,
            false => found?,
        };
        Ok(Self {
            task: Arc::new(task),
            config: config.clone(),
        })
    }

    /// The task.
    pub fn task(&self) -> &Arc<Task> {
        &self.task
    }

    /// Whether there are maps that no training run sees; a task with few different ones has none.
    pub fn holds_out(&self) -> bool {
        (self.task.map(self.config.seed, Split::HeldOut, 0)).is_ok()
    }

    /// The maps of a split, or that every episode draws its own.
    pub fn maps(&self, split: Split) -> Result<Maps> {
        let (layouts, seed) = (self.config.layouts, self.config.seed);
        Ok(match (split, layouts) {
            (Split::Training, 0) => Maps::Fresh(Split::Training),
            (Split::Training, _) => Maps::Set(self.task.maps(seed, split, layouts)?),
            (Split::HeldOut, _) => Maps::Set(self.task.maps(seed, split, HELD_OUT_MAPS)?),
        })
    }
}

impl EnvFactory for GridEnvFactory {
    type Worlds = GridWorlds;

    fn worlds(&self, count: usize, seed: u64, split: Split) -> Result<GridWorlds> {
        let options = self.config.world_options();
        let maps = self.maps(split)?;
        Ok(GridWorlds::new(
            self.task.clone(),
            maps,
            options,
            count,
            seed,
        )?)
    }

    fn truth(&self) -> Option<&Machine> {
        Some(&self.task.description().machine)
    }

    fn map_number(&self, worlds: &GridWorlds, world: usize) -> Option<usize> {
        worlds.map_number(world)
    }

    fn shortest(&self, worlds: &GridWorlds, world: usize) -> Option<Shortest> {
        Some(worlds.shortest(world, SEARCH_LIMIT))
    }

    fn step_limit(&self) -> Option<u64> {
        Some(u64::from(self.task.steps()))
    }

    fn blind_spots(&self, machine: &Machine) -> Vec<BlindSpot> {
        blind_spots(&self.config, &self.task, machine)
    }

    fn task_file(&self) -> Option<String> {
        is_task_file(&self.config.task).then(|| self.task.to_toml())
    }
}

/// Copies of an environment of any sort. It has no maps to hold out: it is tested with other seeds.
#[derive(Clone, Debug)]
pub struct CopiesEnvFactory<E> {
    environment: E,
    truth: Option<Machine>,
}

impl<E: Environment + Clone> CopiesEnvFactory<E> {
    /// Copies of this environment.
    pub fn new(environment: E) -> Self {
        Self {
            environment,
            truth: None,
        }
    }

    /// The same, with a machine for the method that is given one.
    #[must_use]
    pub fn with_truth(mut self, truth: Machine) -> Self {
        self.truth = Some(truth);
        self
    }
}

impl<E: Environment + Clone> EnvFactory for CopiesEnvFactory<E> {
    type Worlds = Copies<E>;

    fn worlds(&self, count: usize, seed: u64, split: Split) -> Result<Copies<E>> {
        let seed = match split {
            Split::Training => seed,
            Split::HeldOut => !seed,
        };
        Ok(Copies::new(vec![self.environment.clone(); count], seed)?)
    }

    fn truth(&self) -> Option<&Machine> {
        self.truth.as_ref()
    }
}
