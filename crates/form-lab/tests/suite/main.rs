//! The integration tests of form-lab, one binary: a file an instrument.

#![allow(clippy::unwrap_used, reason = "in a test it is the assertion")]

mod config;
mod curves;
#[cfg(target_os = "linux")]
mod display;
mod evaluation;
mod events;
mod joint_loop;
mod marked;
mod paper_machines;
mod report;
mod reproduce;
mod session;
mod staff;
mod success;
mod tables;
mod tiny;
mod transfer;
mod vector_world;
