//! What a state of a machine asks for, as seen on a map: reach one of these cells, step on none of those.

use super::pose::Direction;
use super::room::Room;
use crate::env::spec::Cell;
use crate::error::{Error, Result};

/// A sub-task in a room. Cells are numbered by column: `x * height + y`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReachAvoid {
    width: usize,
    height: usize,
    walls: Box<[bool]>,
    reach: Box<[bool]>,
    avoid: Box<[bool]>,
}

impl ReachAvoid {
    /// Nothing to reach and nothing to avoid in this room.
    pub fn new(room: &Room) -> Self {
        let none = vec![false; room.walls().len()].into_boxed_slice();
        Self {
            width: room.width(),
            height: room.height(),
            walls: room.walls().into(),
            reach: none.clone(),
            avoid: none,
        }
    }

    /// Nothing to reach and nothing to avoid between these walls, given by number of the cell; they go all around.
    pub fn from_walls(width: usize, height: usize, walls: &[bool]) -> Result<Self> {
        let symbol = |x: usize, y: usize| if walls[x * height + y] { '#' } else { '.' };
        if walls.len() != width * height {
            let problem = format!("{} walls for {width} × {height} cells", walls.len());
            return Err(Error::Room(problem));
        }
        let row = |y: usize| (0..width).map(|x| symbol(x, y)).collect::<String>();
        let mut rows: Vec<String> = (0..height).map(row).collect();
        // Where the goal of a room is makes no difference here.
        if let Some(row) = rows.iter_mut().find(|row| row.contains('.')) {
            *row = row.replacen('.', "G", 1);
        }
        Ok(Self::new(&Room::from_rows(&rows)?))
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The walls by number of the cell.
    pub fn walls(&self) -> &[bool] {
        &self.walls
    }

    /// The cells to reach, by number of the cell.
    pub fn reach(&self) -> &[bool] {
        &self.reach
    }

    /// The cells to avoid, by number of the cell.
    pub fn avoid(&self) -> &[bool] {
        &self.avoid
    }

    /// Asks for this cell.
    pub fn ask_for(&mut self, cell: Cell) {
        let number = self.number(cell);
        self.reach[number] = true;
    }

    /// Forbids this cell.
    pub fn forbid(&mut self, cell: Cell) {
        let number = self.number(cell);
        self.avoid[number] = true;
    }

    /// Asks for nothing and forbids nothing.
    pub fn clear(&mut self) {
        self.reach.fill(false);
        self.avoid.fill(false);
    }

    /// The number of a cell.
    pub fn number(&self, cell: Cell) -> usize {
        cell.x * self.height + cell.y
    }

    /// The cell ahead of an agent; walls go all around, so there is one.
    pub fn ahead(&self, cell: Cell, direction: Direction) -> Cell {
        let (dx, dy) = direction.step();
        Cell {
            x: cell.x.wrapping_add_signed(dx),
            y: cell.y.wrapping_add_signed(dy),
        }
    }
}
