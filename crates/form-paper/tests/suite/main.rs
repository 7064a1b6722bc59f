//! The integration tests of form-paper, one binary.

#![allow(clippy::unwrap_used, reason = "in a test it is the assertion")]

mod curves;
mod paper_machines;
mod reproduce;
mod zero_shot;
