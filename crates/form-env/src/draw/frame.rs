//! What a picture shows: a map and the agent on it.

use crate::env::spec::Cell;
use crate::grid::map::{Map, Object};
use crate::grid::pose::Direction;
use crate::tasks::task::Task;
use crate::tasks::world::GridWorld;

/// The state of a world at one step, to draw.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The task.
    pub task: &'a Task,
    /// The map.
    pub map: &'a Map,
    /// The agent, if it is to be shown.
    pub agent: Option<(Cell, Direction)>,
}

impl<'a> Frame<'a> {
    /// A map without an agent.
    pub fn of_map(task: &'a Task, map: &'a Map) -> Self {
        let agent = None;
        Self { task, map, agent }
    }

    /// The current state of a world.
    pub fn of_world(world: &'a GridWorld) -> Self {
        Self {
            task: world.task(),
            map: world.map(),
            agent: Some((world.agent(), world.direction())),
        }
    }

    /// What lies in a cell.
    pub(crate) fn object(&self, cell: Cell) -> Option<Object> {
        self.task.object(self.map, cell)
    }

    /// All cells, row by row.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let (width, height) = (self.task.room().width(), self.task.room().height());
        (0..height).flat_map(move |y| (0..width).map(move |x| Cell { x, y }))
    }
}
