//! What an agent sees of a world: MiniGrid's fully observable image, the same with the checkpoints' identities, one plane for each
//! kind of object, or these planes as seen from where the agent stands.
//!
//! A view is painted in two parts: the map, which does not change during an episode, and the agent: on top of it, or as the
//! map's turn and shift.

use super::colour::Colour;
use super::map::{Legend, Map, Object};
use super::pose::{Direction, Pose};
use super::room::Room;
use crate::env::spec::{Cell, Channel, Planes};

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
    /// One plane of zeros and ones for each of: wall, goal, lava, the six colours, the agent's four directions; and where there are
    /// keys or doors, for each of these two. A coloured object that is neither is a checkpoint. What the agent stands on stays visible.
    Planes,
    /// The planes without those of the directions, turned and shifted so that the agent is in the middle and looks up. The
    /// room goes round: what would be beyond one edge stands at the opposite one, so that everything stays visible.
    Egocentric,
}

/// MiniGrid's numbers of objects.
mod object {
    pub(super) const EMPTY: u8 = 1;
    pub(super) const WALL: u8 = 2;
    pub(super) const DOOR: u8 = 4;
    pub(super) const KEY: u8 = 5;
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
/// The planes after those of the colours, where there are such objects.
const FURNITURE: [&str; 2] = ["key", "door"];
const KEYS: usize = FIXED.len() + Colour::ALL.len();
const DOORS: usize = KEYS + 1;

/// The number of planes before those of the directions.
fn first_direction(legend: &Legend) -> usize {
    match legend.furnished() {
        true => KEYS + FURNITURE.len(),
        false => KEYS,
    }
}

impl View {
    /// All views.
    pub const ALL: [Self; 4] = [
        Self::Symbols,
        Self::Identities,
        Self::Planes,
        Self::Egocentric,
    ];

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
            Self::Planes | Self::Egocentric => {
                let colours = Colour::ALL.iter().map(|colour| colour.as_str());
                let names = FIXED.into_iter().chain(colours).chain(FURNITURE);
                let names = names.take(first_direction(legend)).chain(DIRECTIONS);
                let names = names.take(self.channels(legend));
                names.map(|name| channel(name, 1)).collect()
            }
        };
        let [width, height] = match self {
            Self::Egocentric => [side(room); 2],
            _ => [room.width(), room.height()],
        };
        Planes {
            width,
            height,
            channels,
        }
    }

    /// The number of channels.
    pub(crate) fn channels(self, legend: &Legend) -> usize {
        match self {
            Self::Symbols | Self::Identities => 3,
            Self::Planes => first_direction(legend) + DIRECTIONS.len(),
            Self::Egocentric => first_direction(legend),
        }
    }

    /// Paints everything but the agent.
    pub(crate) fn paint_map(self, room: &Room, legend: &Legend, map: &Map, image: &mut [u8]) {
        if self == Self::Egocentric {
            return paint_square(room, legend, map, image);
        }
        let cells = room.walls().iter().zip(&map.contents);
        for ((wall, content), cell) in cells.zip(image.chunks_exact_mut(self.channels(legend))) {
            let object = legend.object(*content);
            match self {
                Self::Symbols => cell.copy_from_slice(&symbols(*wall, object, 0)),
                Self::Identities => {
                    cell.copy_from_slice(&symbols(*wall, object, object.map_or(0, identity)));
                }
                Self::Planes | Self::Egocentric => {
                    cell.fill(0);
                    for plane in planes(*wall, object).into_iter().flatten() {
                        cell[plane] = 1;
                    }
                }
            }
        }
    }

    /// What an agent sees of its map.
    #[inline]
    pub(crate) fn observe(
        self,
        room: &Room,
        legend: &Legend,
        map: &[u8],
        pose: Pose,
        image: &mut [u8],
    ) {
        if self == Self::Egocentric {
            return Turn::new(room, pose).paint(map, image, self.channels(legend));
        }
        image.copy_from_slice(map);
        let at = usize::from(pose.cell) * self.channels(legend);
        match self {
            Self::Symbols | Self::Identities => {
                image[at..at + 3].copy_from_slice(&[
                    object::AGENT,
                    Colour::Red.symbol(),
                    pose.direction,
                ]);
            }
            Self::Planes => {
                image[at + first_direction(legend) + usize::from(pose.direction & 3)] = 1;
            }
            Self::Egocentric => {}
        }
    }

    /// Where a cell of the room is in the image that an agent sees.
    pub(crate) fn place(self, room: &Room, pose: Pose, cell: Cell) -> Cell {
        match self {
            Self::Egocentric => Turn::new(room, pose).place(cell),
            _ => cell,
        }
    }
}

