//! Exact learning of the smallest first-order reward machine from traces.

pub mod asp;
mod data;
mod decode;
mod encode;
mod error;
mod outcome;
mod problem;
mod search;
mod tree;
mod verify;
mod vocabulary;

pub use error::{Error, Result};
pub use outcome::{Cost, Learnt, Outcome, Round, StopReason};
pub use problem::{Limits, Options};
pub use search::Learner;
