//! Where labels may be wrong: what a walk observes, agreed on by repeating it.
//!
//! A walk is a question to the world: what is observed on the way to these objects in this order, and how does it end? Labels of one
//! answer may be missing or wrong, but those of another one are wrong elsewhere. So the same objects are visited again and again, on
//! whatever map comes next, and on the way to each of them the observations that were made most often count, as soon as they lead by some
//! votes: a sequential test (Wald 1945) turns a noisy oracle into a sure one, as in active learning with noise (Angluin, Laird 1988).

use std::collections::BTreeMap;

use form_core::{AtomSet, Kind, Recorder, Trace};

use super::walk::{Leg, Walked};

/// By how many votes the observations of a leg lead. With 2 % wrong labels, a certain wrong observation is made in about 2 of 100
/// legs: that it leads by four before the right one does has a probability below one in a million.
const LEAD: u32 = 4;
/// After how many repetitions a walk is given up.
pub(super) const MOST_REPETITIONS: usize = 48;

/// The answers to one walk.
#[derive(Debug, Default)]
pub(super) struct Agreement {
    /// What was observed on each leg and how often, for each number of legs and each end.
    votes: BTreeMap<(usize, Kind), Vec<BTreeMap<Leg, u32>>>,
}

impl Agreement {
    /// Counts a repetition of the walk to these objects, unless it went another way.
    pub(super) fn add(&mut self, objects: &[AtomSet], walked: &Walked) {
        if !walked.gave_up && objects.starts_with(&walked.visited) {
            self.count(walked.trace.kind(), &walked.legs);
        }
    }

    fn count(&mut self, kind: Kind, legs: &[Leg]) {
        let votes = self.votes.entry((legs.len(), kind)).or_default();
        votes.resize(legs.len(), BTreeMap::new());
        for (votes, leg) in votes.iter_mut().zip(legs) {
            *votes.entry(leg.clone()).or_default() += 1;
        }
    }

    /// The trace that is agreed on, if there is one.
    pub(super) fn trace(&self) -> Option<Trace> {
        let mut agreed = (self.votes.iter()).filter_map(|((_, kind), legs)| {
            let legs: Option<Vec<&Leg>> = legs.iter().map(leading).collect();
            Some((*kind, legs?))
        });
        let (kind, legs) = agreed.next()?;
        let mut recorder = Recorder::new();
        for observation in legs.into_iter().flatten() {
            recorder.observe(observation);
        }
        agreed.next().is_none().then(|| recorder.finish(kind))
    }
}

/// The observations that lead, by enough votes.
fn leading(votes: &BTreeMap<Leg, u32>) -> Option<&Leg> {
    let (leader, most) = votes.iter().max_by_key(|(_, count)| **count)?;
    let others = votes.iter().filter(|(leg, _)| *leg != leader);
    let second = others.map(|(_, count)| *count).max().unwrap_or(0);
    (*most >= second + LEAD).then_some(leader)
}

#[cfg(test)]
mod tests {
    use form_core::Signature;

    use super::*;

    /// What most repetitions observed on each leg is agreed on, though no two legs of one repetition need be right.
    #[test]
    fn legs_are_agreed_on_one_by_one() {
        let signature = Signature::parse(["a", "b", "c"]).unwrap();
        let seen = |names: &str| -> Leg {
            (names.chars())
                .map(|name| signature.observation([name.to_string()]).unwrap())
                .collect()
        };
        let mut agreement = Agreement::default();
        for (first, second) in [("a", ""), ("a", "b"), ("ca", "b"), ("", "b"), ("a", "b")] {
            agreement.count(Kind::Goal, &[seen(first), seen(second)]);
            assert_eq!(agreement.trace(), None);
        }
        for _ in 0..2 {
            agreement.count(Kind::Goal, &[seen("a"), seen("b")]);
        }
        assert_eq!(agreement.trace(), Some(Trace::new(Kind::Goal, seen("ab"))));
        // Walks that end differently agree on nothing.
        for _ in 0..LEAD {
            agreement.count(Kind::DeadEnd, &[seen("a"), seen("b")]);
        }
        assert_eq!(agreement.trace(), None);
    }
}
