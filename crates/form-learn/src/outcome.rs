//! The result of learning: the machine, what was proven about it, and the effort per number of states.

use std::time::Duration;

use form_core::Machine;

/// The result of learning.
#[derive(Clone, Debug, PartialEq)]
pub enum LearnOutcome {
    /// The smallest machine, proven minimal.
    Minimal(Learnt),
    /// A limit was reached first.
    Stopped {
        /// Which limit.
        reason: StopReason,
        /// Lower bound: no machine with fewer states is consistent with the traces.
        at_least_states: usize,
        /// Lower bound: no machine with `at_least_states` states has fewer edges and literals.
        at_least_cost: usize,
        /// The best consistent machine so far, if one was found.
        best: Option<Learnt>,
    },
    /// No machine can be consistent: pairs of contradictory traces, numbered as they were added. A trace that is over before
    /// the first observation is paired with itself.
    Contradictory(Vec<(usize, usize)>),
}

impl LearnOutcome {
    /// A search that ended before it found a machine; `at_least_states` is the lower bound it has proven.
    pub(crate) fn stopped(reason: StopReason, at_least_states: usize) -> Self {
        Self::Stopped {
            reason,
            at_least_states,
            at_least_cost: 0,
            best: None,
        }
    }

    /// No machine has at most the allowed number of states.
    pub(crate) fn none_within(max_states: usize) -> Self {
        Self::stopped(StopReason::States, max_states + 1)
    }

    /// The machine, proven minimal or not.
    pub fn learnt(&self) -> Option<&Learnt> {
        match self {
            Self::Minimal(learnt) => Some(learnt),
            Self::Stopped { best, .. } => best.as_ref(),
            Self::Contradictory(_) => None,
        }
    }

    /// The machine, proven minimal or not, without a copy.
    pub(crate) fn into_learnt(self) -> Option<Learnt> {
        match self {
            Self::Minimal(learnt) => Some(learnt),
            Self::Stopped { best, .. } => best,
            Self::Contradictory(_) => None,
        }
    }

    /// What was found and proven, in a sentence. `state_limit` is the maximum number of states as the user wrote it.
    pub fn describe(&self, state_limit: &str) -> String {
        match self {
            Self::Minimal(learnt) => format!("{}: proven minimal", learnt.describe_size()),
            Self::Stopped {
                reason,
                at_least_states,
                at_least_cost,
                best,
            } => {
                let at = match reason {
                    StopReason::Time => "at the time limit",
                    StopReason::Work => "at the work limit",
                    StopReason::States => &format!("at {state_limit}"),
                    StopReason::Memory => "at the memory limit",
                    StopReason::Interrupted => "by an interrupt",
                };
                let best = best.as_ref().map_or_else(
                    || "no consistent machine found".to_owned(),
                    |best| format!("the best machine so far has {}", best.describe_size()),
                );
                let states = count(*at_least_states, "state");
                let mut bound = format!("at least {states}");
                if *at_least_cost > 0 {
                    let cost = edges_and_literals(*at_least_cost);
                    bound += &format!(", and with {states} at least {cost}");
                }
                format!("stopped {at}: {best}; proven: {bound}")
            }
            Self::Contradictory(pairs) => {
                format!("{} of contradictory traces", count(pairs.len(), "pair"))
            }
        }
    }
}

/// `1 state`, `2 states`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

fn edges_and_literals(cost: usize) -> String {
    match cost {
        1 => "1 edge or literal".to_owned(),
        _ => format!("{cost} edges and literals"),
    }
}

/// A machine that is consistent with all traces and deterministic, both checked by the evaluator.
#[derive(Clone, Debug, PartialEq)]
pub struct Learnt {
    /// The machine.
    pub machine: Machine,
    /// Its number of states, accepting and rejecting ones not counted.
    pub states: usize,
    /// Its cost.
    pub cost: Cost,
}

impl Learnt {
    /// `2 states + accept, 4 edges and literals`.
    pub fn describe_size(&self) -> String {
        let states = self.machine.describe_states();
        format!("{states}, {}", edges_and_literals(self.cost.size))
    }
}

/// The objective among machines with the same number of states, compared lexicographically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost {
    /// Edges and literals together.
    pub size: usize,
    /// Literals that name objects.
    pub ground: usize,
    /// Negative literals.
    pub negative: usize,
}

/// Which limit ended a search without a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The time limit.
    Time,
    /// The work limit.
    Work,
    /// The maximum number of states: no machine within it is consistent.
    States,
    /// The memory limit.
    Memory,
    /// The interrupt flag.
    Interrupted,
}

/// The effort for one number of states.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// The number of states, accepting and rejecting ones not counted.
    pub states: usize,
    /// Traces, or prefixes of traces, that refuted a candidate and were given to the solver.
    pub counterexamples: usize,
    /// Nodes that they added to the prefix tree.
    pub steps: usize,
    /// Calls of the SAT solver.
    pub solver_calls: usize,
    /// Clauses given to it.
    pub clauses: usize,
    /// Time.
    pub time: Duration,
    /// Whether this number of states was proven insufficient.
    pub refuted: bool,
}
