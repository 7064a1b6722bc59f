//! What a search has used.

use std::ops::Add;

/// What a CEGIS loop has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effort {
    pub(crate) counterexamples: usize,
    /// Nodes that they added to the prefix tree.
    pub(crate) steps: usize,
    pub(crate) calls: usize,
    pub(crate) clauses: usize,
}

impl Add for Effort {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            counterexamples: self.counterexamples + other.counterexamples,
            steps: self.steps + other.steps,
            calls: self.calls + other.calls,
            clauses: self.clauses + other.clauses,
        }
    }
}
