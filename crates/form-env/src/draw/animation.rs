//! An episode as an animation: SVG, in which the agent moves over one drawing of the room, and GIF.

use std::fmt::Write;

use super::frame::Frame;
use super::gif_file::GifFile;
use super::raster::Pixels;
use super::{scene, svg};
use crate::env::environment::Environment;
use crate::env::spec::Cell;
use crate::error::Result;
use crate::grid::map::Map;
use crate::grid::pose::Direction;
use crate::tasks::task::Task;
use crate::tasks::world::GridWorld;

/// Where the agent went in an episode.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    task: &'a Task,
    map: &'a Map,
    poses: Vec<(Cell, Direction)>,
    /// Milliseconds per step, and the number of steps for which the last frame is shown.
    step: usize,
    rest: usize,
}

/// Milliseconds per step.
const MILLISECONDS_A_STEP: usize = 150;
/// The number of steps for which the last frame is shown.
const REST: usize = 8;

impl<'a> Walk<'a> {
    /// The walk that takes these actions from where the world is now, as far as the episode goes.
    pub fn new(world: &'a GridWorld, actions: impl IntoIterator<Item = usize>) -> Result<Self> {
        let mut walker = world.clone();
        let mut poses = vec![(walker.agent(), walker.direction())];
        for action in actions {
            let over = walker.step(action)?.is_over();
            poses.push((walker.agent(), walker.direction()));
            if over {
                break;
            }
        }
        Ok(Self {
            task: world.task(),
            map: world.map(),
            poses,
            step: MILLISECONDS_A_STEP,
            rest: REST,
        })
    }

    /// Sets the seconds per step, and the number of steps for which the last frame is shown.
    #[must_use]
    pub fn timed(mut self, seconds: f64, rest: usize) -> Self {
        self.step = (1000.0 * seconds).round() as usize;
        self.rest = rest;
        self
    }

    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.poses.len() - 1
    }

    fn room(&self) -> Frame<'a> {
        Frame::of_map(self.task, self.map)
    }

    /// The walk as an animated SVG file.
    pub fn to_svg(&self) -> String {
        let frames = self.poses.len() + self.rest;
        let (mut times, mut places, mut turns) = (String::new(), String::new(), String::new());
        for (i, (cell, direction)) in self.poses.iter().enumerate() {
            let separator = if i == 0 { "" } else { ";" };
            let _ = write!(times, "{separator}{:.5}", i as f64 / frames as f64);
            let _ = write!(places, "{separator}{} {}", cell.x, cell.y);
            let _ = write!(turns, "{separator}{} .5 .5", 90 * *direction as usize);
        }
        let seconds = (frames * self.step) as f64 / 1000.0;
        // A drawing that looks to the east, moved and turned at the beginning of each step; where nothing is animated, it
        // stands where the walk begins.
        let moved = |kind: &str, values: &str| {
            let first = values.split(';').next().unwrap_or_default();
            format!(
                "<g transform=\"{kind}({first})\">\n<animateTransform attributeName=\"transform\" type=\"{kind}\" calcMode=\"discrete\" dur=\"{seconds}s\" repeatCount=\"indefinite\" keyTimes=\"{times}\" values=\"{values}\"/>\n"
            )
        };
        let origin = Cell { x: 0, y: 0 };
        let room = self.room();
        [
            &svg::open(&room),
            &svg::shapes(&scene::room(&room)),
            &moved("translate", &places),
            &moved("rotate", &turns),
            &svg::shapes(&scene::agent(origin, Direction::East)),
            "</g>\n</g>\n</svg>\n",
        ]
        .concat()
    }

    /// The walk as a GIF file, `scale` pixels per cell (from 4 to 256).
    pub fn to_gif(&self, scale: usize) -> Result<Vec<u8>> {
        let room = Pixels::of_room(&self.room(), scale)?;
        let picture = |(cell, direction): (Cell, Direction)| {
            let mut picture = room.clone();
            picture.put_agent(cell, direction, scale);
            picture
        };
        // Nothing is longer than 16 bits can say.
        let shown = |pose: usize| match pose == self.steps() {
            true => ((1 + self.rest) * self.step / 10) as u16,
            false => (self.step / 10) as u16,
        };
        let mut file = GifFile::new(picture(self.poses[0]), shown(0))?;
        for (number, pose) in self.poses.iter().enumerate().skip(1) {
            file.add(picture(*pose), shown(number))?;
        }
        file.finish()
    }
}
