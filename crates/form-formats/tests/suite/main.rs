//! The integration tests of form-formats, one binary.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod asp;
mod fuzz_laws;
mod ltlf;
#[path = "../../../form-core/tests/suite/machines.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod machines;
mod regressions;
mod round_trip;
