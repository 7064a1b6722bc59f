//! The integration tests of form-lab, one binary: a file an instrument.

#![allow(clippy::unwrap_used, reason = "in a test it is the assertion")]

mod curves;
#[cfg(target_os = "linux")]
mod display;
mod events;
mod summary;
mod tables;
