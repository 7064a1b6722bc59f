//! The objects of a room: a legend that numbers them, and maps with their cells.

use super::colour::Colour;
use super::pose::Pose;
use super::room::{CellNumber, Room};
use crate::env::spec::Cell;

/// An object in a cell, onto which the agent can walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
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
    /// The key of this colour: it lies on the floor and is walked over.
    Key(Colour),
    /// The door of this colour: it is open and is walked through.
    Door(Colour),
}

impl Object {
    /// The atom that is observed there: `yellow(o0)`, `goal`, `lava`, `key(red)`, `door(red)`.
    pub fn atom(self) -> String {
        match self {
            Self::Checkpoint { colour, number } => format!("{colour}(o{number})"),
            Self::Goal => "goal".to_owned(),
            Self::Lava => "lava".to_owned(),
            Self::Key(colour) => format!("key({colour})"),
            Self::Door(colour) => format!("door({colour})"),
        }
    }

    /// Whether it is observed at every step in its cell, not only on entering.
    pub(crate) fn lasts(self) -> bool {
        matches!(self, Self::Goal | Self::Lava)
    }
}

/// The content of a cell: [`NOTHING`], or one more than the number of the object's atom in the signature.
pub(crate) type Content = u8;

/// An empty cell.
pub(crate) const NOTHING: Content = 0;

/// The maximum number of objects of a world: they are numbered in 8 bits.
pub const MAX_OBJECTS: usize = 255;

/// The objects of a world by their number, which is that of their atom in the signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Legend {
    objects: Vec<Object>,
    lasting: Vec<bool>,
    /// Whether there are keys or doors.
    furnished: bool,
}

impl Legend {
    /// Of at most [`MAX_OBJECTS`] objects, in the order of their atoms.
    pub(crate) fn new(objects: Vec<Object>) -> Self {
        assert!(objects.len() <= MAX_OBJECTS);
        let lasting = objects.iter().map(|object| object.lasts());
        let furniture = |object: &Object| matches!(object, Object::Key(_) | Object::Door(_));
        Self {
            furnished: objects.iter().any(furniture),
            lasting: std::iter::once(false).chain(lasting).collect(),
            objects,
        }
    }

    /// The objects in order.
    pub(crate) fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// What a cell with this content holds.
    pub(crate) fn object(&self, content: Content) -> Option<Object> {
        Some(self.objects[usize::from(content.checked_sub(1)?)])
    }

    /// The content of a cell that holds this object.
    pub(crate) fn content(&self, object: Object) -> Option<Content> {
        let number = self.objects.iter().position(|known| *known == object)?;
        Some(number as Content + 1)
    }

    /// Whether there are keys or doors.
    pub(crate) fn furnished(&self) -> bool {
        self.furnished
    }

    /// Whether the content is observed at every step in its cell.
    #[inline]
    pub(crate) fn lasts(&self, content: Content) -> bool {
        self.lasting[usize::from(content)]
    }
}

/// Where the objects of a world are, and where its agent can start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// By number of the cell.
    pub(crate) contents: Box<[Content]>,
    /// Which of the task's sets of objects it has.
    pub(crate) objects: usize,
    /// The cells from which the task can be completed, in order; never empty.
    pub(crate) starts: Box<[CellNumber]>,
    /// One of them, and a direction, drawn with the map.
    pub(crate) own_start: Pose,
}

impl Map {
    /// The object in a cell.
    pub(crate) fn object(&self, room: &Room, legend: &Legend, cell: Cell) -> Option<Object> {
        legend.object(self.contents[usize::from(room.number(cell))])
    }

    /// Where an object lies; the first cell of it where there are several.
    pub(crate) fn cell_of(&self, room: &Room, content: Content) -> Option<Cell> {
        let number = self.contents.iter().position(|found| *found == content)?;
        Some(room.cell(number as CellNumber))
    }
}
