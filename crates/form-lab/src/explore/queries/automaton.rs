//! The automaton that queries build up: states with words that lead to them, and where each observation leads.
//!
//! A state remembers what has been seen since it was entered, as machines do: an observation leads on at once, or when all of a kind have been
//! seen. So a `forall` takes one state, and not one for every order of its objects.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use form_core::{Atom, AtomSet, Formula, Machine, Quantifier, Signature};
use serde::{Deserialize, Serialize};

use super::observation_tree::{Letter, Status, Word};

/// The most positions that a search for an accepted word looks at.
const MOST_POSITIONS: usize = 20_000;

/// An automaton. Its first state is the initial one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Automaton {
    states: Vec<AutomatonState>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AutomatonState {
    /// A word that leads here.
    access: Word,
    /// Where letters lead at once, if not here.
    moves: BTreeMap<Letter, Target>,
    /// Where all of a kind lead, once they have been seen, and letters that have shown it.
    completions: BTreeMap<usize, (Target, Word)>,
    /// Kinds that lead nowhere together: their letters are told apart.
    refuted: BTreeSet<usize>,
}

/// Where a letter leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Target {
    State(usize),
    Accept,
    Reject,
}

impl Target {
    pub(super) fn status(self) -> Status {
        match self {
            Self::State(_) => Status::Running,
            Self::Accept => Status::Goal,
            Self::Reject => Status::DeadEnd,
        }
    }
}

/// What is observed: the letters, and the kinds that a `forall` can be about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alphabet<'a> {
    pub(super) letters: &'a [AtomSet],
    pub(super) kinds: &'a [AtomSet],
}

impl Alphabet<'_> {
    pub(super) fn all(&self) -> std::ops::Range<Letter> {
        0..self.letters.len()
    }

    /// Whether a letter is of a kind.
    pub(super) fn is_of(&self, letter: Letter, kind: usize) -> bool {
        self.letters[letter].intersects(&self.kinds[kind])
    }

    /// The kind of which these letters are all, and nothing else.
    pub(super) fn kind_of(&self, letters: &[Letter]) -> Option<usize> {
        let mut union = AtomSet::new();
        for letter in letters {
            union.union_with(&self.letters[*letter]);
        }
        (self.kinds.iter()).position(|kind| kind.is_subset(&union) && union.is_subset(kind))
    }
}

/// Where a run is: in a state, with what it has seen there that matters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) target: Target,
    seen: AtomSet,
}

impl Position {
    /// A state as it is entered.
    pub(super) fn entered(target: Target) -> Self {
        Self {
            target,
            seen: AtomSet::new(),
        }
    }
}

/// What a letter does in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// Nothing, or it is remembered.
    Idle,
    /// It leads on.
    Letter,
    /// It is the last one of a kind.
    Kind(usize),
}

impl Default for Automaton {
    fn default() -> Self {
        Self {
            states: vec![AutomatonState::default()],
        }
    }
}

impl Automaton {
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// A word that leads to a state.
    pub(super) fn access(&self, state: usize) -> &[Letter] {
        &self.states[state].access
    }

    /// Where a letter leads at once.
    pub(super) fn next(&self, state: usize, letter: Letter) -> Target {
        let known = self.states[state].moves.get(&letter).copied();
        known.unwrap_or(Target::State(state))
    }

    /// Whether a letter leads to a state from another one.
    pub(super) fn leads_to(&self, state: usize, letter: Letter) -> bool {
        (0..self.len()).any(|from| from != state && self.next(from, letter) == Target::State(state))
    }

    /// Where all of a kind lead, and letters that have shown it.
    pub(super) fn completion(&self, state: usize, kind: usize) -> Option<(Target, &[Letter])> {
        let found = self.states[state].completions.get(&kind)?;
        Some((found.0, &found.1))
    }

