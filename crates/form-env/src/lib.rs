//! Labelled environments: their interface, the grid world of the paper, and its tasks.
//!
//! - **The interface**: [`Environment`] is one world, [`Worlds`] are many that are stepped together; [`check_environment`] tests
//!   any environment. All randomness comes from a [`generator`] that is passed in.
//! - **The grid world**: a [`Task`] is a [`Room`], the objects in it, and the machine that defines success and failure.
//!   [`Task::builtin`] has those of the paper and some more, [`Task::open`] reads a file, [`Task::maps`] draws maps that can be solved.
//!   [`GridWorld`] plays one world, [`GridWorlds`] many.
//! - **Plans**: a [`Planner`] says which cells of a map to reach next, and which to avoid, so that a machine accepts.
//! - **Benchmarks**: [`LetterWorld`] is Office, Craft and Letter world, [`WaterWorld`] the fourth; a [`Benchmark`] has tasks. A
//!   [`LabelledMdp`] is a world as a table.
//! - **Pictures**: a [`Frame`] is drawn as text, SVG or PNG, a [`Walk`] as an animated SVG or GIF; [`Pixels`] and [`GifFile`] make
//!   pictures of other things beside them.

mod benchmarks;
mod draw;
mod env;
mod error;
mod grid;
mod plan;
pub mod speed;
mod tasks;
mod vector;

pub use benchmarks::letter_grid::LetterGrid;
pub use benchmarks::letter_world::{LetterWorld, Naming};
pub use benchmarks::tasks::Benchmark;
pub use benchmarks::water::WaterWorld;
pub use benchmarks::world::BenchmarkWorld;
pub use draw::animation::Walk;
pub use draw::frame::Frame;
pub use draw::gif_file::GifFile;
pub use draw::palette::Rgb;
pub use draw::raster::{Coverage, Pixels};
pub use draw::text::Glyph;
pub use env::checker::{CheckOptions, Violation, check_environment};
pub use env::environment::Environment;
pub use env::labelled_mdp::{LabelledMdp, Outcome};
pub use env::random::{Random, Stream, generator};
pub use env::spec::{Cell, Channel, EpisodeOutcome, Feature, Planes, Spec};
pub use error::{Error, Result};
pub use grid::colour::Colour;
pub use grid::map::{Map, Object};
pub use grid::pose::Direction;
pub use grid::reach_avoid::ReachAvoid;
pub use grid::room::{Area, MAX_SIDE, Room};
pub use grid::rules::Action;
pub use grid::view::View;
pub use plan::label_map::LabelMap;
pub use plan::planner::{Plan, Planner};
pub use tasks::builtin::{builtin_tasks, nearest_task, paper_tasks};
pub use tasks::maps::{Maps, Split, Starts};
pub use tasks::object_sets::Counts;
pub use tasks::situations::{Next, Situations};
pub use tasks::solution::{Shortest, shortest, solution};
pub use tasks::task::{Task, TaskDescription};
pub use tasks::world::{Actions, GridWorld, WorldOptions};
pub use vector::copies::Copies;
pub use vector::grid_worlds::GridWorlds;
pub use vector::random_walks::{RandomWalks, RecordedWalks};
pub use vector::worlds::Worlds;
