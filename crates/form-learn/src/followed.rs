//! A trace that the search of `follow` follows through machines: when it leaves a state, by each atom.

use std::collections::HashMap;
use std::num::NonZeroU32;

use form_core::{AtomId, AtomSet, Kind};

use crate::cuts::stays;
use crate::problem::Problem;
use crate::traces::TracePrefix;
use crate::vocabulary::LearnableAtom;

/// A trace, or a prefix of one.
pub(crate) struct Followed {
    pub(crate) kind: Kind,
    pub(crate) length: usize,
    /// For each number of observations and atom: if a state is entered there and left by this atom, the number of observations
    /// after which it is left.
    left: Vec<Option<NonZeroU32>>,
    /// The number of atoms.
    atoms: usize,
    /// For each number of observations: the stays that the rest needs.
    pub(crate) stays: Vec<usize>,
}

impl Followed {
    pub(crate) fn new(problem: &Problem, atoms: &[LearnableAtom], prefix: &TracePrefix) -> Self {
        let steps = problem.traces.steps(prefix);
        let observations = problem.traces.observations();
        let observed: Vec<&AtomSet> = (steps.iter())
            .map(|step| &observations[*step as usize])
            .collect();
        let mut left = vec![None; (steps.len() + 1) * atoms.len()];
        for (i, atom) in atoms.iter().enumerate() {
            let column = match atom.window.is_some() {
                false => first_after(&atom.mask, &observed),
                true => complete_after(&atom.mask, &observed),
            };
            for (entered, after) in column.into_iter().enumerate() {
                left[entered * atoms.len() + i] = after;
            }
        }
        // The machines have no cycle, even where others may have some.
        let counts_stays = problem.counts_stays() && prefix.kind != Kind::Incomplete;
        Self {
            kind: prefix.kind,
            length: steps.len(),
            left,
            atoms: atoms.len(),
            stays: match counts_stays {
                true => stays(steps),
                false => vec![0; steps.len() + 1],
            },
        }
    }

    /// For each atom: the number of observations after which it leaves a state that is entered after this number.
    pub(crate) fn left(&self, entered: u32) -> &[Option<NonZeroU32>] {
        &self.left[entered as usize * self.atoms..][..self.atoms]
    }
}

/// For each number of observations: the number after the first later one that meets the mask.
fn first_after(mask: &AtomSet, steps: &[&AtomSet]) -> Vec<Option<NonZeroU32>> {
    let mut after = vec![None; steps.len() + 1];
    for i in (0..steps.len()).rev() {
        after[i] = match steps[i].intersects(mask) {
            true => NonZeroU32::new(i as u32 + 1),
            false => after[i + 1],
        };
    }
    after
}

/// For each number of observations: the number after which the later ones contain all of the mask. The window moves with its start, so
/// the time is linear.
fn complete_after(mask: &AtomSet, steps: &[&AtomSet]) -> Vec<Option<NonZeroU32>> {
    let mut counts: HashMap<AtomId, usize> = HashMap::new();
    let atoms = mask.len();
    let mut end = 0;
    (0..=steps.len())
        .map(|start| {
            while counts.len() < atoms && end < steps.len() {
                for atom in steps[end].common(mask) {
                    *counts.entry(atom).or_default() += 1;
                }
                end += 1;
            }
            // A `forall` over nothing holds after the first observation.
            let is_complete = counts.len() == atoms && start < steps.len();
            let after = is_complete.then(|| end.max(start + 1));
            if end > start {
                for atom in steps[start].common(mask) {
                    match counts.get_mut(&atom) {
                        Some(count) if *count > 1 => *count -= 1,
                        _ => _ = counts.remove(&atom),
                    }
                }
            }
            after.and_then(|after| NonZeroU32::new(after as u32))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use form_core::Signature;

    use super::*;

    #[test]
    fn a_forall_is_complete_once_all_of_it_was_observed() {
        let signature = Signature::parse(["a", "b", "c"]).unwrap();
        let mask = signature.observation(["a", "b"]).unwrap();
        for code in 0..5_usize.pow(5) {
            let steps: Vec<AtomSet> = (0..5)
                .map(|i| match code / 5_usize.pow(i) % 5 {
                    0 => signature.observation(["a"]).unwrap(),
                    1 => signature.observation(["b"]).unwrap(),
                    2 => signature.observation(["c"]).unwrap(),
                    3 => signature.observation(["a", "b"]).unwrap(),
                    _ => AtomSet::default(),
                })
                .collect();
            let observed: Vec<&AtomSet> = steps.iter().collect();
            let after = complete_after(&mask, &observed);
            for start in 0..=steps.len() {
                let contains = |end: &usize| {
                    let all = (steps[start..*end].iter())
                        .fold(AtomSet::default(), |all, step| all.union(step));
                    mask.is_subset(&all)
                };
                let first = (start..=steps.len()).find(contains);
                assert_eq!(after[start].map(|after| after.get() as usize), first);
            }
        }
    }
}
