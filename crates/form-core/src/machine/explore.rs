//! Which edges of a state can fire in a run? Decided by going through all buffers a run can build up in that state.
//!
//! A run cannot put together any buffer it likes: an observation that fires an edge leaves the state. So
//! `p(a)` before `forall X. p(X)` means that the second edge never fires, although a buffer exists on which it holds
//! and the first does not. The search walks over the unions that stay in the state. Atoms that occur in exactly the
//! same tests are interchangeable, which keeps it small: of such a class only the first k are ever seen.

use std::collections::{BTreeMap, HashSet};

use super::bound::{BoundMachine, BoundNode, Scope, Test};
use super::machine::{EdgeId, StateId};
use crate::logic::atom_set::{AtomId, AtomSet};

/// Evaluations after which the search gives up on a state.
const BUDGET: usize = 1 << 17;

/// Interchangeable atoms of a state, in order.
struct Class {
    atoms: Vec<AtomId>,
    /// Whether a `forall` looks at them, so that having seen them matters.
    tracked: bool,
}

/// The edges out of the state that some run takes, or `None` if there is too much to go through.
pub(crate) fn firing_edges(machine: &BoundMachine, state: StateId) -> Option<HashSet<EdgeId>> {
    let tests = tests_of(machine, state);
    let classes = classes_of(&tests);
    // An atom that no test looks at lets an observation be non-empty and still without effect.
    let spare = machine
        .signature()
        .ids()
        .find(|id| !tests.iter().any(|test| test.mask.contains(*id)));
    let mut fired = HashSet::new();
    let mut visited = HashSet::from([AtomSet::new()]);
    let mut queue = vec![AtomSet::new()];
    let mut evaluations = 0_usize;
    while let Some(seen) = queue.pop() {
        let choices: Vec<Vec<AtomSet>> = classes
            .iter()
            .map(|class| class.observations(&seen))
            .collect();
        let combinations = choices
            .iter()
            .try_fold(1_usize, |n, c| n.checked_mul(c.len()))?;
        evaluations = evaluations.checked_add(combinations)?;
        if evaluations > BUDGET {
            return None;
        }
        for number in 0..combinations {
            let mut newest = combination(&choices, number);
            if newest.is_empty() {
                match spare {
                    Some(atom) => newest.insert(atom),
                    None => continue,
                }
            }
            let union = seen.union(&newest);
            let edge = machine.choose(state, &newest, &union);
            fired.extend(edge);
            let stays = edge.is_none_or(|edge| machine.outcome(edge).0 == state);
            let union = union.intersection(machine.progress_atoms(state));
            if stays && visited.insert(union.clone()) {
                queue.push(union);
            }
        }
    }
    Some(fired)
}

/// The different tests on the state's edges.
fn tests_of(machine: &BoundMachine, state: StateId) -> Vec<Test> {
    let mut known = HashSet::new();
    let mut tests = Vec::new();
    for edge in machine.outgoing(state) {
        for node in machine.bound_formula(*edge).0 {
            if let BoundNode::Test(test) = node
                && known.insert(test.clone())
            {
                tests.push(test);
            }
        }
    }
    tests
}

fn classes_of(tests: &[Test]) -> Vec<Class> {
    let mut memberships: BTreeMap<AtomId, Vec<usize>> = BTreeMap::new();
    for (i, test) in tests.iter().enumerate() {
        for atom in test.mask.iter() {
            memberships.entry(atom).or_default().push(i);
        }
    }
    let mut classes: BTreeMap<Vec<usize>, Class> = BTreeMap::new();
    for (atom, membership) in memberships {
        let tracked = membership.iter().any(|i| tests[*i].scope == Scope::AllSeen);
        let class = classes.entry(membership).or_insert(Class {
            atoms: Vec::new(),
            tracked,
        });
        class.atoms.push(atom);
    }
    classes.into_values().collect()
}

impl Class {
    /// What an observation may contain of the class, up to renaming: nothing, one atom that changes nothing (seen
    /// before, or untracked), or some that are new. The atoms seen so far are the first of the class.
    fn observations(&self, seen: &AtomSet) -> Vec<AtomSet> {
        let old = self
            .atoms
            .iter()
            .take_while(|atom| self.tracked && seen.contains(**atom))
            .count();
        let mut choices = vec![AtomSet::new()];
        if old > 0 || !self.tracked {
            choices.push(AtomSet::from_iter([self.atoms[0]]));
        }
        if self.tracked {
            for end in old + 1..=self.atoms.len() {
                choices.push(self.atoms[old..end].iter().copied().collect());
            }
        }
        choices
    }
}

/// The union of one choice a class, the `number`-th in mixed radix.
fn combination(choices: &[Vec<AtomSet>], mut number: usize) -> AtomSet {
    let mut union = AtomSet::new();
    for choice in choices {
        union.union_with(&choice[number % choice.len()]);
        number /= choice.len();
    }
    union
}
