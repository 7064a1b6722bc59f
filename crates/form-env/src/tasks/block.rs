//! The state of several grid worlds as a struct of arrays, and their common step. A single world is a block of one.

use form_core::{Monitor, StepMode};

use super::task::Task;
use crate::env::spec::EpisodeOutcome;
use crate::grid::map::{Content, Map, NOTHING};
use crate::grid::pose::Pose;
use crate::grid::room::CellNumber;

/// The state of some worlds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) cells: Vec<CellNumber>,
    pub(crate) directions: Vec<u8>,
    pub(crate) steps: Vec<u32>,
    pub(crate) outcomes: Vec<EpisodeOutcome>,
    pub(crate) observed: Vec<Content>,
    /// The number of the map of each world.
    pub(crate) maps: Vec<u32>,
    pub(crate) episodes: Vec<u64>,
    pub(crate) monitors: Vec<Monitor>,
}

impl Block {
    /// A block of worlds none of which has started.
    pub(crate) fn new(worlds: usize, task: &Task) -> Self {
        Self {
            cells: vec![0; worlds],
            directions: vec![0; worlds],
            steps: vec![0; worlds],
            outcomes: vec![EpisodeOutcome::OutOfTime; worlds],
            observed: vec![NOTHING; worlds],
            maps: vec![0; worlds],
            episodes: vec![0; worlds],
            monitors: vec![Monitor::new(task.truth()); worlds],
        }
    }

    pub(crate) fn pose(&self, i: usize) -> Pose {
        Pose {
            cell: self.cells[i],
            direction: self.directions[i],
        }
    }

    /// One of the worlds on its own, its map now being number 0.
    pub(crate) fn only(&self, i: usize) -> Self {
        Self {
            cells: vec![self.cells[i]],
            directions: vec![self.directions[i]],
            steps: vec![self.steps[i]],
            outcomes: vec![self.outcomes[i]],
            observed: vec![self.observed[i]],
            maps: vec![0],
            episodes: vec![self.episodes[i]],
            monitors: vec![self.monitors[i].clone()],
        }
    }

    /// Starts an episode on a map, which has this number.
    pub(crate) fn start(
        &mut self,
        i: usize,
        episode: u64,
        (number, map): (u32, &Map),
        pose: Pose,
        task: &Task,
    ) {
        let truth = task.truth_on(map);
        self.cells[i] = pose.cell;
        self.directions[i] = pose.direction;
        self.steps[i] = 0;
        self.outcomes[i] = EpisodeOutcome::Running;
        // The agent starts on an empty cell.
        self.observed[i] = NOTHING;
        self.maps[i] = number;
        self.episodes[i] = episode;
        self.monitors[i].reset(truth);
        // Nothing is observed at the start, which counts where every step does.
        self.monitors[i].observe(truth, &task.labels[usize::from(NOTHING)]);
    }

    /// One step in every world of the block: walk, then the ground truth where it may change, then the clock.
    pub(crate) fn step(&mut self, task: &Task, maps: &[Map], actions: &[u8]) {
        let walls = task.room().walls();
        let limit = task.steps();
        let every_step = task.step_mode() == StepMode::All;
        for (i, action) in actions.iter().enumerate() {
            self.observed[i] = NOTHING;
            if self.outcomes[i].is_over() {
                continue;
            }
            let map = &maps[self.maps[i] as usize];
            let contents = &map.contents;
            let (pose, observed) =
                task.rules
                    .step(walls, contents, &task.legend, self.pose(i), *action);
            self.cells[i] = pose.cell;
            self.directions[i] = pose.direction;
            self.observed[i] = observed;
            self.steps[i] += 1;
            if every_step || observed != NOTHING {
                let monitor = &mut self.monitors[i];
                monitor.observe(task.truth_on(map), &task.labels[usize::from(observed)]);
                self.outcomes[i] = task.outcome(monitor.state());
            }
            if self.steps[i] >= limit && self.outcomes[i] == EpisodeOutcome::Running {
                self.outcomes[i] = EpisodeOutcome::OutOfTime;
            }
        }
    }
}
