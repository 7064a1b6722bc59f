//! The integration tests of the crate, in one binary.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod asp;
mod drawing;
mod machines;
