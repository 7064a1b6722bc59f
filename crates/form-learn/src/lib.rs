//! Exact learning of the smallest first-order reward machine from traces.
//!
//! A [`Learner`] takes traces and answers with the smallest machine that is consistent with all of them, proven so, or with
//! what was proven before a limit was reached. From a trace file to a drawn machine:
//!
//! ```no_run
#![doc = include_str!("../examples/learn.rs")]
//! ```
//!
//! [`asp`] states the same problem for other solvers, [`walks`] records traces to learn from.

pub mod asp;
mod attempt;
mod data;
mod decode;
mod encode;
mod error;
mod explain;
mod minimise;
mod outcome;
mod problem;
mod search;
mod tree;
mod verify;
mod vocabulary;
pub mod walks;
mod watch;

pub use error::{Error, Result};
pub use explain::{Core, Evidence, Explanation, Level, Proof, Reason};
pub use outcome::{Cost, Learnt, Outcome, Round, StopReason};
pub use problem::{Limits, Options};
pub use search::Learner;
