//! What lies in a room: a legend that numbers the things, and maps that say where they are.

use super::colour::Colour;
use super::pose::Pose;
use super::room::{CellNumber, Room};
use crate::env::spec::Cell;

/// Something that lies in a cell and can be walked onto.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Thing {
    /// A checkpoint: a ball that is walked over.
    Checkpoint {
        /// Its colour.
        colour: Colour,
        /// Its number: `o7` is number 7.
        number: usize,
    },
    /// The goal.
    Goal,
    /// Lava.
    Lava,
}

impl Thing {
    /// The atom that is observed there: `yellow(o0)`, `goal`, `lava`.
    pub fn atom(self) -> String {
        match self {
            Self::Checkpoint { colour, number } => format!("{colour}(o{number})"),
            Self::Goal => "goal".to_owned(),
            Self::Lava => "lava".to_owned(),
        }
    }

    /// Whether it is observed as long as the agent is there, not only when it enters.
    pub(crate) fn lasts(self) -> bool {
        !matches!(self, Self::Checkpoint { .. })
    }
}

/// What a cell holds: [`NOTHING`], or one more than the number of the thing's atom in the signature.
pub(crate) type Content = u8;

/// An empty cell.
pub(crate) const NOTHING: Content = 0;

/// The most things a world can have: they are numbered in 8 bits.
pub const MOST_THINGS: usize = 255;

/// The things of a world by their number, which is that of their atom in the signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Legend {
    things: Vec<Thing>,
    lasting: Vec<bool>,
}

impl Legend {
    /// Of at most [`MOST_THINGS`] things, in the order of their atoms.
    pub(crate) fn new(things: Vec<Thing>) -> Self {
        debug_assert!(things.len() <= MOST_THINGS);
        let lasting = things.iter().map(|thing| thing.lasts());
        Self {
            lasting: std::iter::once(false).chain(lasting).collect(),
            things,
        }
    }

    /// The things in order.
    pub(crate) fn things(&self) -> &[Thing] {
        &self.things
    }

    /// What a cell with this content holds.
    pub(crate) fn thing(&self, content: Content) -> Option<Thing> {
        Some(self.things[usize::from(content.checked_sub(1)?)])
    }

    /// The content of a cell that holds this thing.
    pub(crate) fn content(&self, thing: Thing) -> Option<Content> {
        let number = self.things.iter().position(|known| *known == thing)?;
        Some(number as Content + 1)
    }

    /// Whether the content is observed as long as the agent is there.
    #[inline]
    pub(crate) fn lasts(&self, content: Content) -> bool {
        self.lasting[usize::from(content)]
    }
}

/// Where the things of a world are, and where its agent can start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// By number of the cell.
    pub(crate) contents: Box<[Content]>,
    /// The cells from which the task can be completed, in order; never empty.
    pub(crate) starts: Box<[CellNumber]>,
    /// One of them, and a direction, drawn with the map.
    pub(crate) own_start: Pose,
}

impl Map {
    /// The thing in a cell.
    pub(crate) fn thing(&self, room: &Room, legend: &Legend, cell: Cell) -> Option<Thing> {
        legend.thing(self.contents[usize::from(room.number(cell))])
    }

    /// Where a thing lies; the first cell of it where there are several.
    pub(crate) fn cell_of(&self, room: &Room, content: Content) -> Option<Cell> {
        let number = self.contents.iter().position(|found| *found == content)?;
        Some(room.cell(number as CellNumber))
    }
}
