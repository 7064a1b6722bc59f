//! Machines, traces and atoms as answer set programs (ASP), in the vocabulary of the paper.

pub(crate) mod machine;
mod terms;
