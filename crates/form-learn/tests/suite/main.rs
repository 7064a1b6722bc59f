//! The integration tests of form-learn, one binary.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod asp;
mod brute_force;
mod explain;
mod families;
mod forced;
mod learner;
mod lifted;
mod machines;
mod problems;
mod sat;
mod techniques;
mod tolerate;
