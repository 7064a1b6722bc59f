//! An episode played by the policies of a run, recorded step by step for replay.

mod panel;
mod picture;

use std::sync::Arc;

use anyhow::{Result, bail};
use form_core::{BoundMachine, Monitor};
use form_env::{
    Action, Cell, Direction, Environment, EpisodeOutcome, GridWorld, Maps, Shortest, Split, Stream,
    Task, Worlds, generator, shortest,
};
use form_rl::{AssignmentMode, Choice, Episode, PlayConfig};
use rand::RngExt;

use crate::env_factory::{EnvFactory, GridEnvFactory};
use crate::game_setup::{assignment, game};
use crate::run::SavedRun;
use crate::search_limit::SEARCH_LIMIT;

/// Which episode is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpisodeRequest {
    /// Training maps or held-out maps.
    pub split: Split,
    /// The number of the map in its set; a random one if none is given.
    pub map: Option<u64>,
    /// The seed of the start, the actions and, if none is given, the map.
    pub seed: u64,
    /// How actions are chosen.
    pub choice: Choice,
}

/// A recorded episode.
#[derive(Clone, Debug)]
pub struct Recording {
    start: GridWorld,
    /// The machine of the policies; the task's own if they use none.
    machine: BoundMachine,
    knows_machine: bool,
    map: u64,
    split: Split,
    steps: Vec<RecordedStep>,
    outcome: EpisodeOutcome,
    shortest: Shortest,
}

/// The world and the machine after a step.
#[derive(Clone, Debug)]
struct RecordedStep {
    action: Option<Action>,
    place: (Cell, Direction),
    labels: String,
    monitor: Monitor,
}

impl Recording {
    /// Plays an episode with the policies of a run.
    pub fn of(run: &SavedRun, request: &EpisodeRequest) -> Result<Self> {
        let envs = GridEnvFactory::new(&run.config)?;
        let map = number(&envs, request)?;
        // In one world, episode `n` is played on map `n`.
        let mut worlds = envs.worlds(1, request.seed, request.split)?;
        worlds.start(0, map)?;
        let start = worlds.copy_of(0)?;
        let assignment = assignment(&run.config, &worlds, &run.checkpoint.machine)?;
        let knows_machine = assignment.mode() != AssignmentMode::Unaided;
        let task = envs.task();
        let machine = match knows_machine {
            true => task.bound_on(assignment.bound_machine(), start.map()),
            false => task.truth_on(start.map()).clone(),
        };
        let machine = BoundMachine::clone(&machine);
        // As in training: actions are random until a machine that can accept is known.
        let choice = match knows_machine && !assignment.can_accept() {
            true => Choice::Uniform,
            false => request.choice,
        };
        let mut game = game(&run.config, worlds, assignment)?;
        let config = PlayConfig {
            episodes: 1,
            choice,
            seed: request.seed,
        };
        let played = game.play(&mut run.agents()?, config)?;
        let Some(episode) = played.first() else {
            bail!("no episode was played");
        };
        let recording = Self::of_episode(start, machine, (request.split, map), episode)?;
        Ok(Self {
            knows_machine,
            ..recording
        })
    }

    /// An episode that was played from this start, on the map of a number, with policies that know this machine.
    pub(crate) fn of_episode(
        start: GridWorld,
        machine: BoundMachine,
        (split, map): (Split, u64),
        episode: &Episode,
    ) -> Result<Self> {
        let mut recording = Self {
            shortest: shortest(&start, SEARCH_LIMIT),
            start,
            machine,
            knows_machine: true,
            map,
            split,
            steps: Vec::new(),
            outcome: episode.outcome,
        };
        recording.replay(&episode.actions)?;
        Ok(recording)
    }

    /// Repeats the actions of the episode and runs the machine along.
    fn replay(&mut self, actions: &[u8]) -> Result<()> {
        let mut world = self.start.clone();
        let mut monitor = Monitor::new(&self.machine);
        let mut action = None;
        for next in actions.iter().map(Some).chain([None]) {
            monitor.observe(&self.machine, world.labels());
            self.steps.push(RecordedStep {
                action,
                place: (world.agent(), world.direction()),
                labels: self.machine.signature().describe(world.labels()),
                monitor: monitor.clone(),
            });
            if let Some(next) = next {
                action = Action::ALL.get(usize::from(*next)).copied();
                world.step(usize::from(*next))?;
            }
        }
        Ok(())
    }

    /// The world at the start of the episode.
    pub fn start(&self) -> &GridWorld {
        &self.start
    }

    /// The machine.
    pub fn machine(&self) -> &BoundMachine {
        &self.machine
    }

    /// The number of the map in its set.
    pub fn map(&self) -> u64 {
        self.map
    }

    /// The actions.
    pub fn actions(&self) -> impl Iterator<Item = Action> {
        self.steps.iter().filter_map(|step| step.action)
    }

    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.steps.len() - 1
    }

    /// Training maps or held-out maps.
    pub fn split(&self) -> Split {
        self.split
    }

    /// How the world ended it; [running](EpisodeOutcome::Running) if it was cut off because the machine is wrong.
    pub fn ended(&self) -> EpisodeOutcome {
        self.outcome
    }

    /// The length of a shortest solution.
    pub fn shortest(&self) -> Shortest {
        self.shortest
    }

    /// Whether the policies know the machine.
    pub fn knows_machine(&self) -> bool {
        self.knows_machine
    }

    /// The task and the map: `all-yellow, held-out map 3`.
    pub fn title(&self) -> String {
        let set = match self.split {
            Split::Training => "training",
            Split::HeldOut => "held-out",
        };
        format!("{}, {set} map {}", self.task().name(), self.map)
    }

    /// The outcome: `completed in 87 steps (shortest 61)`.
    pub fn outcome(&self) -> String {
        let how = match self.outcome {
            EpisodeOutcome::Goal => "completed in",
            EpisodeOutcome::DeadEnd => "dead end after",
            EpisodeOutcome::OutOfTime => "out of time after",
            EpisodeOutcome::Running => "cut off, the machine is wrong, after",
        };
        let shortest = match self.shortest {
            Shortest::Exactly(steps) => format!(" (shortest {steps})"),
            Shortest::AtLeast(steps) => format!(" (shortest {steps} or more)"),
            Shortest::Impossible => " (impossible)".to_owned(),
        };
        format!("{how} {} steps{shortest}", self.steps())
    }

    fn task(&self) -> &Arc<Task> {
        self.start.task()
    }
}

/// The requested map, or a random one.
fn number(envs: &GridEnvFactory, request: &EpisodeRequest) -> Result<u64> {
    let maps = match envs.maps(request.split)? {
        Maps::Set(maps) => maps.len() as u64,
        // Every number is another map.
        Maps::Fresh(_) => u64::from(u32::MAX),
    };
    match request.map {
        Some(map) if map >= maps => bail!("map {map}: there are {maps} maps, counted from 0"),
        Some(map) => Ok(map),
        None => Ok(generator(request.seed, Stream::Map(0)).random_range(0..maps)),
    }
}