/// The side of the square that the egocentric view shows: in a room that is not square, walls fill it up.
fn side(room: &Room) -> usize {
    room.width().max(room.height())
}

/// Paints the square in the room's own frame.
fn paint_square(room: &Room, legend: &Legend, map: &Map, image: &mut [u8]) {
    let side = side(room);
    for (number, cell) in (image.chunks_exact_mut(first_direction(legend))).enumerate() {
        let (x, y) = (number / side, number % side);
        cell.fill(0);
        let marked = match x < room.width() && y < room.height() {
            true => {
                let number = x * room.height() + y;
                planes(room.walls()[number], legend.object(map.contents[number]))
            }
            false => [Some(0), None],
        };
        for plane in marked.into_iter().flatten() {
            cell[plane] = 1;
        }
    }
}

/// The turn and shift that bring the agent to the middle, looking up.
struct Turn {
    side: usize,
    agent: Cell,
    /// One cell ahead, and one to the agent's right, modulo the side.
    ahead: [usize; 2],
    right: [usize; 2],
}

impl Turn {
    #[inline]
    fn new(room: &Room, pose: Pose) -> Self {
        let side = side(room);
        let step = |direction: Direction| {
            let (x, y) = direction.step();
            [x, y].map(|by| by.rem_euclid(side as isize) as usize)
        };
        Self {
            side,
            agent: room.cell(pose.cell),
            ahead: step(pose.direction()),
            right: step(Direction::ALL[usize::from((pose.direction + 1) & 3)]),
        }
    }

    /// Column by column from the left, each from the farthest cell ahead to the farthest behind.
    #[inline]
    fn paint(&self, map: &[u8], image: &mut [u8], channels: usize) {
        let (side, middle) = (self.side, self.side / 2);
        let wrap = |place: usize| if place < side { place } else { place - side };
        let corner = |at: usize, axis: usize| {
            // The middle cells ahead, and as many to the left.
            (at + middle * self.ahead[axis] + (side - middle) * self.right[axis]) % side
        };
        let back = self.ahead.map(|by| wrap(side - by));
        let mut start = [corner(self.agent.x, 0), corner(self.agent.y, 1)];
        for column in image.chunks_exact_mut(side * channels) {
            let [mut x, mut y] = start;
            for cell in column.chunks_exact_mut(channels) {
                let from = (x * side + y) * channels;
                cell.copy_from_slice(&map[from..from + channels]);
                (x, y) = (wrap(x + back[0]), wrap(y + back[1]));
            }
            start = [
                wrap(start[0] + self.right[0]),
                wrap(start[1] + self.right[1]),
            ];
        }
    }

    fn place(&self, cell: Cell) -> Cell {
        let (side, middle) = (self.side, self.side / 2);
        let by = [cell.x + side - self.agent.x, cell.y + side - self.agent.y];
        // One of the two steps along each axis is 0, the other 1 or −1.
        let along = |step: [usize; 2]| by[0] * step[0] + by[1] * step[1];
        Cell {
            x: (middle + along(self.right)) % side,
            y: (middle + side * side * 2 - along(self.ahead)) % side,
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
        // State 0 of a door: it is open.
        Some(Object::Key(colour)) => [object::KEY, colour.symbol(), 0],
        Some(Object::Door(colour)) => [object::DOOR, colour.symbol(), 0],
    }
}

/// One more than the number of a checkpoint.
fn identity(object: Object) -> u8 {
    match object {
        Object::Checkpoint { number, .. } => number as u8 + 1,
        Object::Goal | Object::Lava | Object::Key(_) | Object::Door(_) => 0,
    }
}

/// The planes in which a cell is marked.
fn planes(wall: bool, object: Option<Object>) -> [Option<usize>; 2] {
    let of_colour = |colour: Colour| Some(FIXED.len() + colour as usize);
    match object {
        _ if wall => [Some(0), None],
        None => [None, None],
        Some(Object::Goal) => [Some(1), None],
        Some(Object::Lava) => [Some(2), None],
        Some(Object::Checkpoint { colour, .. }) => [of_colour(colour), None],
        Some(Object::Key(colour)) => [of_colour(colour), Some(KEYS)],
        Some(Object::Door(colour)) => [of_colour(colour), Some(DOORS)],
    }
}
