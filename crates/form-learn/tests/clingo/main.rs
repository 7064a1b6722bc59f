//! The learner against clingo on the same problem as an answer set program. Needs the program `clingo`:
//! `cargo test --workspace --test clingo`.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod differential;
mod optimum;
mod tolerate;

#[path = "../suite/brute_force.rs"]
#[allow(dead_code, reason = "the suite uses the rest")]
mod brute_force;
#[path = "../suite/families.rs"]
#[allow(dead_code, reason = "the suite uses the rest")]
mod families;
#[path = "../suite/machines.rs"]
#[allow(dead_code, reason = "the suite uses the rest")]
mod machines;
#[path = "../suite/problems.rs"]
#[allow(dead_code, reason = "the suite uses the rest")]
mod problems;
