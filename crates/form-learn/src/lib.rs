//! proto
#![allow(missing_docs, dead_code, clippy::all, clippy::unwrap_used, unused)]
mod encode;
mod tree;
mod vocabulary;
pub mod proto;
