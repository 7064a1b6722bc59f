//! The integration tests of form-env, one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod benchmarks;
mod checker;
mod different_objects;
mod fuzz_laws;
mod maps;
mod pictures;
mod plans;
mod playing;
mod regressions;
mod task_files;
mod vector;
