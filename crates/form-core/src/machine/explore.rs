//! The buffers that runs can have in a state, explored exhaustively.
//!
//! Not every buffer occurs in a run: an observation that fires an edge leaves the state. With an edge `p(a)` before an edge
//! `forall X. p(X)`, the second never fires, although a buffer exists on which it holds and the first does not. The search visits
//! the unions of observations that stay in the state. Atoms that occur in exactly the same tests, none of them a join, are
//! interchangeable (symmetry reduction): of such a class only the first k are ever observed.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::atomic_test::{Scope, Test};
use super::bound::BoundMachine;
use super::machine::{EdgeId, StateId};
use super::satisfy::Buffer;
use crate::logic::atom_set::{AtomId, AtomSet};

/// The maximum number of evaluations per state.
const BUDGET: usize = 1 << 17;

/// Interchangeable atoms of a state, in order.
struct Class {
    atoms: Vec<AtomId>,
    /// Whether a test looks for them in the window, so that it matters whether they were observed.
    tracked: bool,
}

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
    let classes = classes_of(&tests);
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
            if newest.is_empty() && !machine.observes_every_step() {
                match spare {
                    Some(atom) => newest.insert(atom),
                    None => continue,
                }
            }
            let union = seen.union(&newest);
            let holding = explored.visit(machine, state, &newest, &union);
            let stays = holding.is_none_or(|edge| machine.outcome(edge).0 == state);
            let union = union.intersection(machine.progress_atoms(state));
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
        let classes = classes_of(&tests_of(self, state));
        let mut windows = vec![AtomSet::new()];
        let mut known = HashSet::from([AtomSet::new()]);
        let mut next = 0;
        while next < windows.len() {
            let seen = windows[next].clone();
            next += 1;
            for newest in (classes.iter()).flat_map(|class| class.observations(&seen)) {
                let union = seen.union(&newest);
                let to = (self.choose(state, &newest, &union))
                    .map_or(state, |edge| self.outcome(edge).0);
                let union = union.intersection(self.progress_atoms(state));
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

fn classes_of(tests: &[Test]) -> Vec<Class> {
    let mut memberships: BTreeMap<AtomId, Vec<usize>> = BTreeMap::new();
    for (i, test) in tests.iter().enumerate() {
        for atom in test.mask.iter() {
            memberships.entry(atom).or_default().push(i);
        }
    }
    let mut classes: BTreeMap<(Vec<usize>, Option<AtomId>), Class> = BTreeMap::new();
    for (atom, membership) in memberships {
        let tracked = (membership.iter())
            .any(|i| (tests[*i].window()).is_some_and(|window| window.contains(atom)));
        // A join tells objects apart by what they are joined with.
        let joined = (membership.iter()).any(|i| matches!(tests[*i].scope, Scope::Join(_)));
        let class = (classes.entry((membership, joined.then_some(atom)))).or_insert(Class {
            atoms: Vec::new(),
            tracked,
        });
        class.atoms.push(atom);
    }
    classes.into_values().collect()
}

impl Class {
    /// The parts of the class that an observation may contain, up to renaming: nothing, one atom without effect (observed before,
    /// or untracked), or some new ones. The atoms observed so far are the first of the class.
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

/// The union of one choice per class, the `number`-th in mixed radix.
fn combination(choices: &[Vec<AtomSet>], mut number: usize) -> AtomSet {
    let mut union = AtomSet::new();
    for choice in choices {
        union.union_with(&choice[number % choice.len()]);
        number /= choice.len();
    }
    union
}