    /// The kinds that lead on from a state when all of them have been seen.
    pub(super) fn completions(&self, state: usize) -> impl Iterator<Item = usize> + '_ {
        self.states[state].completions.keys().copied()
    }

    /// One letter more.
    pub(super) fn step(
        &self,
        position: &Position,
        letter: Letter,
        alphabet: Alphabet<'_>,
    ) -> (Position, Cause) {
        let Target::State(state) = position.target else {
            return (position.clone(), Cause::Idle);
        };
        let next = self.next(state, letter);
        if next != Target::State(state) {
            return (Position::entered(next), Cause::Letter);
        }
        let mut seen = position.seen.clone();
        for (kind, (to, _)) in &self.states[state].completions {
            let kind_atoms = &alphabet.kinds[*kind];
            seen.union_with(&alphabet.letters[letter].intersection(kind_atoms));
            if kind_atoms.is_subset(&seen) {
                return (Position::entered(*to), Cause::Kind(*kind));
            }
        }
        let here = Position {
            target: position.target,
            seen,
        };
        (here, Cause::Idle)
    }

    /// Lets a letter lead somewhere. What the letter does that led to the state was found out with another one between, which may have been
    /// this one: it is forgotten.
    pub(super) fn set(&mut self, state: usize, letter: Letter, to: Target) {
        if let Some(last) = self.states[state].access.last().copied() {
            self.states[state].moves.remove(&last);
        }
        match to {
            Target::State(same) if same == state => self.states[state].moves.remove(&letter),
            _ => self.states[state].moves.insert(letter, to),
        };
    }

    /// Lets all of a kind lead somewhere, as these letters have shown.
    pub(super) fn complete(&mut self, state: usize, kind: usize, to: Target, shown: Word) {
        (self.states[state].completions).insert(kind, (to, shown));
    }

    /// Tells the letters of a kind apart from now on.
    pub(super) fn refute(&mut self, state: usize, kind: usize) {
        self.states[state].completions.remove(&kind);
        self.states[state].refuted.insert(kind);
    }

    pub(super) fn is_refuted(&self, state: usize, kind: usize) -> bool {
        self.states[state].refuted.contains(&kind)
    }

    /// Adds a state that this word leads to.
    pub(super) fn add(&mut self, access: Word) -> Target {
        self.states.push(AutomatonState {
            access,
            ..AutomatonState::default()
        });
        Target::State(self.states.len() - 1)
    }

    /// A shortest word that is accepted from a position, with no letter twice in a row; `last` is the one before.
    pub(super) fn accepted_word(
        &self,
        start: Position,
        last: Option<Letter>,
        alphabet: Alphabet<'_>,
    ) -> Option<Word> {
        let mut seen = BTreeSet::from([(start.clone(), last)]);
        let mut queue = VecDeque::from([(start, last, Vec::new())]);
        while let Some((position, last, word)) = queue.pop_front() {
            for letter in alphabet.all().filter(|letter| Some(*letter) != last) {
                let (next, _) = self.step(&position, letter, alphabet);
                let mut word: Word = word.clone();
                word.push(letter);
                match next.target {
                    Target::Accept => return Some(word),
                    Target::State(_)
                        if seen.len() < MOST_POSITIONS
                            && seen.insert((next.clone(), Some(letter))) =>
                    {
                        queue.push_back((next, Some(letter), word));
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// Where a state leads.
    fn successors(&self, state: usize) -> impl Iterator<Item = Target> + '_ {
        let state = &self.states[state];
        let completed = state.completions.values().map(|(to, _)| *to);
        state.moves.values().copied().chain(completed)
    }

    /// The states that can be reached, the nearest first.
    pub(super) fn reached(&self) -> Vec<usize> {
        let mut found = vec![0];
        let mut at = 0;
        while let Some(&state) = found.get(at) {
            at += 1;
            for to in self.successors(state) {
                if let Target::State(to) = to
                    && !found.contains(&to)
                {
                    found.push(to);
                }
            }
        }
        found
    }

    /// Whether acceptance can be reached from each state.
    pub(super) fn hopeful(&self) -> Vec<bool> {
        let mut hopeful = vec![false; self.len()];
        // As often as there are states: then nothing changes any more.
        for _ in 0..self.len() {
            for state in 0..self.len() {
                hopeful[state] |= self.successors(state).any(|to| match to {
                    Target::Accept => true,
                    Target::State(to) => hopeful[to],
                    Target::Reject => false,
                });
            }
        }
        hopeful
    }

    /// The machine that does the same: one edge per group of observations, `exists` where all of a kind lead to the same state.
    pub(super) fn machine(
        &self,
        alphabet: Alphabet<'_>,
        vocabulary: &[Atom],
        signature: &Signature,
    ) -> form_core::Result<Machine> {
        let name = |target: Target| match target {
            Target::State(state) => format!("u{state}"),
            Target::Accept => "u_acc".to_owned(),
            Target::Reject => "u_rej".to_owned(),
        };
        let mut builder = Machine::builder("learnt").initial("u0").accept("u_acc");
        let mut edges = Vec::new();
        for state in self.reached() {
            let mut groups: BTreeMap<Target, Vec<&AtomSet>> = BTreeMap::new();
            for (letter, to) in &self.states[state].moves {
                groups
                    .entry(*to)
                    .or_default()
                    .push(&alphabet.letters[*letter]);
            }
            // An observation of several atoms goes before its parts: the first edge that holds is taken.
            let mut here = Vec::new();
            for (to, group) in groups {
                let formulae = formulae(&group, vocabulary, signature);
                here.extend((formulae.into_iter()).map(|(atoms, formula)| (atoms, to, formula)));
            }
            here.sort_by_key(|(atoms, _, _)| usize::MAX - atoms);
            edges.extend((here.into_iter()).map(|(_, to, formula)| (state, to, formula)));
            for (kind, (to, _)) in &self.states[state].completions {
                let all = vocabulary.iter().find(|atom| {
                    instances(atom, Quantifier::Forall, signature).as_ref()
                        == Some(&alphabet.kinds[*kind])
                });
                if let Some(all) = all {
                    edges.push((state, *to, Formula::atom(all.clone())));
                }
            }
        }
        if edges.iter().any(|(_, to, _)| *to == Target::Reject) {
            builder = builder.reject("u_rej");
        }
        for (from, to, formula) in edges {
            builder = builder.edge_with(&name(Target::State(from)), &name(to), formula, None);
        }
        builder.build()
    }
}

/// The ground atoms that an atom with this quantifier and one literal is about.
fn instances(atom: &Atom, quantifier: Quantifier, signature: &Signature) -> Option<AtomSet> {
    let Atom::Quantified(quantified) = atom else {
        return None;
    };
    match quantified.literals() {
        [literal] if quantified.quantifier() == quantifier => Some(signature.instances(literal)),
        _ => None,
    }
}

/// The kinds that a `forall` of this vocabulary is about, if they have several objects.
pub(super) fn kinds(vocabulary: &[Atom], signature: &Signature) -> Vec<AtomSet> {
    let all = (vocabulary.iter()).filter_map(|atom| instances(atom, Quantifier::Forall, signature));
    all.filter(|kind| kind.len() > 1).collect()
}

/// Formulae that hold on exactly these observations, each with the number of atoms that it asks for.
fn formulae(
    group: &[&AtomSet],
    vocabulary: &[Atom],
    signature: &Signature,
) -> Vec<(usize, Formula)> {
    let mut left: Vec<&AtomSet> = group.to_vec();
    let mut found = Vec::new();
    for atom in vocabulary {
        let Some(instances) = instances(atom, Quantifier::Exists, signature) else {
            continue;
        };
        let is_instance = |set: &AtomSet| set.len() == 1 && set.is_subset(&instances);
        let count = left.iter().filter(|set| is_instance(set)).count();
        if count > 1 && count == instances.len() {
            left.retain(|set| !is_instance(set));
            found.push((1, Formula::atom(atom.clone())));
        }
    }
    for set in left {
        let atoms = set
            .iter()
            .map(|id| Formula::atom(signature.atom(id).clone()));
        found.push((set.len(), Formula::all(atoms)));
    }
    found
}
