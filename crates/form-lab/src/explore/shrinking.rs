//! Shrinking the first goal: which of the objects that were visited did it take?
//!
//! The first walk that reaches the goal of an unknown task has visited many objects that do not matter. Delta debugging (Zeller,
//! Hildebrandt 2002) walks again without some of them, first without large parts, then without smaller ones, until no single one can be
//! left out. A machine is learnt only then: from one long trace, the smallest machine would be one of many guesses.

use form_core::{AtomSet, Kind, Trace};
use serde::{Deserialize, Serialize};

/// Which walk comes next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shrinking {
    /// How many observations are left out at once; 0 when nothing is being shrunk.
    part: usize,
    /// The first of them.
    at: usize,
    /// Whether something could be left out since the beginning of the trace.
    shrunk: bool,
    /// Whether a goal has been shrunk.
    done: bool,
}

impl Shrinking {
    /// Whether a goal is being shrunk.
    pub(crate) fn is_active(&self) -> bool {
        self.part > 0
    }

    /// The next walk: the shortest goal among these traces without a part of it.
    pub(crate) fn walk(&self, traces: &[Trace]) -> Option<Vec<AtomSet>> {
        let goal = shortest_goal(traces).filter(|_| self.is_active())?;
        let steps = goal.steps();
        let to = (self.at + self.part).min(steps.len());
        let mut left: Vec<AtomSet> = [&steps[..self.at], &steps[to..]].concat();
        left.dedup();
        Some(left)
    }

    /// Takes the end of a walk into account. `before` are the traces without it.
    pub(crate) fn add(&mut self, trace: &Trace, before: &[Trace]) {
        let best = shortest_goal(before).map(|goal| goal.steps().len());
        let length = trace.steps().len();
        match (trace.kind(), best) {
            (Kind::Goal, None) if !self.done => {
                self.part = (length / 2).max(1);
                self.at = 0;
                self.shrunk = false;
            }
            _ if !self.is_active() => return,
            // The same place again: something else stands there now.
            (Kind::Goal, Some(best)) if length < best => {
                self.shrunk = true;
                self.turn(length);
            }
            (_, best) => {
                self.at += self.part;
                self.turn(best.unwrap_or(length));
            }
        }
    }

    /// Goes on with smaller parts at the end of the trace.
    fn turn(&mut self, length: usize) {
        if self.at < length {
            return;
        }
        self.at = 0;
        if self.part > 1 {
            self.part = (self.part / 2).min(length / 2).max(1);
        } else if !self.shrunk {
            (self.part, self.done) = (0, true);
        }
        self.shrunk = false;
    }
}

/// One of the shortest goals, the same whatever the order of the traces.
pub(crate) fn shortest_goal(traces: &[Trace]) -> Option<&Trace> {
    let goals = (traces.iter()).filter(|trace| trace.kind() == Kind::Goal);
    goals.min_by_key(|trace| (trace.steps().len(), trace.steps()))
}
