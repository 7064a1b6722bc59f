//! The paper's room (Figure 1a): its walls, what lies in its cells, and going from cell to cell.

use std::collections::VecDeque;

use form_core::{AtomSet, Signature};

use super::Random;
use crate::error::{Error, Result};

/// Cells a side, the outer walls included.
const SIZE: usize = 13;
/// Things are laid out within this many cells a side, the walk begins within one more.
const LAID_OUT: usize = 10;

/// A number of a cell, row by row.
pub(super) type Cell = usize;

/// What every room has in it.
pub(super) struct Plan {
    walls: Vec<bool>,
    /// What can be observed in a cell: nothing, the goal, and the things in the order they are laid out.
    observations: Vec<AtomSet>,
}

/// Numbers of observations.
const NOTHING: u32 = 0;
const GOAL: u32 = 1;
const FIRST_THING: u32 = 2;

impl Plan {
    /// Fails if there are more things than cells.
    pub(super) fn new(signature: &Signature, checkpoints: &[String], lava: usize) -> Result<Self> {
        let walls: Vec<bool> = (0..SIZE * SIZE).map(is_wall).collect();
        let inside = |cell: &Cell| (1..=LAID_OUT).contains(&(cell % SIZE));
        let free = (SIZE..SIZE * (1 + LAID_OUT))
            .filter(inside)
            .filter(|cell| !walls[*cell])
            .count();
        if checkpoints.len() + lava > free {
            return Err(Error::Walks {
                problem: format!(
                    "the room has {free} cells for checkpoints and lava, not {}",
                    checkpoints.len() + lava
                ),
            });
        }
        let mut observations = vec![AtomSet::new(), signature.observation(["goal"])?];
        let checkpoints = checkpoints.iter().map(String::as_str);
        for thing in checkpoints.chain(std::iter::repeat_n("lava", lava)) {
            observations.push(signature.observation([thing])?);
        }
        Ok(Self {
            walls,
            observations,
        })
    }

    /// A room with everything somewhere.
    pub(super) fn draw(&self, random: &mut Random) -> Room<'_> {
        let mut cells = [NOTHING; SIZE * SIZE];
        cells[SIZE * SIZE - SIZE - 2] = GOAL;
        let mut free = |cells: &[u32], limit: usize| loop {
            let cell = (1 + random.below(limit)) + SIZE * (1 + random.below(limit));
            if !self.walls[cell] && cells[cell] == NOTHING {
                return cell;
            }
        };
        for thing in FIRST_THING..self.observations.len() as u32 {
            let cell = free(&cells, LAID_OUT);
            cells[cell] = thing;
        }
        let start = free(&cells, LAID_OUT + 1);
        Room {
            plan: self,
            cells,
            start,
        }
    }
}

fn is_wall(cell: Cell) -> bool {
    let (x, y) = (cell % SIZE, cell / SIZE);
    x == 0
        || y == 0
        || x == SIZE - 1
        || y == SIZE - 1
        || x == 6 && matches!(y, 1..=2 | 4..=9 | 11)
        || y == 6 && matches!(x, 1 | 3..=5)
        || y == 7 && matches!(x, 7..=8 | 10..=11)
}

/// A room with things in its cells.
pub(super) struct Room<'a> {
    plan: &'a Plan,
    /// The number of the observation of each cell.
    cells: [u32; SIZE * SIZE],
    start: Cell,
}

impl Room<'_> {
    /// Where the walk begins.
    pub(super) fn start(&self) -> Cell {
        self.start
    }

    /// What is observed in a cell.
    pub(super) fn observation(&self, cell: Cell) -> &AtomSet {
        &self.plan.observations[self.cells[cell] as usize]
    }

    /// The cell to the north, east, south or west, unless a wall is there.
    pub(super) fn step(&self, at: Cell, direction: usize) -> Cell {
        let to = match direction {
            0 => at - SIZE,
            1 => at + 1,
            2 => at + SIZE,
            _ => at - 1,
        };
        if self.plan.walls[to] { at } else { to }
    }

    /// For every cell the steps to the nearest of the wanted atoms, past the shunned ones; `None` where no way leads.
    pub(super) fn distances(&self, wanted: &AtomSet, shunned: &AtomSet) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.cells.len()];
        let mut queue = VecDeque::new();
        for (cell, distance) in distances.iter_mut().enumerate() {
            let observation = self.observation(cell);
            if observation.intersects(wanted) && !observation.intersects(shunned) {
                *distance = Some(0);
                queue.push_back((cell, 0));
            }
        }
        while let Some((cell, distance)) = queue.pop_front() {
            for direction in 0..4 {
                let next = self.step(cell, direction);
                if distances[next].is_none() && !self.observation(next).intersects(shunned) {
                    distances[next] = Some(distance + 1);
                    queue.push_back((next, distance + 1));
                }
            }
        }
        distances
    }

    /// The first neighbour that is closer, if there is one.
    pub(super) fn closer(&self, at: Cell, distances: &[Option<u32>]) -> Option<Cell> {
        let here = distances.get(at).copied().flatten()?;
        (0..4)
            .map(|direction| self.step(at, direction))
            .find(|next| distances[*next].is_some_and(|there| there < here))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(signature: &Signature, lava: usize) -> Result<Plan> {
        Plan::new(signature, &["red(o0)".to_owned()], lava)
    }

    #[test]
    fn a_shortest_path_leads_past_what_is_shunned() {
        let signature = Signature::parse(["red(o0)", "goal", "lava"]).unwrap();
        let atom = |text: &str| signature.observation([text]).unwrap();
        let plan = plan(&signature, 20).unwrap();
        let mut random = Random(5);
        let mut arrived = 0;
        for _ in 0..50 {
            let room = plan.draw(&mut random);
            let distances = room.distances(&atom("red(o0)"), &atom("lava"));
            let (mut at, mut steps) = (room.start(), 0);
            while let Some(next) = room.closer(at, &distances) {
                (at, steps) = (next, steps + 1);
                assert_ne!(room.observation(at), &atom("lava"));
            }
            if let Some(distance) = distances[room.start()] {
                assert_eq!((steps, room.observation(at)), (distance, &atom("red(o0)")));
                arrived += 1;
            }
        }
        assert!((10..50).contains(&arrived), "{arrived}");
    }

    #[test]
    fn a_room_holds_only_so_much() {
        let signature = Signature::parse(["red(o0)", "goal", "lava"]).unwrap();
        let mut random = Random(5);
        let plan_of_all = plan(&signature, 84).unwrap();
        let room = plan_of_all.draw(&mut random);
        let things = room.cells.iter().filter(|thing| **thing >= FIRST_THING);
        assert_eq!(things.count(), 85);
        let error = plan(&signature, 85).err().unwrap().to_string();
        assert!(
            error.contains("85 cells for checkpoints and lava, not 86"),
            "{error}"
        );
    }
}
