//! Exact learning of the smallest first-order reward machine from traces.
#![allow(missing_docs, dead_code, clippy::all, clippy::unwrap_used, unused)]
mod encode;
mod problem;
mod tree;
mod vocabulary;
pub mod proto;
pub use problem::{Limits, Options};
