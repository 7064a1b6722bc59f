//! The transition function: MiniGrid's rules of movement.
//!
//! Of MiniGrid's seven actions three move the agent. The others act on objects that can be carried, opened or switched;
//! there are none here, so they let time pass, as they do in MiniGrid. Checkpoints and keys are walked over, not picked up; doors are
//! open for good. Which door asks for which key is for the machine to say.

use super::map::{Content, Legend, NOTHING};
use super::pose::Pose;
use super::room::{CellNumber, Room};

/// MiniGrid's actions, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Action {
    /// Turn left.
    Left,
    /// Turn right.
    Right,
    /// Go one cell ahead, unless a wall is there.
    Forward,
    /// Pick up what is ahead.
    PickUp,
    /// Drop what is carried.
    Drop,
    /// Open or switch what is ahead.
    Toggle,
    /// Say that the task is done.
    Done,
}

impl Action {
    /// All actions in order; the first [`MOVES`](Self::MOVES) of them move the agent.
    pub const ALL: [Self; 7] = [
        Self::Left,
        Self::Right,
        Self::Forward,
        Self::PickUp,
        Self::Drop,
        Self::Toggle,
        Self::Done,
    ];

    /// The number of actions that move the agent.
    pub const MOVES: usize = 3;

    /// Its name, MiniGrid's.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Forward => "forward",
            Self::PickUp => "pickup",
            Self::Drop => "drop",
            Self::Toggle => "toggle",
            Self::Done => "done",
        }
    }
}

/// The rules for one room: what to add to the number of a cell to go ahead, by direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    ahead: [CellNumber; 4],
}

/// By action: how many times to turn right.
const TURNS: [u8; 7] = [3, 1, 0, 0, 0, 0, 0];

impl Rules {
    pub(crate) fn new(room: &Room) -> Self {
        let column = room.height() as CellNumber;
        Self {
            ahead: [column, 1, column.wrapping_neg(), 1_u16.wrapping_neg()],
        }
    }

    /// One step: the agent's new pose, and the content that is observed. Without branches on the action, which a processor cannot
    /// predict.
    ///
    /// Walls go all around a room, so the cell ahead of a free cell exists. A checkpoint, a key or a door is observed when it is
    /// entered, goal and lava as long as the agent is there.
    #[inline]
    pub(crate) fn step(
        &self,
        walls: &[bool],
        contents: &[Content],
        legend: &Legend,
        pose: Pose,
        action: u8,
    ) -> (Pose, Content) {
        let forward = action == Action::Forward as u8;
        let ahead = pose
            .cell
            .wrapping_add(self.ahead[usize::from(pose.direction & 3)]);
        let moves = forward & !walls[usize::from(ahead)];
        let after = Pose {
            cell: if moves { ahead } else { pose.cell },
            direction: (pose.direction + TURNS[usize::from(action)]) & 3,
        };
        let content = contents[usize::from(after.cell)];
        let observed = moves | legend.lasts(content);
        (after, if observed { content } else { NOTHING })
    }
}
