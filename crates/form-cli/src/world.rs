//! The world that a command is about: a task, and one of its maps.

use std::sync::Arc;

use anyhow::Result;
use form_env::{GridWorld, Map, Maps, Split, Starts, Task, WorldOptions};

/// A task and one of its maps
#[derive(clap::Args)]
pub struct WorldArgs {
    /// A built-in task (see `form tasks`), or a task file that ends in .toml
    pub task: String,
    /// The seed that maps are drawn from
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// The number of the map, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub map: u64,
    /// A held-out map: one that no training run sees
    #[arg(long)]
    pub held_out: bool,
}

impl WorldArgs {
    /// The task.
    pub fn task(&self) -> Result<Arc<Task>> {
        Ok(Arc::new(Task::find(&self.task)?))
    }

    /// A map of the task.
    pub fn map(&self, task: &Task, number: u64) -> Result<Map> {
        let split = if self.held_out {
            Split::HeldOut
        } else {
            Split::Training
        };
        Ok(task.map(self.seed, split, number)?)
    }

    /// A world at the start of an episode on the map of this number.
    pub fn start(&self, task: &Arc<Task>, number: u64) -> Result<GridWorld> {
        let map = self.map(task, number)?;
        let maps = Maps::Set([map].into());
        let options = WorldOptions {
            starts: Starts::OfTheMap,
            ..WorldOptions::default()
        };
        // So a world is where its map says from the beginning.
        Ok(GridWorld::new(task.clone(), maps, options)?)
    }
}
