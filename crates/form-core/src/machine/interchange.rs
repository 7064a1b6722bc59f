//! Symmetry reduction for the exploration of a state: parts of a signature that no test of the state tells apart.
//!
//! A *part* is an atom, or the atoms that the joins of the state tie together: with `exists X. (once key(X) and door(X))`, a key and the door
//! of its colour. Parts are interchangeable if exchanging them, atom by atom, changes no test. Of a class of such parts it matters how many
//! were observed how far, not which: windows are sorted, and observations are enumerated by what they do to how many parts. Exchanging one
//! part with each of the others generates all permutations of a class, so this is exact.

use std::collections::{BTreeMap, HashMap};

use super::atomic_test::{Scope, Test};
use crate::logic::atom_set::{AtomId, AtomSet};

/// The most atoms of a part: an observation may have any set of them.
const MOST_ATOMS: usize = 16;

/// Some of the atoms of a part, by their place in it.
type Places = u32;

/// Interchangeable parts.
pub(super) struct Class {
    /// The atoms of each part, in corresponding order.
    parts: Vec<Vec<AtomId>>,
    /// The places of atoms that tests look for in the window, so that it matters whether they were observed.
    tracked: Places,
    /// Whether it matters that something is not observed of a part: a join denies it.
    denied: bool,
}

/// The classes of the parts that these tests look at; `None` if a part is too large.
pub(super) fn classes_of(tests: &[Test]) -> Option<Vec<Class>> {
    let parts = parts_of(tests);
    if parts.iter().any(|part| part.len() > MOST_ATOMS) {
        return None;
    }
    let mut classes: Vec<Class> = Vec::new();
    for part in parts {
        let alike = |class: &&mut Class| are_alike(&class.parts[0], &part, tests);
        match classes.iter_mut().find(alike) {
            Some(class) => class.parts.push(part),
            None => classes.push(Class::new(part, tests)),
        }
    }
    Some(classes)
}

/// The parts in order, the atoms of each in the order of their roles.
fn parts_of(tests: &[Test]) -> Vec<Vec<AtomId>> {
    let mut root: BTreeMap<AtomId, AtomId> = BTreeMap::new();
    for atom in tests.iter().flat_map(|test| test.mask.iter()) {
        root.insert(atom, atom);
    }
    let find = |root: &BTreeMap<AtomId, AtomId>, mut atom: AtomId| {
        while root[&atom] != atom {
            atom = root[&atom];
        }
        atom
    };
    for test in tests {
        let Scope::Join(join) = &test.scope else {
            continue;
        };
        for conditions in join.substitutions() {
            for pair in conditions.windows(2) {
                let (one, other) = (find(&root, pair[0].atom), find(&root, pair[1].atom));
                root.insert(one.max(other), one.min(other));
            }
        }
    }
    let mut parts: BTreeMap<AtomId, Vec<AtomId>> = BTreeMap::new();
    for atom in root.keys() {
        parts.entry(find(&root, *atom)).or_default().push(*atom);
    }
    let mut parts: Vec<Vec<AtomId>> = parts.into_values().collect();
    for part in &mut parts {
        part.sort_by_cached_key(|atom| (role(*atom, tests), *atom));
    }
    parts
}

/// The tests of an atom, and how joins look at it: a test, then whether in the window and whether denied.
fn role(atom: AtomId, tests: &[Test]) -> Vec<(usize, bool, bool)> {
    let mut role = Vec::new();
    for (i, test) in tests.iter().enumerate() {
        match &test.scope {
            Scope::Join(join) => {
                let conditions = join.substitutions().flatten();
                let own = conditions.filter(|condition| condition.atom == atom);
                role.extend(own.map(|condition| (i, condition.once, condition.negated)));
            }
            _ if test.mask.contains(atom) => role.push((i, false, false)),
            _ => {}
        }
    }
    role.sort_unstable();
    role.dedup();
    role
}

/// Whether exchanging two parts changes no test.
fn are_alike(one: &[AtomId], other: &[AtomId], tests: &[Test]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let pairs = || one.iter().copied().zip(other.iter().copied());
    let exchange: HashMap<AtomId, AtomId> = pairs().chain(pairs().map(|(a, b)| (b, a))).collect();
    tests.iter().all(|test| match &test.scope {
        Scope::Join(join) => join.is_same_after(&exchange),
        _ => pairs().all(|(a, b)| test.mask.contains(a) == test.mask.contains(b)),
    })
}

impl Class {
    fn new(part: Vec<AtomId>, tests: &[Test]) -> Self {
        let looks_back = |atom: AtomId| {
            let mut windows = tests.iter().filter_map(Test::window);
            windows.any(|window| window.contains(atom))
        };
        let denies = |test: &Test| match &test.scope {
            Scope::Join(join) => (join.substitutions().flatten())
                .any(|condition| condition.negated && part.contains(&condition.atom)),
            _ => false,
        };
        let tracked = (part.iter().enumerate())
            .filter(|(_, atom)| looks_back(**atom))
            .fold(0, |places, (place, _)| places | 1 << place);
        Self {
            tracked,
            denied: tests.iter().any(denies),
            parts: vec![part],
        }
    }

