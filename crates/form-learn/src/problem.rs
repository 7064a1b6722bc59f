//! The problem: which machines are asked for, and which of them is the smallest.
//!
//! Given traces, find a machine that is consistent with all of them and deterministic, with the fewest states; among
//! those, with the fewest edges and literals together; among those, with the fewest ground atoms, then the fewest
//! negations, then the first in the order of its edges. So the same set of traces gives the same machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

/// Which machines to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether edges may have quantified atoms; without, the machine is propositional.
    pub first_order: bool,
    /// How many parallel edges, a disjunction, may lead from one state to another (the paper's κ).
    pub max_disjuncts: usize,
    /// Whether a run may come back to a state it has left.
    pub cyclic: bool,
    /// The bias towards one sub-task a state: a positive `forall` is the only literal of its edge. Other edges of the
    /// state are kept apart from it by its negation.
    pub forall_alone: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            first_order: true,
            max_disjuncts: 1,
            cyclic: false,
            forall_alone: true,
        }
    }
}

/// When to stop without an answer.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most states to try, the accepting and the rejecting one not counted.
    pub max_states: usize,
    /// The time a call may take.
    pub time: Option<Duration>,
    /// The memory of the process, in bytes.
    pub memory: Option<u64>,
    /// Set from elsewhere to interrupt the search.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Where the built-in search tells how many states it is trying, for those who wait.
    pub progress: Option<Arc<AtomicUsize>>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_states: 10,
            time: None,
            memory: None,
            interrupt: None,
            progress: None,
        }
    }
}
