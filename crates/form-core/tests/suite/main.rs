//! The integration tests of form-core, one binary.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod allocation;
mod arbitrary;
mod drawing;
mod figures;
mod fuzz_laws;
mod laws;
mod machines;
mod regressions;
mod size;
mod steps;
mod windows;
