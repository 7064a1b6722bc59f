//! The integration tests of form-cli, one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod architecture;
mod binary;
mod broken;
mod commands;
mod explain;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod terminal;
mod worlds;
