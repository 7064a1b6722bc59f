//! Which atoms occur together in an observation of the data: what no observation has together is useless together on an edge.

use form_core::AtomSet;

use crate::budget::Budget;
use crate::vocabulary::LearnableAtom;

/// Relations between atoms about the newest observation.
pub(super) struct Cooccurrence {
    /// Some observation of the data has both.
    pub(super) meet: Vec<Vec<bool>>,
    /// Both can be of use, positive, on one edge: they meet, and neither implies the other.
    pub(super) both: Vec<Vec<bool>>,
}

impl Cooccurrence {
    pub(super) fn new(
        vocabulary: &[LearnableAtom],
        observations: &[AtomSet],
        budget: &Budget,
    ) -> Option<Self> {
        let table = |relation: &dyn Fn(&LearnableAtom, &LearnableAtom) -> bool| {
            let related = |a: &LearnableAtom, b: &LearnableAtom| {
                a.window.is_none() && b.window.is_none() && relation(a, b)
            };
            (vocabulary.iter())
                .map(|a| {
                    budget.check()?;
                    Some(vocabulary.iter().map(|b| related(a, b)).collect())
                })
                .collect::<Option<Vec<Vec<bool>>>>()
        };
        let meet = |a: &LearnableAtom, b: &LearnableAtom| {
            (observations.iter()).any(|o| o.intersects(&a.mask) && o.intersects(&b.mask))
        };
        let apart = |a: &LearnableAtom, b: &LearnableAtom| {
            !a.mask.is_subset(&b.mask) && !b.mask.is_subset(&a.mask)
        };
        Some(Self {
            meet: table(&meet)?,
            both: table(&|a, b| apart(a, b) && meet(a, b))?,
        })
    }

    /// Whether no edge needs two positive literals about the newest observation.
    pub(super) fn all_apart(&self) -> bool {
        !self.both.iter().flatten().any(|both| *both)
    }
}
