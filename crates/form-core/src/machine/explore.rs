//! The buffers that runs can have in a state, explored exhaustively.
//!
//! Not every buffer occurs in a run: an observation that fires an edge leaves the state. With an edge `p(a)` before an edge
//! `forall X. p(X)`, the second never fires, although a buffer exists on which it holds and the first does not. The search visits
//! the unions of observations that stay in the state, up to [interchangeable](super::interchange) atoms.

use std::collections::{HashMap, HashSet, VecDeque};

use super::atomic_test::Test;
use super::bound::BoundMachine;
use super::interchange::classes_of;
use super::machine::{EdgeId, StateId};
use super::satisfy::Buffer;
use crate::logic::atom_set::AtomSet;

/// The maximum number of evaluations per state.
const BUDGET: usize = 1 << 17;

/// What runs can do in a state.
#[derive(Default)]
pub(crate) struct Explored {
    /// The edges that some run takes.
    pub(crate) fired: HashSet<EdgeId>,
    /// Pairs of edges that hold together in some run, each with such a buffer.
    pub(crate) together: HashMap<(EdgeId, EdgeId), Buffer>,
}

/// Explores the runs in a state; `None` if there are too many.
///
/// Any observation may follow any other, see [`check`](super::check::check).
pub(crate) fn explore(machine: &BoundMachine, state: StateId) -> Option<Explored> {
    let tests = tests_of(machine, state);
    let classes = classes_of(&tests)?;
    // With an atom that no test looks at, an observation can be non-empty and have no effect. Where every step counts, it may be empty.
    let spare =
        (machine.signature().ids()).find(|id| !tests.iter().any(|test| test.mask.contains(*id)));
    let mut explored = Explored::default();
    let mut visited = HashSet::from([AtomSet::new()]);
    let mut queue = VecDeque::from([AtomSet::new()]);
    let mut evaluations = 0_usize;
    while let Some(seen) = queue.pop_front() {
        let choices: Vec<Vec<AtomSet>> = classes
            .iter()
            .map(|class| class.observations(&seen, BUDGET))
            .collect::<Option<_>>()?;
        let combinations = choices
            .iter()
            .try_fold(1_usize, |n, c| n.checked_mul(c.len()))?;
        evaluations = evaluations.checked_add(combinations)?;
        if evaluations > BUDGET {
            return None;
        }
        for number in 0..combinations {
            let mut newest = combination(&choices, number);
            if newest.is_empty() && !machine.observes_every_step() {
                match spare {
                    Some(atom) => newest.insert(atom),
                    None => continue,
                }
            }
            let union = seen.union(&newest);
            let holding = explored.visit(machine, state, &newest, &union);
            let stays = holding.is_none_or(|edge| machine.outcome(edge).0 == state);
            let mut union = union.intersection(machine.progress_atoms(state));
            classes.iter().for_each(|class| class.sort(&mut union));
            if stays && visited.insert(union.clone()) {
                queue.push_back(union);
            }
        }
    }
    Some(explored)
}

impl BoundMachine {
    /// The windows with which runs can rest in a state where one atom is observed at a time, up to interchangeable atoms and as far as they
    /// matter; the first is empty. `None` if there are too many.
    pub fn resting_windows(&self, state: StateId) -> Option<Vec<AtomSet>> {
        let classes = classes_of(&tests_of(self, state))?;
        let mut windows = vec![AtomSet::new()];
        let mut known = HashSet::from([AtomSet::new()]);
        let mut next = 0;
        while next < windows.len() {
            let seen = windows[next].clone();
            next += 1;
            let observations: Vec<Vec<AtomSet>> = (classes.iter())
                .map(|class| class.observations(&seen, BUDGET))
                .collect::<Option<_>>()?;
            for newest in observations.into_iter().flatten() {
                let union = seen.union(&newest);
                let to = (self.choose(state, &newest, &union))
                    .map_or(state, |edge| self.outcome(edge).0);
                let mut union = union.intersection(self.progress_atoms(state));
                classes.iter().for_each(|class| class.sort(&mut union));
                if newest.len() == 1 && to == state && known.insert(union.clone()) {
                    windows.push(union);
                }
            }
            if windows.len() * classes.len() > BUDGET {
                return None;
            }
        }
        Some(windows)
    }
}

