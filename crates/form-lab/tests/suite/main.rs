//! The integration tests of form-lab, one binary.

#![allow(clippy::unwrap_used, reason = "in a test it is the assertion")]

mod config;
mod different_objects;
mod evaluation;
mod exploration;
mod joint_loop;
mod report;
mod session;
mod success;
mod tiny;
mod transfer;
mod vector_world;
