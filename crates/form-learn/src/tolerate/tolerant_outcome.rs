//! What comes of learning with a tolerance: the machine, the table of states and misjudged traces, and the suspects.

use form_core::Kind;

#[cfg(doc)]
use super::Tolerance;
use crate::outcome::{LearnOutcome, Round, count};

/// The result of learning with a tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct TolerantOutcome {
    /// The machine. [`LearnOutcome::Minimal`]: no machine with fewer states misjudges as few traces as tolerated, no machine with
    /// as many states misjudges fewer, and none of these is cheaper. For [`Tolerance::Auto`]: no machine with as many states has a
    /// shorter description together with the traces that it misjudges; nothing is proven of other numbers of states.
    pub outcome: LearnOutcome,
    /// What is known for each number of states.
    pub levels: Vec<Level>,
    /// The traces that the machine misjudges, by number.
    pub suspects: Vec<Suspect>,
    /// Whether other traces may be wrong just as well.
    pub others: OtherSuspects,
    /// Their number, duplicates counted.
    pub misjudged: u64,
    /// Whether there are goal traces, and the machine accepts none of them.
    pub accepts_no_goal: bool,
    /// How many were tolerated; for [`Tolerance::Auto`] the number that was chosen.
    pub tolerated: u64,
    /// The effort per number of states.
    pub rounds: Vec<Round>,
}

impl TolerantOutcome {
    /// Whether description length chose the number of states.
    pub fn by_description(&self) -> bool {
        self.levels.iter().any(|level| level.bits.is_some())
    }

    /// What was found and proven, in a sentence. `state_limit` is the maximum number of states as the user wrote it.
    pub fn describe(&self, state_limit: &str) -> String {
        match &self.outcome {
            LearnOutcome::Minimal(learnt) if self.by_description() => format!(
                "{}: no machine with {} has a shorter description (proven)",
                learnt.describe_size(),
                count(learnt.states, "state")
            ),
            outcome => outcome.describe(state_limit),
        }
    }

    /// What is wrong with a machine that accepts no goal trace, or that has no edges and tells no trace from another: too many traces are
    /// tolerated, or there are too few of them for [`Tolerance::Auto`]. `one` is the tolerance of one trace as the user writes it.
    pub fn warning(&self, one: &str) -> Option<String> {
        let learnt = self.outcome.learnt()?;
        let what = match (learnt.machine.edges().is_empty(), self.accepts_no_goal) {
            (true, _) if self.misjudged > 0 => {
                "the machine has no edges and misjudges all traces that are over"
            }
            (false, true) => "the machine accepts none of the goal traces",
            _ => return None,
        };
        let why = match self.by_description() {
            true => format!(
                "there are too few traces for `auto`, or their atoms do not tell how they end; tolerate a number, such as {one}"
            ),
            false => "that is no more than tolerated; tolerate fewer".to_owned(),
        };
        Some(format!("{what}: {why}"))
    }
}

/// What is known about the machines with at most one number of states.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The number of states, accepting and rejecting ones not counted.
    pub states: usize,
    /// The fewest misjudged traces of a machine found so far, duplicates counted. For [`Tolerance::Auto`], those of the machine with
    /// the shortest description so far.
    pub fewest_misjudged: u64,
    /// Lower bound: no machine misjudges fewer. For [`Tolerance::Auto`] none is looked for, and it is 0.
    pub at_least: u64,
    /// The bits of the shortest description found, for [`Tolerance::Auto`]: an upper bound unless `shortest_proven`.
    pub bits: Option<f64>,
    /// Whether no machine with this number of states has a shorter description.
    pub shortest_proven: bool,
}

impl Level {
    /// Whether no machine misjudges fewer traces.
    pub fn proven(&self) -> bool {
        self.fewest_misjudged == self.at_least
    }
}

/// A trace that the learnt machine misjudges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// The number of the trace, as it was returned when the trace was added.
    pub trace: usize,
    /// What its kind should be for the machine.
    pub expected: Kind,
    /// The number of observations after which the machine and the trace disagree.
    pub after: usize,
}

/// Whether another machine with as many states, that costs no more and misjudges as few traces, misjudges others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OtherSuspects {
    /// None does: proven.
    None,
    /// One misjudges these.
    Traces(Vec<Suspect>),
    /// It is not known: there is no proven machine, or the question took too long.
    #[default]
    Unknown,
}
