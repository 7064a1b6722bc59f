//! The integration tests of form-cli, one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod architecture;
mod binary;
mod book;
mod broken;
mod commands;
mod evaluating;
mod explain;
mod faults;
mod first_use;
mod help;
mod kept_results;
#[cfg(target_os = "linux")]
mod memory;
mod program;
mod real_traces;
mod reports;
mod running;
mod runs;
#[cfg(target_os = "linux")]
mod terminal;
mod training;
mod worlds;
