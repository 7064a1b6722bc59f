//! What comes of relearning: a machine with the policies that survive it, or none.

use std::time::Duration;

use form_core::{Machine, Trace};
use form_learn::StopReason;

use super::PolicyReuse;

/// A machine that was learnt.
#[derive(Clone, Debug)]
pub struct RelearntMachine {
    /// The machine.
    pub machine: Machine,
    /// Whether it is proven minimal.
    pub minimal: bool,
    /// Whether queries found it, and not the learner.
    pub by_queries: bool,
    /// The counterexamples that were new.
    pub counterexamples: Vec<Trace>,
    /// How long the learner took.
    pub time: Duration,
    /// Which policies survived.
    pub reused: Vec<PolicyReuse>,
}

/// What came of relearning.
pub(super) enum RelearnOutcome {
    /// There is nothing to learn from yet.
    NoGoalYet,
    /// With a tolerance: the current machine is still the best.
    SameMachine,
    /// A machine that is consistent with all traces, or misjudges as few as tolerated.
    Machine(Box<RelearntMachine>),
    /// The learner reached a limit first.
    Stopped(StopReason),
}