    /// The atoms at these places of a part.
    fn atoms(&self, part: usize, places: Places) -> impl Iterator<Item = AtomId> + '_ {
        (self.parts[part].iter().enumerate())
            .filter(move |(place, _)| places >> place & 1 == 1)
            .map(|(_, atom)| *atom)
    }

    /// Which atoms of a part are members.
    fn places(&self, part: usize, set: &AtomSet) -> Places {
        (self.parts[part].iter().enumerate())
            .filter(|(_, atom)| set.contains(**atom))
            .fold(0, |places, (place, _)| places | 1 << place)
    }

    /// The same window with the parts exchanged so that those of which more was observed come first.
    pub(super) fn sort(&self, window: &mut AtomSet) {
        let mut states: Vec<Places> = (0..self.parts.len())
            .map(|part| self.places(part, window))
            .collect();
        states.sort_unstable_by(|a, b| b.cmp(a));
        for (part, state) in states.into_iter().enumerate() {
            for (place, atom) in self.parts[part].iter().enumerate() {
                match state >> place & 1 == 1 {
                    true => window.insert(*atom),
                    false => window.remove(*atom),
                }
            }
        }
    }

    /// What an observation may contain of the class, up to exchanging parts with the same state in this sorted window and up to what makes no
    /// difference: of the parts that observe something without being in another state afterwards, only which observations there are
    /// counts. `None` if there are more than `most`.
    pub(super) fn observations(&self, window: &AtomSet, most: usize) -> Option<Vec<AtomSet>> {
        let states: Vec<Places> = (0..self.parts.len())
            .map(|part| self.places(part, window) & self.tracked)
            .collect();
        let mut found = vec![AtomSet::new()];
        let mut first = 0;
        while first < states.len() {
            let alike = states[first..].iter().take_while(|s| **s == states[first]);
            let end = first + alike.count();
            let mut choices: Vec<Vec<Places>> = Vec::new();
            let by_result = self.by_result(states[first]);
            self.distribute(&by_result, end - first, &mut Vec::new(), &mut choices, most)?;
            if found.len().checked_mul(choices.len())? > most {
                return None;
            }
            found = (found.iter())
                .flat_map(|before| {
                    choices.iter().map(move |choice| {
                        let chosen = (first..end).zip(choice);
                        let mut all = before.clone();
                        all.extend(chosen.flat_map(|(part, places)| self.atoms(part, *places)));
                        all
                    })
                })
                .collect();
            first = end;
        }
        if self.parts[0].len() == 1 && !self.denied {
            // Beside an atom that is observed for the first time, one that was observed before makes no difference.
            found.retain(|observed| observed.len() <= 1 || !observed.intersects(window));
        }
        Some(found)
    }

    /// What may be observed of a part in this state, by the state afterwards; first where it stays the same.
    fn by_result(&self, state: Places) -> Vec<Vec<Places>> {
        let mut results: BTreeMap<Places, Vec<Places>> = BTreeMap::new();
        for observed in 0..1 << self.parts[0].len() {
            let result = (state | observed & self.tracked) ^ state;
            results.entry(result).or_default().push(observed);
        }
        results.into_values().collect()
    }

    /// All ways in which this number of parts observe: for each result, how many parts come to it and with which observations. `chosen` has
    /// what the parts before them observe.
    fn distribute(
        &self,
        by_result: &[Vec<Places>],
        parts: usize,
        chosen: &mut Vec<Places>,
        found: &mut Vec<Vec<Places>>,
        most: usize,
    ) -> Option<()> {
        // From the last result to the first, where the state stays the same: all parts that are left.
        let [others @ .., last] = by_result else {
            found.push(chosen.clone());
            return (found.len() <= most).then_some(());
        };
        let counts = match others.is_empty() {
            true => parts..=parts,
            false => 0..=parts,
        };
        // Where nothing is denied, parts of which nothing is observed make no difference.
        let idle = others.is_empty() && !self.denied;
        let observed: Vec<Places> = (last.iter().copied())
            .filter(|places| !idle || *places != 0)
            .collect();
        let before = chosen.len();
        for count in counts {
            for kinds in subsets(&observed, count, most)? {
                let rest = match kinds.first() {
                    _ if idle => 0,
                    Some(places) => *places,
                    None if count == 0 => 0,
                    None => continue,
                };
                chosen.extend(&kinds);
                chosen.resize(before + count, rest);
                let complete = self.distribute(others, parts - count, chosen, found, most);
                chosen.truncate(before);
                complete?;
            }
        }
        Some(())
    }
}

/// The subsets with at most `largest` members; `None` if there are more than `most`.
fn subsets(items: &[Places], largest: usize, most: usize) -> Option<Vec<Vec<Places>>> {
    let mut found: Vec<Vec<Places>> = vec![Vec::new()];
    for item in items {
        for i in 0..found.len() {
            if found[i].len() < largest {
                let mut longer = found[i].clone();
                longer.push(*item);
                found.push(longer);
            }
        }
        if found.len() > most {
            return None;
        }
    }
    Some(found)
}
