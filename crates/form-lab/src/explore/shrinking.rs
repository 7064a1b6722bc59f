//! Shrinking a counterexample: which of the objects that were visited did it take?
//!
//! A walk that reaches the goal of an unknown task, or a dead end, has often visited many objects that do not matter. Delta debugging
//! (Zeller, Hildebrandt 2002) walks again without some of them, first without large parts, then without smaller ones, until no single one
//! can be left out. The machine is learnt anew only then: from long traces, the smallest machine would be one of many guesses.

use form_core::{AtomSet, Kind, Trace};
use serde::{Deserialize, Serialize};

/// Traces up to this length are learnt from as they are.
const SHORT: usize = 8;

/// Which walk comes next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shrinking {
    /// The number of the shortest counterexample so far, while one is being shrunk.
    trace: Option<usize>,
    /// How many observations are left out at once.
    part: usize,
    /// The first of them.
    at: usize,
    /// Whether something could be left out since the beginning of the trace.
    shrunk: bool,
}

impl Shrinking {
    /// Whether a counterexample is being shrunk.
    pub(crate) fn is_active(&self) -> bool {
        self.trace.is_some()
    }

    /// Begins with a counterexample of this number, if it is long and something ended it.
    pub(crate) fn begin(&mut self, traces: &[Trace], number: usize) {
        let trace = &traces[number];
        let length = trace.steps().len();
        if trace.kind() != Kind::Incomplete && length > SHORT {
            *self = Self {
                trace: Some(number),
                part: length / 2,
                at: 0,
                shrunk: false,
            };
        }
    }

    /// The next walk: the counterexample without a part of it.
    pub(crate) fn walk(&self, traces: &[Trace]) -> Option<Vec<AtomSet>> {
        let steps = traces[self.trace?].steps();
        let to = (self.at + self.part).min(steps.len());
        let mut left: Vec<AtomSet> = [&steps[..self.at], &steps[to..]].concat();
        left.dedup();
        Some(left)
    }

    /// Takes the end of a walk into account, the trace of this number; `refutes` tells whether it is a counterexample. Returns the number
    /// of the shrunk one when nothing can be left out any more.
    pub(crate) fn add(&mut self, traces: &[Trace], number: usize, refutes: bool) -> Option<usize> {
        let best = self.trace?;
        let (before, after) = (&traces[best], &traces[number]);
        let shorter = after.steps().len() < before.steps().len();
        if refutes && shorter && after.kind() == before.kind() {
            // The same place again: something else stands there now.
            self.trace = Some(number);
            self.shrunk = true;
        } else {
            self.at += self.part;
        }
        let best = self.trace?;
        let length = traces[best].steps().len();
        if self.at >= length {
            self.at = 0;
            if self.part == 1 && !self.shrunk {
                self.trace = None;
                return Some(best);
            }
            self.part = (self.part / 2).min(length / 2).max(1);
            self.shrunk = false;
        }
        None
    }
}
