//! What came of learning: the machine, what was proven about it, and what it took.

use std::time::Duration;

use form_core::Machine;

/// The result of learning.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The smallest machine, proven so.
    Minimal(Learnt),
    /// A limit was reached first.
    Stopped {
        /// Which limit.
        reason: StopReason,
        /// No machine with fewer states is consistent with the traces.
        at_least_states: usize,
        /// With just that many states, no machine has fewer edges and literals.
        at_least_cost: usize,
        /// The best consistent machine so far, if one was found.
        best: Option<Learnt>,
    },
    /// No machine can be consistent: pairs of traces, numbered as they were added, that contradict each other.
    Contradictory(Vec<(usize, usize)>),
}

impl Outcome {
    /// The machine, proven minimal or not.
    pub fn learnt(&self) -> Option<&Learnt> {
        match self {
            Self::Minimal(learnt) => Some(learnt),
            Self::Stopped { best, .. } => best.as_ref(),
            Self::Contradictory(_) => None,
        }
    }
}

/// A machine that is consistent with all traces and deterministic, both checked by the evaluator.
#[derive(Clone, Debug, PartialEq)]
pub struct Learnt {
    /// The machine.
    pub machine: Machine,
    /// Its states, the accepting and the rejecting one not counted.
    pub states: usize,
    /// Its edges and literals together.
    pub cost: usize,
}

/// Why a search ended without a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The time was up.
    Time,
    /// No machine within the number of states allowed.
    States,
    /// Too much memory.
    Memory,
    /// Somebody wanted it to end.
    Interrupted,
}

/// What one number of states took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// States, the accepting and the rejecting one not counted.
    pub states: usize,
    /// Traces, or parts of them, that refuted a candidate and were added to the search.
    pub counterexamples: usize,
    /// Questions to the solver.
    pub solver_calls: usize,
    /// Clauses it was given.
    pub clauses: usize,
    /// Time.
    pub time: Duration,
    /// Whether it was proven that so many states do not suffice.
    pub refuted: bool,
}
