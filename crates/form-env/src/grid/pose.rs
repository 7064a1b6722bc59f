//! The agent's position and direction.

use super::room::CellNumber;

/// Where the agent looks, with MiniGrid's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Direction {
    /// To the right.
    East,
    /// Down.
    South,
    /// To the left.
    West,
    /// Up.
    North,
}

impl Direction {
    /// All directions in order, each a turn to the right from the one before.
    pub const ALL: [Self; 4] = [Self::East, Self::South, Self::West, Self::North];

    /// What to add to a column and a row to go one cell ahead.
    pub(crate) fn step(self) -> (isize, isize) {
        match self {
            Self::East => (1, 0),
            Self::South => (0, 1),
            Self::West => (-1, 0),
            Self::North => (0, -1),
        }
    }
}

/// Where the agent is and where it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pose {
    pub(crate) cell: CellNumber,
    pub(crate) direction: u8,
}

impl Pose {
    pub(crate) fn direction(self) -> Direction {
        Direction::ALL[usize::from(self.direction & 3)]
    }
}
