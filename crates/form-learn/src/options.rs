//! Which machines are searched, and when to stop without an answer.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::progress::SearchProgress;

/// Which machines to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether edges may have quantified atoms; without them the machine is propositional.
    pub first_order: bool,
    /// The maximum number of parallel edges, a disjunction, from one state to another (the paper's κ).
    pub max_disjuncts: usize,
    /// Whether a run may return to a state it has left.
    pub cyclic: bool,
    /// The bias towards one sub-task per state: a positive `forall` is the only literal of its edge. Its negation keeps the
    /// other edges of the state apart from it, and stands nowhere else: it would be memory within a state.
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
    /// The maximum number of states, accepting and rejecting ones not counted.
    pub max_states: usize,
    /// The time limit of one call.
    pub time: Option<Duration>,
    /// The maximum resident memory of the process, in bytes.
    pub memory: Option<u64>,
    /// A flag that another thread sets to interrupt the search.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Where the built-in search writes how far it is.
    pub progress: Option<Arc<SearchProgress>>,
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
