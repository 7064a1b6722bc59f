//! Exact learning of the smallest first-order reward machine from traces.

mod data;
mod decode;
mod encode;
mod outcome;
mod problem;
mod search;
mod tree;
mod vocabulary;

pub use outcome::{Learnt, Outcome, Round, StopReason};
pub use problem::{Limits, Options};
pub use search::Learner;
