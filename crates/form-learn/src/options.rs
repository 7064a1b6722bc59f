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
    /// The bias towards one sub-task per state: a positive `forall` is the only literal of its edge, and a positive `once` or `atleast` has
    /// no literal about the newest observation beside it. Their negations keep the other edges of the state apart from them, and stand
    /// nowhere else: they would be memory within a state.
    pub forall_alone: bool,
    /// Whether edges may have `once p(o)` and `exists X. once p(X)`.
    pub once: bool,
    /// The largest number that `atleast` may count to; below 2 there is no `atleast`.
    pub counts: usize,
    /// Whether edges may have joins, `exists X. (once p(X) and q(X))`.
    pub joins: bool,
    /// For measurements and tests: which techniques the search uses. The answer is the same with any of them.
    #[doc(hidden)]
    pub techniques: Techniques,
}

impl Options {
    /// Whether edges may have atoms that look at the window and are not `forall`.
    pub(crate) fn windows(&self) -> bool {
        self.once || self.first_order && (self.counts > 1 || self.joins)
    }
}

/// The techniques that can be left out, each exact: without it the same machine is found, later.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Techniques {
    /// Lower bounds by counting stays, and runs in the order encoding (`cuts`, `table_runs`); the relaxation rests on them.
    pub stays: bool,
    /// Clauses about the order of states alone (`order`).
    pub order: bool,
    /// Pieces of traces for refutations with cycles (`pieces`, `cycles`).
    pub pieces: bool,
    /// Machines of the lowest cost without a solver (`chains`).
    pub chains: bool,
    /// Tables instead of guards for refutations (`relaxation`).
    pub relaxation: bool,
    /// Tables with their exact cost where an observation has one atom (`letters`).
    pub letters: bool,
    /// The bound on the cost shape by shape (`skeletons`).
    pub skeletons: bool,
    /// Machines of one cost without a solver where an observation has one atom (`follow`).
    pub follow: bool,
    /// The search with more states (`above`).
    pub above: bool,
    /// The bound on the number of connected pairs of states (`cost`).
    pub connections: bool,
}

impl Default for Techniques {
    fn default() -> Self {
        Self {
            stays: true,
            order: true,
            pieces: true,
            chains: true,
            relaxation: true,
            letters: true,
            skeletons: true,
            follow: true,
            above: true,
            connections: true,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            first_order: true,
            max_disjuncts: 1,
            cyclic: false,
            forall_alone: true,
            once: false,
            counts: 1,
            joins: false,
            techniques: Techniques::default(),
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
    /// The work limit of one call: how often it looks at its limits, which the SAT solver does at every call and every few decisions and conflicts,
    /// and all other long work at fixed intervals. The same traces and limit stop at the same place with the same answer, on any
    /// computer and with any number of threads; with this limit one thread searches.
    pub work: Option<u64>,
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
            work: None,
            memory: None,
            interrupt: None,
            progress: None,
        }
    }
}
