//! What came of learning: the machine, what was proven about it, and what it took.

use std::time::Duration;

use form_core::Machine;

use crate::problem::Limits;

/// The result of learning.
#[derive(Clone, Debug, PartialEq)]
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
    /// No machine can be consistent: pairs of traces, numbered as they were added, that contradict each other. A trace that
    /// is over before anything was observed is paired with itself.
    Contradictory(Vec<(usize, usize)>),
}

impl Outcome {
    /// A search that ended before anything was found with so many states; fewer do not suffice.
    pub(crate) fn stopped(reason: StopReason, at_least_states: usize) -> Self {
        Self::Stopped {
            reason,
            at_least_states,
            at_least_cost: 0,
            best: None,
        }
    }

    /// No machine within the states allowed.
    pub(crate) fn none_within(limits: &Limits) -> Self {
        Self::stopped(StopReason::States, limits.max_states + 1)
    }

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
    /// What it was minimised by.
    pub cost: Cost,
}

/// What is minimised among machines with the same number of states, the most important first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost {
    /// Edges and literals together.
    pub size: usize,
    /// Literals that name objects.
    pub ground: usize,
    /// Negative literals.
    pub negative: usize,
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
    /// Observations of theirs that the solver had not seen at the same place of another one.
    pub steps: usize,
    /// Questions to the solver.
    pub solver_calls: usize,
    /// Clauses it was given.
    pub clauses: usize,
    /// Time.
    pub time: Duration,
    /// Whether it was proven that so many states do not suffice.
    pub refuted: bool,
}
