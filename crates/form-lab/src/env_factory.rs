//! The environments of a run: a factory of worlds for training and for evaluation.

use std::sync::Arc;

use anyhow::{Context, Result};
use form_core::Machine;
use form_env::{Copies, Environment, GridWorlds, Maps, Shortest, Split, Task, Worlds};

use crate::blind_spots::{BlindSpot, blind_spots};
use crate::config::{RunConfig, is_task_file};
use crate::ground_truth;

/// Makes the worlds of a run.
pub trait EnvFactory: Sync {
    /// A vector of worlds.
    type Worlds: Worlds;

    /// Makes `count` worlds. The seed determines starts and dynamics; the maps do not depend on it.
    fn worlds(&self, count: usize, seed: u64, split: Split) -> Result<Self::Worlds>;

    /// The ground-truth machine, for the method `handcrafted`.
    fn truth(&self) -> Option<&Machine> {
        None
    }

    /// The number of the current map of a world, if maps are numbered.
    fn map_number(&self, worlds: &Self::Worlds, world: usize) -> Option<usize> {
        let _ = (worlds, world);
        None
    }

    /// The length of a shortest solution from the current state of a world, if there is a solver; a lower bound if it has visited
    /// `limit` nodes before.
    fn shortest(&self, worlds: &Self::Worlds, world: usize, limit: usize) -> Option<Shortest> {
        let _ = (worlds, world, limit);
        None
    }

    /// The step limit of an episode, if it is known.
    fn step_limit(&self) -> Option<u64> {
        None
    }

    /// What the observations hide from the policies of a machine, as hints for the user.
    fn blind_spots(&self, machine: &Machine) -> Vec<BlindSpot> {
        let _ = machine;
        Vec::new()
    }

    /// A shortest trace on which a machine differs from the ground truth in what can be observed; empty if they are equivalent, and none
    /// if that is not known.
    fn difference(&self, machine: &Machine) -> Option<Vec<String>> {
        let _ = machine;
        None
    }

    /// The text of the task file, which a run keeps in its folder; none for built-in tasks.
    fn task_file(&self) -> Option<String> {
        None
    }
}

/// Makes the grid worlds of a task.
#[derive(Clone, Debug)]
pub struct GridEnvFactory {
    task: Arc<Task>,
    config: RunConfig,
}

/// The number of held-out maps.
const HELD_OUT_MAPS: usize = 1000;

impl GridEnvFactory {
    /// The factory of a configuration.
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

    /// The factory of a task that is no file, for a configuration.
    pub fn of(task: Arc<Task>, config: &RunConfig) -> Self {
        Self {
            task,
            config: config.clone(),
        }
    }

    /// The task.
    pub fn task(&self) -> &Arc<Task> {
        &self.task
    }

    /// Whether maps can be held out from training; a task with few different maps has none to spare.
    pub fn holds_out(&self) -> bool {
        (self.task.map(self.config.seed, Split::HeldOut, 0)).is_ok()
    }

    /// The maps of a split: a fixed set, or a new map per episode.
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

    fn shortest(&self, worlds: &GridWorlds, world: usize, limit: usize) -> Option<Shortest> {
        Some(worlds.shortest(world, limit))
    }

    fn step_limit(&self) -> Option<u64> {
        Some(u64::from(self.task.steps()))
    }

    fn blind_spots(&self, machine: &Machine) -> Vec<BlindSpot> {
        blind_spots(&self.config, &self.task, machine)
    }

    fn difference(&self, machine: &Machine) -> Option<Vec<String>> {
        ground_truth::difference_from_truth(&self.task, machine)
    }

    fn task_file(&self) -> Option<String> {
        is_task_file(&self.config.task).then(|| self.task.to_toml())
    }
}

/// Makes copies of any environment. Without maps to hold out, held-out worlds have other seeds.
#[derive(Clone, Debug)]
pub struct CopiesEnvFactory<E> {
    environment: E,
    truth: Option<Machine>,
}

impl<E: Environment + Clone> CopiesEnvFactory<E> {
    /// Copies `environment`.
    pub fn new(environment: E) -> Self {
        Self {
            environment,
            truth: None,
        }
    }

    /// Adds a ground-truth machine, for the method `handcrafted`.
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
