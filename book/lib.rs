//! Tests the Rust code on the pages of the book: each page that has some is the documentation of a module, whose examples
//! `cargo test` compiles and runs.
//!
//! The test of the pages (`crates/form-cli/tests/suite/book`) makes sure that no page with Rust is missing here.

/// Worlds and tasks.
#[cfg(doctest)]
#[doc = include_str!("../book/src/worlds.md")]
pub mod worlds {}

/// A world of your own.
#[cfg(doctest)]
#[doc = include_str!("../book/src/own_worlds.md")]
pub mod own_worlds {}

/// Any task at once.
#[cfg(doctest)]
#[doc = include_str!("../book/src/reach_avoid_planes.md")]
pub mod reach_avoid_planes {}

/// The policy for sub-tasks.
#[cfg(doctest)]
#[doc = include_str!("../book/src/reach_avoid.md")]
pub mod reach_avoid {}