impl Explored {
    /// Records what holds on a buffer; the edge that is taken.
    fn visit(
        &mut self,
        machine: &BoundMachine,
        state: StateId,
        newest: &AtomSet,
        seen: &AtomSet,
    ) -> Option<EdgeId> {
        let taken = machine.choose(state, newest, seen)?;
        self.fired.insert(taken);
        // Edges after the taken one may hold as well.
        let holding: Vec<EdgeId> = (machine.outgoing(state).iter().copied())
            .filter(|edge| *edge >= taken && machine.holds(*edge, newest, seen))
            .collect();
        for (i, first) in holding.iter().enumerate() {
            for second in &holding[i + 1..] {
                self.together
                    .entry((*first, *second))
                    .or_insert_with(|| Buffer {
                        seen: seen.clone(),
                        newest: newest.clone(),
                    });
            }
        }
        Some(taken)
    }
}

/// The different tests on the state's edges.
fn tests_of(machine: &BoundMachine, state: StateId) -> Vec<Test> {
    let mut known = HashSet::new();
    let edges = machine.outgoing(state).iter();
    let tests = edges.flat_map(|edge| machine.bound_formula(*edge).tests());
    tests.filter(|test| known.insert(*test)).cloned().collect()
}

/// The union of one choice per class, the `number`-th in mixed radix.
fn combination(choices: &[Vec<AtomSet>], mut number: usize) -> AtomSet {
    let mut union = AtomSet::new();
    for choice in choices {
        union.union_with(&choice[number % choice.len()]);
        number /= choice.len();
    }
    union
}

#[cfg(test)]
mod tests {
    use crate::logic::signature::Signature;
    use crate::machine::check::check;
    use crate::machine::machine::Machine;

    /// Nothing tells one colour from another: a hundred substitutions are no more than a few windows.
    #[test]
    fn joins_over_many_objects_are_decided() {
        let machine: Machine = "initial u0\naccept acc\nreject rej\n\
             u0 -> u1 : exists X. (once key(X) and door(X))\n\
             u0 -> rej : exists X. (door(X) and not once key(X))\n\
             u1 -> acc : goal"
            .parse()
            .unwrap();
        for objects in [2, 5, 12] {
            let atoms = (0..objects).flat_map(|i| [format!("key(c{i})"), format!("door(c{i})")]);
            let signature = Signature::parse(atoms.chain(["goal".to_owned()])).unwrap();
            let findings = check(&machine.bind(&signature).unwrap());
            assert!(findings.undecided.is_empty(), "{objects}: {findings:?}");
            assert!(findings.never_fire.is_empty(), "{objects}: {findings:?}");
            // Two doors at once, the key to one of them seen before.
            assert_eq!(findings.overlaps.len(), 1);
            assert_eq!(findings.overlaps[0].in_a_run, Some(true));
        }
    }

    /// An object that a test names is told apart from the others.
    #[test]
    fn a_named_object_is_no_twin() {
        let machine: Machine = "initial u0\naccept acc\n\
             u0 -> u1 : exists X. key(X)\nu0 -> acc : exists X. (once key(X) and door(X))\n\
             u1 -> acc : exists X. (once key(X) and door(X)) and not once key(c0)"
            .parse()
            .unwrap();
        let atoms = (0..9).flat_map(|i| [format!("key(c{i})"), format!("door(c{i})")]);
        let signature = Signature::parse(atoms).unwrap();
        let bound = machine.bind(&signature).unwrap();
        let findings = check(&bound);
        assert!(findings.undecided.is_empty(), "{findings:?}");
        // Any key leaves the first state before a door can be opened.
        let never: Vec<String> = (findings.never_fire.iter())
            .map(|(edge, _)| machine.describe_edge(*edge))
            .collect();
        assert_eq!(never, ["edge 2 (u0 -> acc)"]);
        let windows = bound.resting_windows(machine.initial()).unwrap();
        assert_eq!(windows.len(), 1);
        let u1 = machine.state_ids().nth(1).unwrap();
        // The number of other keys seen, 0 to 8, each with the named key and without it.
        assert_eq!(bound.resting_windows(u1).unwrap().len(), 18);
    }
}
