//! One world in which a task is played.

use std::sync::Arc;

use form_core::{AtomId, AtomSet, Monitor, Signature, StepMode};
use rand::{Rng, RngExt};

use super::block::Block;
use super::maps::{Maps, Starts};
use super::task::Task;
use crate::env::environment::Environment;
use crate::env::spec::{Cell, EpisodeOutcome, Spec};
use crate::error::{Error, Result};
use crate::grid::map::Map;
use crate::grid::pose::{Direction, Pose};
use crate::grid::rules::Action;
use crate::grid::view::View;

/// How a task is shown to an agent, what the agent can do, and where it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WorldOptions {
    /// What the agent sees.
    pub view: View,
    /// Which actions it has.
    pub actions: Actions,
    /// Where its episodes start.
    pub starts: Starts,
}

/// The actions of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Actions {
    /// MiniGrid's seven.
    #[default]
    All,
    /// The three that move it: left, right, forward.
    Moves,
}

impl Actions {
    /// Their names.
    pub(crate) fn names(self) -> Vec<String> {
        let count = match self {
            Self::All => Action::ALL.len(),
            Self::Moves => Action::MOVES,
        };
        (Action::ALL[..count].iter())
            .map(|action| action.as_str().to_owned())
            .collect()
    }
}

impl Task {
    /// The shape of what an agent sees.
    pub fn spec(&self, view: View) -> Spec {
        Spec {
            planes: Some(view.planes(self.room(), &self.legend)),
            vector: Vec::new(),
        }
    }
}

/// A world in which a task is played, one agent in it.
///
/// ```
/// use form_env::{Environment, GridWorld, Maps, Split, Stream, Task, WorldOptions, generator};
/// let task = std::sync::Arc::new(Task::builtin("all-yellow")?);
/// let mut world = GridWorld::new(task, Maps::Fresh(Split::Training), WorldOptions::default())?;
/// world.reset(&mut generator(7, Stream::Other(0)))?;
/// let mut image = vec![0; world.spec().planes_len()];
/// world.observe(&mut image, &mut []);
/// assert_eq!(image.len(), 13 * 13 * 3);
/// # Ok::<(), form_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GridWorld {
    task: Arc<Task>,
    maps: Maps,
    starts: Starts,
    view: View,
    spec: Spec,
    actions: Vec<String>,
    map: Map,
    /// The image of the map, without the agent.
    background: Vec<u8>,
    /// The state of this one world.
    state: Block,
}

impl GridWorld {
    /// A world at the start of an episode: on the first map, where the map says. Fails where the task has no map that can be
    /// completed.
    pub fn new(task: Arc<Task>, maps: Maps, options: WorldOptions) -> Result<Self> {
        let map = match &maps {
            Maps::Set(maps) => maps.first().cloned().ok_or(Error::None { what: "maps" })?,
            Maps::Fresh(split) => task.map(0, *split, 0)?,
        };
        if let Maps::Set(maps) = &maps {
            maps.iter().try_for_each(|map| task.expect_own(map))?;
        }
        let spec = task.spec(options.view);
        let mut world = Self {
            maps,
            starts: options.starts,
            view: options.view,
            actions: options.actions.names(),
            background: vec![0; spec.planes_len()],
            spec,
            state: Block::new(1, &task),
            map,
            task,
        };
        let map = world.map.clone();
        let pose = map.own_start;
        world.begin(map, pose);
        Ok(world)
    }

    /// As another block has it.
    pub(crate) fn resume(&mut self, map: Map, state: Block) {
        let (room, legend) = (self.task.room(), &self.task.legend);
        self.view
            .paint_map(room, legend, &map, &mut self.background);
        self.map = map;
        self.state = state;
    }

    /// Starts an episode on a map of the task; all that is drawn is where the agent starts.
    pub fn reset_on(&mut self, map: Map, random: &mut dyn Rng) -> Result<()> {
        self.task.expect_own(&map)?;
        let pose = self.starts.pose(&map, random);
        self.begin(map, pose);
        Ok(())
    }

    pub(crate) fn begin(&mut self, map: Map, pose: Pose) {
        let mut state = Block::new(1, &self.task);
        state.start(0, 0, (0, &map), pose, &self.task);
        self.resume(map, state);
    }

    /// The task.
    pub fn task(&self) -> &Arc<Task> {
        &self.task
    }

    /// The map.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Where the agent is.
    pub fn agent(&self) -> Cell {
        self.task.room().cell(self.pose().cell)
    }

    /// Where the agent looks.
    pub fn direction(&self) -> Direction {
        self.pose().direction()
    }

    /// The steps taken in the episode.
    pub fn steps(&self) -> u32 {
        self.state.steps[0]
    }

    /// The outcome of the episode.
    pub fn outcome(&self) -> EpisodeOutcome {
        self.state.outcomes[0]
    }

    pub(crate) fn pose(&self) -> Pose {
        self.state.pose(0)
    }

    /// The state and the buffer of the ground truth, for display.
    pub fn truth(&self) -> &Monitor {
        &self.state.monitors[0]
    }
}

impl Environment for GridWorld {
    fn signature(&self) -> &Signature {
        self.task.signature()
    }

    fn own_signature(&self) -> Option<&Arc<AtomSet>> {
        self.task.own_signature(&self.map)
    }

    fn shared_signature(&self) -> Option<&Arc<AtomSet>> {
        self.task.shared_signature()
    }

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn reset(&mut self, random: &mut dyn Rng) -> Result<()> {
        let map = match &self.maps {
            Maps::Set(maps) => maps[random.random_range(0..maps.len())].clone(),
            Maps::Fresh(split) => self.task.draw_map(*split, random)?,
        };
        self.reset_on(map, random)
    }

    fn step(&mut self, action: usize) -> Result<EpisodeOutcome> {
        if action >= self.actions.len() {
            let actions = self.actions.len();
            return Err(Error::NoSuchAction { action, actions });
        }
        let map = std::slice::from_ref(&self.map);
        self.state.step(&self.task, map, &[action as u8]);
        Ok(self.outcome())
    }

    fn labels(&self) -> &AtomSet {
        &self.task.labels[usize::from(self.state.observed[0])]
    }

    fn step_mode(&self) -> StepMode {
        self.task.step_mode()
    }

    fn observe(&self, planes: &mut [u8], _vector: &mut [f32]) {
        let (room, legend) = (self.task.room(), &self.task.legend);
        (self.view).observe(room, legend, &self.background, self.pose(), planes);
    }

    fn cell_of(&self, atom: AtomId) -> Option<Cell> {
        let cell = self.task.cell_of(&self.map, atom)?;
        Some(self.view.place(self.task.room(), self.pose(), cell))
    }

    fn cells_of(&self, atom: AtomId) -> Option<Vec<Cell>> {
        Some(self.task.cells_of(&self.map, atom))
    }
}
