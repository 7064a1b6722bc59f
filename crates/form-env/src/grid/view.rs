//! What an agent sees of a world: MiniGrid's fully observable image, the same with the checkpoints' identities, or one
//! plane for each kind of object.
//!
//! A view is painted in two parts: the map, which does not change during an episode, and the agent on top of it.

use super::colour::Colour;
use super::map::{Legend, Map, Object};
use super::pose::Pose;
use super::room::Room;
use crate::env::spec::{Channel, Planes};

/// How a world is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum View {
    /// MiniGrid's fully observable image: object, colour and state of every cell, the agent in place of what it stands
    /// on. Checkpoints are object 13, as in the paper's published environment.
    #[default]
    Symbols,
    /// The same, with one more than the number of a checkpoint as its state, so that `purple(o7)` can be told from
    /// `purple(o6)`.
    Identities,
    /// One plane of zeros and ones for each of: wall, goal, lava, the six colours of checkpoints, the agent's four
    /// directions. What the agent stands on stays visible.
    Planes,
}

/// MiniGrid's numbers of objects.
mod object {
    pub(super) const EMPTY: u8 = 1;
    pub(super) const WALL: u8 = 2;
    pub(super) const GOAL: u8 = 8;
    pub(super) const LAVA: u8 = 9;
    pub(super) const AGENT: u8 = 10;
    /// Not MiniGrid's own: the number that the paper's environment gives it.
    pub(super) const CHECKPOINT: u8 = 13;
}

/// MiniGrid's number of the directions.
const DIRECTIONS: [&str; 4] = ["right", "down", "left", "up"];
/// The planes before those of the colours: wall, goal, lava.
const FIXED: [&str; 3] = ["wall", "goal", "lava"];
const FIRST_DIRECTION: usize = FIXED.len() + Colour::ALL.len();

impl View {
    /// All views.
    pub const ALL: [Self; 3] = [Self::Symbols, Self::Identities, Self::Planes];

    /// The shape of the view of a room.
    pub(crate) fn planes(self, room: &Room, legend: &Legend) -> Planes {
        let channel = |name: &str, max| Channel {
            name: name.to_owned(),
            max,
        };
        let numbers = legend.objects().iter().map(|object| identity(*object));
        let channels = match self {
            Self::Symbols | Self::Identities => {
                let identities = numbers.max().filter(|_| self == Self::Identities);
                vec![
                    channel("object", object::CHECKPOINT),
                    channel("colour", Colour::Grey.symbol()),
                    channel("state", identities.unwrap_or(0).max(3)),
                ]
            }
            Self::Planes => {
                let colours = Colour::ALL.iter().map(|colour| colour.as_str());
                let names = FIXED.into_iter().chain(colours).chain(DIRECTIONS);
                names.map(|name| channel(name, 1)).collect()
            }
        };
        Planes {
            width: room.width(),
            height: room.height(),
            channels,
        }
    }

    /// The number of channels.
    pub(crate) fn channels(self) -> usize {
        match self {
            Self::Symbols | Self::Identities => 3,
            Self::Planes => FIRST_DIRECTION + DIRECTIONS.len(),
        }
    }

    /// Paints everything but the agent.
    pub(crate) fn paint_map(self, room: &Room, legend: &Legend, map: &Map, image: &mut [u8]) {
        let cells = room.walls().iter().zip(&map.contents);
        for ((wall, content), cell) in cells.zip(image.chunks_exact_mut(self.channels())) {
            let object = legend.object(*content);
            match self {
                Self::Symbols => cell.copy_from_slice(&symbols(*wall, object, 0)),
                Self::Identities => {
                    cell.copy_from_slice(&symbols(*wall, object, object.map_or(0, identity)));
                }
                Self::Planes => {
                    cell.fill(0);
                    if let Some(plane) = plane(*wall, object) {
                        cell[plane] = 1;
                    }
                }
            }
        }
    }

    /// Paints the agent into the image of its map.
    #[inline]
    pub(crate) fn paint_agent(self, pose: Pose, image: &mut [u8]) {
        let at = usize::from(pose.cell) * self.channels();
        match self {
            Self::Symbols | Self::Identities => {
                image[at..at + 3].copy_from_slice(&[
                    object::AGENT,
                    Colour::Red.symbol(),
                    pose.direction,
                ]);
            }
            Self::Planes => image[at + FIRST_DIRECTION + usize::from(pose.direction & 3)] = 1,
        }
    }
}

/// Object, colour and state of a cell.
fn symbols(wall: bool, object: Option<Object>, state: u8) -> [u8; 3] {
    match object {
        _ if wall => [object::WALL, Colour::Grey.symbol(), 0],
        None => [object::EMPTY, 0, 0],
        Some(Object::Goal) => [object::GOAL, Colour::Green.symbol(), 0],
        Some(Object::Lava) => [object::LAVA, Colour::Red.symbol(), 0],
        Some(Object::Checkpoint { colour, .. }) => [object::CHECKPOINT, colour.symbol(), state],
    }
}

/// One more than the number of a checkpoint.
fn identity(object: Object) -> u8 {
    match object {
        Object::Checkpoint { number, .. } => number as u8 + 1,
        Object::Goal | Object::Lava => 0,
    }
}

/// The plane in which a cell is marked.
fn plane(wall: bool, object: Option<Object>) -> Option<usize> {
    Some(match object {
        _ if wall => 0,
        None => return None,
        Some(Object::Goal) => 1,
        Some(Object::Lava) => 2,
        Some(Object::Checkpoint { colour, .. }) => FIXED.len() + colour as usize,
    })
}
