//! Exact learning of the smallest first-order reward machine from traces.
#![allow(missing_docs, dead_code, clippy::all, clippy::unwrap_used, unused)]
pub mod asp;
mod encode;
mod error;
mod problem;
mod tree;
mod vocabulary;
pub mod proto;
pub use error::{Error, Result};
pub use problem::{Limits, Options};
