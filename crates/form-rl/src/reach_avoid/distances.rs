//! Exact solutions of a sub-task: the number of steps from every pose, by breadth-first search backwards from the cells to reach.

use form_env::{Action, Cell, Direction, ReachAvoid};

/// No way leads from here to a cell to reach.
const NONE: u32 = u32::MAX;

/// The steps from every pose of a room until a cell to reach is entered, without entering a cell to avoid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distances {
    height: usize,
    /// By number of the cell and direction: `cell * 4 + direction`.
    steps: Box<[u32]>,
}

impl Distances {
    /// Solves a sub-task. A cell both to reach and to avoid is one to avoid.
    pub fn new(sub_task: &ReachAvoid) -> Self {
        let height = sub_task.height();
        let cells = sub_task.walls().len();
        let mut steps = vec![NONE; 4 * cells].into_boxed_slice();
        let (walls, avoid) = (sub_task.walls(), sub_task.avoid());
        let mut front = Vec::new();
        // The poses from which one step enters a cell to reach.
        let behind = |cell: usize, direction: usize| match direction {
            0 => cell - height,
            1 => cell - 1,
            2 => cell + height,
            _ => cell + 1,
        };
        for cell in (0..cells).filter(|cell| sub_task.reach()[*cell]) {
            if walls[cell] || avoid[cell] {
                continue;
            }
            for direction in 0..4 {
                let from = behind(cell, direction);
                let pose = 4 * from + direction;
                if !walls[from] && steps[pose] == NONE {
                    steps[pose] = 1;
                    front.push(pose);
                }
            }
        }
        let mut next = Vec::new();
        while !front.is_empty() {
            for pose in front.drain(..) {
                let (cell, direction) = (pose / 4, pose % 4);
                let mut visit = |from: usize| {
                    if steps[from] == NONE {
                        steps[from] = steps[pose] + 1;
                        next.push(from);
                    }
                };
                visit(4 * cell + (direction + 1) % 4);
                visit(4 * cell + (direction + 3) % 4);
                // Nobody walks into a cell to avoid.
                if !avoid[cell] && !walls[behind(cell, direction)] {
                    visit(4 * behind(cell, direction) + direction);
                }
            }
            std::mem::swap(&mut front, &mut next);
        }
        Self { height, steps }
    }

    /// The steps from a pose; `None` if no way leads to a cell to reach.
    pub fn steps(&self, cell: Cell, direction: Direction) -> Option<u32> {
        let steps = self.steps[4 * (cell.x * self.height + cell.y) + direction as usize];
        (steps != NONE).then_some(steps)
    }

    /// The steps from the farthest pose with a way; 0 if there is none.
    pub fn longest(&self) -> u32 {
        let known = self.steps.iter().filter(|steps| **steps != NONE);
        known.copied().max().unwrap_or(0)
    }

    /// Whether each of the moving actions begins a shortest way from a pose, in the order of [`Action::ALL`].
    pub fn optimal(
        &self,
        sub_task: &ReachAvoid,
        cell: Cell,
        direction: Direction,
    ) -> [bool; Action::MOVES] {
        let Some(steps) = self.steps(cell, direction) else {
            return [false; Action::MOVES];
        };
        let turned = |by: usize| Direction::ALL[(direction as usize + by) % 4];
        let ahead = sub_task.ahead(cell, direction);
        let number = sub_task.number(ahead);
        let forward = match () {
            () if sub_task.walls()[number] || sub_task.avoid()[number] => None,
            () if sub_task.reach()[number] => Some(1),
            () => self.steps(ahead, direction).map(|steps| steps + 1),
        };
        let turn = |by| self.steps(cell, turned(by)).map(|steps| steps + 1);
        [turn(3), turn(1), forward].map(|through| through == Some(steps))
    }
}
