//! The world that a command is about: a task, and one of its maps.

use std::ffi::OsStr;
use std::sync::Arc;

use anyhow::Result;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use form_env::{GridWorld, Map, Maps, Split, Starts, Task, WorldOptions, builtin_tasks};

use crate::input;

/// The name of a task: shells complete the built-in ones, and a file of one's own is as good.
#[derive(Clone)]
pub struct TaskName;

impl TypedValueParser for TaskName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let named = |task: &Task| PossibleValue::new(task.name().to_owned());
        let names: Vec<PossibleValue> = builtin_tasks().iter().map(named).collect();
        Some(Box::new(names.into_iter()))
    }
}

/// A task and one of its maps
#[derive(clap::Args)]
pub struct WorldArgs {
    /// A built-in task (see `form tasks`), or a task file that ends in .toml
    #[arg(value_parser = TaskName, hide_possible_values = true)]
    pub task: String,
    /// The seed that maps are drawn from
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = input::whole::<u64>)]
    pub seed: u64,
    /// The number of the map, from 0
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = input::whole::<u64>)]
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
