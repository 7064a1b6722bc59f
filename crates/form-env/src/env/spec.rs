//! The format of observations (planes over a grid of cells, a vector of numbers), and the outcomes of episodes.

use form_core::Kind;

/// The shape of an observation: planes over a grid of cells, a vector of numbers, or both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The planes; `None` for environments without cells.
    pub planes: Option<Planes>,
    /// The entries of the vector.
    pub vector: Vec<Feature>,
}

impl Spec {
    /// The number of bytes of the planes.
    pub fn planes_len(&self) -> usize {
        self.planes.as_ref().map_or(0, Planes::len)
    }

    /// The number of entries of the vector.
    pub fn vector_len(&self) -> usize {
        self.vector.len()
    }
}

/// Several numbers for every cell of a grid.
///
/// Channel `c` of cell `(x, y)` stands at `(x * height + y) * channels + c`: the order of MiniGrid's image, whose first
/// index is the column.
#[derive(Clone, Debug, PartialEq)]
pub struct Planes {
    /// The number of columns.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
    /// What the numbers of a cell are.
    pub channels: Vec<Channel>,
}

impl Planes {
    /// The number of bytes of an observation.
    #[allow(
        clippy::len_without_is_empty,
        reason = "planes without cells are a mistake"
    )]
    pub fn len(&self) -> usize {
        self.width * self.height * self.channels.len()
    }

    /// Where the channels of a cell start.
    pub fn offset(&self, cell: Cell) -> usize {
        (cell.x * self.height + cell.y) * self.channels.len()
    }
}

/// One number of every cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// What it says.
    pub name: String,
    /// The largest value it has.
    pub max: u8,
}

/// One entry of the vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// What it says.
    pub name: String,
    /// The smallest value it has.
    pub low: f32,
    /// The largest value it has.
    pub high: f32,
}

/// A cell of the grid, counted from 0 at the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// The column.
    pub x: usize,
    /// The row.
    pub y: usize,
}

/// The outcome of an episode, or that it is still running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EpisodeOutcome {
    /// The episode continues.
    #[default]
    Running,
    /// The task was completed.
    Goal,
    /// The task became impossible.
    DeadEnd,
    /// The limit of steps was reached: a truncation, not a termination.
    OutOfTime,
}

impl EpisodeOutcome {
    /// Whether the episode is over.
    pub fn is_over(self) -> bool {
        self != Self::Running
    }

    /// The kind of the trace of an episode that ends here.
    pub fn kind(self) -> Kind {
        match self {
            Self::Goal => Kind::Goal,
            Self::DeadEnd => Kind::DeadEnd,
            Self::Running | Self::OutOfTime => Kind::Incomplete,
        }
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Goal => "goal",
            Self::DeadEnd => "dead-end",
            Self::OutOfTime => "out-of-time",
        }
    }
}

impl std::fmt::Display for EpisodeOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
