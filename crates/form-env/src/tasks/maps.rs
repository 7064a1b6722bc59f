//! The maps of a task, drawn from a seed. Map `i` does not depend on the number of maps drawn, and no training run sees a held-out
//! map.
//!
//! Every map has a random stream of its own. Whether a map is held out is a property of the map itself: a hash of its visible
//! contents holds out one map in eight. Training maps are drawn from the others, so the two sets are disjoint for all seeds and
//! numbers of maps. A task with few maps holds none out. Maps on which the task cannot be completed are drawn again.

use std::sync::Arc;

use form_core::AtomId;
use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::solvable;
use super::task::Task;
use crate::env::random::{Stream, generator};
use crate::env::spec::Cell;
use crate::error::{Error, Result};
use crate::grid::map::{Content, Map, NOTHING, Object};
use crate::grid::pose::Pose;
use crate::grid::room::CellNumber;

/// The training maps, or the held-out maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// Maps to train on.
    Training,
    /// Maps that no training run sees.
    HeldOut,
}

/// One map in eight is held out.
const HELD_OUT: u64 = 8;

/// The maximum number of draws per map.
const MOST_DRAWS: usize = 10_000;

/// The maps that worlds are played on.
#[derive(Clone, Debug)]
pub enum Maps {
    /// These, in turn.
    Set(Arc<[Map]>),
    /// A new map per episode.
    Fresh(Split),
}

impl Task {
    /// The first `count` maps of a seed.
    pub fn maps(&self, seed: u64, split: Split, count: usize) -> Result<Arc<[Map]>> {
        let draw = |i| self.map(seed, split, i);
        (0..count as u64).into_par_iter().map(draw).collect()
    }

    /// One map of a seed.
    pub fn map(&self, seed: u64, split: Split, number: u64) -> Result<Map> {
        let stream = match split {
            Split::Training => Stream::Map(number),
            Split::HeldOut => Stream::HeldOutMap(number),
        };
        self.draw_map(split, &mut generator(seed, stream))
    }

    /// The share of random maps on which it can be completed from somewhere.
    pub fn solvable_share(&self, seed: u64, draws: u64) -> f64 {
        let is_solvable = |number: &u64| {
            let (objects, contents) =
                self.draw_contents(&mut generator(seed, Stream::Map(*number)));
            !solvable::starts(self, objects, &contents).is_empty()
        };
        let solvable = (0..draws).into_par_iter().filter(is_solvable).count();
        solvable as f64 / draws.max(1) as f64
    }

    /// Draws maps until one can be solved and belongs to the split.
    pub(crate) fn draw_map(&self, split: Split, random: &mut dyn Rng) -> Result<Map> {
        let mut of_the_split = 0;
        for _ in 0..MOST_DRAWS {
            let (objects, contents) = self.draw_contents(random);
            if self.split_of(&contents) != split {
                continue;
            }
            of_the_split += 1;
            let starts = solvable::starts(self, objects, &contents);
            if !starts.is_empty() {
                let own_start = draw_start(&starts, random);
                return Ok(Map {
                    contents,
                    objects,
                    starts: starts.into(),
                    own_start,
                });
            }
        }
        Err(Error::NoMap {
            task: self.name().to_owned(),
            draws: MOST_DRAWS,
            wanted: match split {
                _ if of_the_split > 0 => "can be completed",
                Split::HeldOut => "is held out: it has too few different maps",
                Split::Training => "is one to train on",
            },
        })
    }

    /// One of the sets of objects: checkpoints, keys and doors at distinct cells of their area, lava at others, all equally likely.
    pub(crate) fn draw_contents(&self, random: &mut dyn Rng) -> (usize, Box<[Content]>) {
        let objects = match self.sets.len() {
            1 => 0,
            sets => random.random_range(0..sets),
        };
        (objects, self.draw_contents_of(objects, random))
    }

