//! The world of a command: a task or a run, and one of its maps.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use form_env::{GridWorld, Map, Maps, Split, Starts, Task, WorldOptions, builtin_tasks};
use form_lab::{EpisodeRequest, RunFolder, SavedRun};
use form_rl::Choice;

use crate::input;

/// The name of a task: shells complete the built-in ones, and a task file works as well.
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

/// A task or a run, and one of its maps
#[derive(clap::Args)]
pub struct WorldArgs {
    /// A built-in task (see `form tasks`), a task file that ends in .toml, or the folder of a run
    #[arg(value_name = "TASK|RUN", value_parser = TaskName, hide_possible_values = true)]
    pub task: String,
    /// The seed of the maps; for a run, the seed of the start, the actions and, without --map, the map
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = input::whole::<u64>)]
    pub seed: u64,
    /// The number of the map, from 0 [default: 0; for a run, a random one]
    #[arg(long, value_name = "N", value_parser = input::whole::<u64>)]
    pub map: Option<u64>,
    /// Use a held-out map, which no training run sees
    #[arg(long)]
    pub held_out: bool,
    /// For a run: greedy actions instead of sampled ones
    #[arg(long)]
    pub greedy: bool,
}

impl WorldArgs {
    /// The run, if the argument is a run folder.
    pub fn run(&self) -> Result<Option<SavedRun>> {
        let path = Path::new(&self.task);
        let is_run = path.is_dir() && RunFolder::is_at(path);
        if !is_run && self.greedy {
            bail!("--greedy: a task has no policies: name a run folder");
        }
        is_run.then(|| SavedRun::open(path)).transpose()
    }

    /// The requested episode of a run.
    pub fn episode(&self) -> EpisodeRequest {
        EpisodeRequest {
            split: self.split(),
            map: self.map,
            seed: self.seed,
            choice: match self.greedy {
                true => Choice::Greedy,
                false => Choice::Sample,
            },
        }
    }

    fn split(&self) -> Split {
        match self.held_out {
            true => Split::HeldOut,
            false => Split::Training,
        }
    }

    /// The task.
    pub fn task(&self) -> Result<Arc<Task>> {
        let path = Path::new(&self.task);
        if path.is_dir() {
            bail!(
                "{} is not a run folder, it has no config.toml: name a task, or a folder that `form train` made",
                path.display()
            );
        }
        Ok(Arc::new(Task::find(&self.task)?))
    }

    /// A map of the task.
    pub fn map(&self, task: &Task, number: u64) -> Result<Map> {
        Ok(task.map(self.seed, self.split(), number)?)
    }

    /// A world at the start of an episode on the map of this number.
    pub fn start(&self, task: &Arc<Task>, number: u64) -> Result<GridWorld> {
        let map = self.map(task, number)?;
        let maps = Maps::Set([map].into());
        let options = WorldOptions {
            starts: Starts::OfTheMap,
            ..WorldOptions::default()
        };
        // The first episode starts where the map says.
        Ok(GridWorld::new(task.clone(), maps, options)?)
    }
}
