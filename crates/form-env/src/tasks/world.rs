//! One world in which a task is played.

use std::sync::Arc;

use form_core::{AtomId, AtomSet, Monitor, Signature};
use rand::{Rng, RngExt};

use super::maps::{Maps, draw_start};
use super::task::Task;
use crate::env::environment::Environment;
use crate::env::spec::{Cell, Outcome, Spec};
use crate::error::{Error, Result};
use crate::grid::map::{Content, Map, NOTHING};
use crate::grid::rules::{Action, Direction, Pose};
use crate::grid::view::View;

/// How a task is shown to an agent and what the agent can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WorldOptions {
    /// What the agent sees.
    pub view: View,
    /// Which actions it has.
    pub actions: Actions,
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
    view: View,
    spec: Spec,
    actions: Vec<String>,
    map: Map,
    /// The image of the map, without the agent.
    background: Vec<u8>,
    pose: Pose,
    steps: u32,
    observed: Content,
    /// What was last observed that was not nothing.
    last_observed: Content,
    monitor: Monitor,
    outcome: Outcome,
}

impl GridWorld {
    /// A world, to be reset before it is played. Fails where the task has no map that can be completed.
    pub fn new(task: Arc<Task>, maps: Maps, options: WorldOptions) -> Result<Self> {
        let map = match &maps {
            Maps::Set(maps) => maps.first().cloned().ok_or(Error::None { what: "maps" })?,
            Maps::Fresh(split) => task.map(0, *split, 0)?,
        };
        let spec = task.spec(options.view);
        let mut world = Self {
            maps,
            view: options.view,
            actions: options.actions.names(),
            background: vec![0; spec.planes_len()],
            spec,
            pose: Pose {
                cell: map.starts[0],
                direction: 0,
            },
            map,
            steps: 0,
            observed: NOTHING,
            last_observed: NOTHING,
            monitor: Monitor::new(task.truth()),
            outcome: Outcome::Running,
            task,
        };
        let (map, pose) = (world.map.clone(), world.pose);
        world.begin(map, pose);
        Ok(world)
    }

    /// Starts an episode on a map of the task, the agent anywhere on it.
    pub fn reset_on(&mut self, map: Map, random: &mut dyn Rng) {
        let pose = draw_start(&map, random);
        self.begin(map, pose);
    }

    pub(crate) fn begin(&mut self, map: Map, pose: Pose) {
        let (room, legend) = (self.task.room(), &self.task.legend);
        self.view
            .paint_map(room, legend, &map, &mut self.background);
        self.map = map;
        self.pose = pose;
        self.steps = 0;
        // The agent starts on an empty cell.
        self.observed = NOTHING;
        self.last_observed = NOTHING;
        self.monitor.reset(self.task.truth());
        self.outcome = Outcome::Running;
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
        self.task.room().cell(self.pose.cell)
    }

    /// Where the agent looks.
    pub fn direction(&self) -> Direction {
        self.pose.direction()
    }

    /// The steps taken in the episode.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Where the episode stands.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    pub(crate) fn pose(&self) -> Pose {
        self.pose
    }

    pub(crate) fn last_observed(&self) -> Content {
        self.last_observed
    }

    /// The state and the buffer of the ground truth, for people who watch.
    pub fn truth(&self) -> &Monitor {
        &self.monitor
    }
}

impl Environment for GridWorld {
    fn signature(&self) -> &Signature {
        self.task.signature()
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
        self.reset_on(map, random);
        Ok(())
    }

    fn step(&mut self, action: usize) -> Result<Outcome> {
        if action >= self.actions.len() {
            let actions = self.actions.len();
            return Err(Error::NoSuchAction { action, actions });
        }
        self.observed = NOTHING;
        if self.outcome.is_over() {
            return Ok(self.outcome);
        }
        let task = &*self.task;
        (self.pose, self.observed) = task.rules.step(
            task.room().walls(),
            &self.map.contents,
            &task.legend,
            self.pose,
            action as u8,
        );
        if self.observed != NOTHING {
            self.last_observed = self.observed;
        }
        self.monitor
            .observe(task.truth(), &task.labels[usize::from(self.observed)]);
        self.outcome = task.verdict(self.monitor.state());
        self.steps += 1;
        if self.outcome == Outcome::Running && self.steps >= task.steps() {
            self.outcome = Outcome::OutOfTime;
        }
        Ok(self.outcome)
    }

    fn labels(&self) -> &AtomSet {
        &self.task.labels[usize::from(self.observed)]
    }

    fn observe(&self, planes: &mut [u8], _vector: &mut [f32]) {
        planes.copy_from_slice(&self.background);
        self.view.paint_agent(self.pose, planes);
    }

    fn cell_of(&self, atom: AtomId) -> Option<Cell> {
        let content = Content::try_from(atom.index() + 1).ok()?;
        self.map.cell_of(self.task.room(), content)
    }
}
