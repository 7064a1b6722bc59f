//! What a picture shows: a map and the agent on it.

use crate::env::spec::Cell;
use crate::grid::map::{Map, Thing};
use crate::grid::pose::Direction;
use crate::tasks::task::Task;
use crate::tasks::world::GridWorld;

/// One moment of a world.
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

    /// A world as it is.
    pub fn of_world(world: &'a GridWorld) -> Self {
        Self {
            task: world.task(),
            map: world.map(),
            agent: Some((world.agent(), world.direction())),
        }
    }

    /// What lies in a cell.
    pub(crate) fn thing(&self, cell: Cell) -> Option<Thing> {
        self.task.thing(self.map, cell)
    }

    /// All cells, row by row.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let (width, height) = (self.task.room().width(), self.task.room().height());
        (0..height).flat_map(move |y| (0..width).map(move |x| Cell { x, y }))
    }
}