    /// The same for the set of objects of this number.
    pub(crate) fn draw_contents_of(&self, objects: usize, random: &mut dyn Rng) -> Box<[Content]> {
        let own = &self.sets[objects].own;
        let room = self.room();
        let mut contents = vec![NOTHING; room.walls().len()].into_boxed_slice();
        contents[usize::from(room.number(room.goal()))] = self.goal();
        let mut put = |contents: &mut [Content], among: &mut Vec<CellNumber>, content: Content| {
            // Task::new has made sure that there are enough cells.
            let chosen = among.swap_remove(random.random_range(0..among.len()));
            contents[usize::from(chosen)] = content;
        };
        let in_area = |number: &CellNumber| room.area().contains(room.cell(*number));
        let mut free: Vec<CellNumber> = room.free().filter(in_area).collect();
        let present = (self.objects().iter().zip(1..))
            .zip(self.signature().ids())
            .filter(|(_, atom)| own.contains(*atom));
        let mut placed: Vec<((u8, usize), Content)> = present
            .filter_map(|((object, content), _)| match object {
                Object::Checkpoint { number, .. } => Some(((0, *number), content)),
                Object::Key(colour) => Some(((1, *colour as usize), content)),
                Object::Door(colour) => Some(((2, *colour as usize), content)),
                Object::Goal | Object::Lava => None,
            })
            .collect();
        placed.sort_unstable();
        for (_, content) in placed {
            put(&mut contents, &mut free, content);
        }
        if let Some(lava) = self.lava() {
            let mut free: Vec<CellNumber> = (room.free())
                .filter(|number| contents[usize::from(*number)] == NOTHING)
                .collect();
            for _ in 0..self.description().lava {
                put(&mut contents, &mut free, lava);
            }
        }
        contents
    }

    /// The split that a map belongs to. Checkpoints of one colour look alike, so exchanging them makes no difference.
    fn split_of(&self, contents: &[Content]) -> Split {
        if !self.holds_out {
            return Split::Training;
        }
        let looks = |content: &Content| match self.legend.object(*content) {
            None => 0,
            Some(Object::Goal) => 1,
            Some(Object::Lava) => 2,
            Some(Object::Checkpoint { colour, .. }) => 3 + colour as u64,
            Some(Object::Key(colour)) => 9 + colour as u64,
            Some(Object::Door(colour)) => 15 + colour as u64,
        };
        // FNV-1a, finished as SplitMix64 does so that the low bits depend on everything.
        let hash = contents
            .iter()
            .map(looks)
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, look| {
                (hash ^ look).wrapping_mul(0x0100_0000_01b3)
            });
        let hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        if (hash ^ hash >> 31).is_multiple_of(HELD_OUT) {
            Split::HeldOut
        } else {
            Split::Training
        }
    }

    /// The split that a map belongs to.
    pub fn split(&self, map: &Map) -> Split {
        self.split_of(&map.contents)
    }

    /// Rejects a map that does not fit this task.
    pub(crate) fn expect_own(&self, map: &Map) -> Result<()> {
        let walls = self.room().walls();
        let own: Option<Vec<bool>> = (self.sets.get(map.objects)).map(|set| {
            let present = self.signature().ids().map(|atom| set.own.contains(atom));
            std::iter::once(true).chain(present).collect()
        });
        let is_own = |content: &Content| {
            let own = own.as_ref().and_then(|own| own.get(usize::from(*content)));
            own.copied().unwrap_or(false)
        };
        let fits = map.contents.len() == walls.len()
            && map.contents.iter().all(is_own)
            && (map.starts.iter()).all(|cell| !walls[usize::from(*cell)]);
        if fits {
            return Ok(());
        }
        Err(Error::Task {
            task: self.name().to_owned(),
            problem: "the map belongs to another task".to_owned(),
        })
    }

    /// The cell of the one object that an atom is about; lava may lie in many.
    pub(crate) fn cell_of(&self, map: &Map, atom: AtomId) -> Option<Cell> {
        let content = Content::try_from(atom.index() + 1).ok()?;
        map.cell_of(self.room(), content)
            .filter(|_| Some(content) != self.lava())
    }

    /// All cells in which an atom is observed.
    pub fn cells_of(&self, map: &Map, atom: AtomId) -> Vec<Cell> {
        let here = |content: Content| usize::from(content) == atom.index() + 1;
        (map.contents.iter().zip(0..))
            .filter(|(content, _)| here(**content))
            .map(|(_, number)| self.room().cell(number))
            .collect()
    }

    /// The object in a cell of a map.
    pub fn object(&self, map: &Map, cell: Cell) -> Option<Object> {
        map.object(self.room(), &self.legend, cell)
    }
}

/// Where episodes on a map start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Starts {
    /// In any cell from which the task can be completed, drawn per episode.
    #[default]
    Anywhere,
    /// In the cell and direction that were drawn with the map.
    OfTheMap,
}

impl Starts {
    /// Where an episode starts.
    pub(crate) fn pose(self, map: &Map, random: &mut dyn Rng) -> Pose {
        match self {
            Self::Anywhere => draw_start(&map.starts, random),
            Self::OfTheMap => map.own_start,
        }
    }
}

/// One of these cells, and a direction.
fn draw_start(cells: &[CellNumber], random: &mut dyn Rng) -> Pose {
    Pose {
        cell: cells[random.random_range(0..cells.len())],
        direction: random.random_range(0..4_u8),
    }
}
