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

    /// The next walk: the counterexample without a part of it; on a map with other objects, nothing.
    pub(crate) fn walk(&self, traces: &[Trace], own: Option<&AtomSet>) -> Option<Vec<AtomSet>> {
        let trace = &traces[self.trace?];
        if trace.own_signature() != own {
            return None;
        }
        let steps = trace.steps();
        let to = (self.at + self.part).min(steps.len());
        let mut left: Vec<AtomSet> = [&steps[..self.at], &steps[to..]].concat();
        left.dedup();
        Some(left)
    }

    /// Goes on after a walk that told nothing, as [`add`](Self::add) after one that is no counterexample.
    pub(crate) fn in_vain(&mut self, traces: &[Trace]) -> Option<usize> {
        self.add(traces, self.trace?, false)
    }

    /// Takes the end of a walk into account, the trace of this number; `refutes` tells whether it is a counterexample. Walks among other
    /// objects tell nothing. Returns the number of the shrunk one when nothing can be left out any more.
    pub(crate) fn add(&mut self, traces: &[Trace], number: usize, refutes: bool) -> Option<usize> {
        let best = self.trace?;
        let (before, after) = (&traces[best], &traces[number]);
        if before.own_signature() != after.own_signature() {
            return None;
        }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use form_core::{AtomSet, Kind, Signature, Trace};

    use super::*;

    proptest! {
        /// A world in which two objects in this order end the episode: exactly those are left of any walk that does.
        #[test]
        fn what_does_not_matter_is_left_out(walk in prop::collection::vec(0..6_usize, 0..60)) {
            let signature = Signature::parse(["a", "b", "c", "d", "e", "f"]).unwrap();
            let single: Vec<AtomSet> = signature.ids().map(|id| AtomSet::from_iter([id])).collect();
            // `a`, and later `b`, is the goal.
            let lived = |walk: &[AtomSet]| {
                let first = walk.iter().position(|seen| *seen == single[0]);
                let end = first.and_then(|first| {
                    let after = walk[first..].iter().position(|seen| *seen == single[1]);
                    after.map(|after| first + after)
                });
                match end {
                    Some(end) => Trace::new(Kind::Goal, walk[..=end].to_vec()),
                    None => Trace::new(Kind::Incomplete, walk.to_vec()),
                }
            };
            let mut walk: Vec<AtomSet> = walk.into_iter().map(|i| single[i].clone()).collect();
            walk.extend([single[0].clone(), single[1].clone()]);
            walk.dedup();
            let mut traces = vec![lived(&walk)];
            let mut shrinking = Shrinking::default();
            shrinking.begin(&traces, 0);
            prop_assert_eq!(shrinking.is_active(), traces[0].steps().len() > SHORT);
            let mut left = (!shrinking.is_active()).then_some(0);
            let mut walks = 0;
            while let Some(next) = shrinking.walk(&traces, None) {
                traces.push(lived(&next));
                left = shrinking.add(&traces, traces.len() - 1, true).or(left);
                walks += 1;
                prop_assert!(walks < 500);
            }
            let left = &traces[left.unwrap()];
            prop_assert_eq!(left.kind(), Kind::Goal);
            prop_assert!(walks == 0 || left.steps() == &single[..2]);
        }
    }
}
