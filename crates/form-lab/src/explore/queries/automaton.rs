//! The automaton that queries build up: states with words that lead to them, and where each observation leads.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use form_core::{Atom, AtomSet, Formula, Machine, Quantifier, Signature};
use serde::{Deserialize, Serialize};

use super::observation_tree::{Letter, Status, Word};

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
    /// The state before its last letter.
    parent: usize,
    /// Where letters lead, as far as it is known.
    moves: BTreeMap<Letter, Target>,
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

    /// Where a letter leads, if it has been found out.
    pub(super) fn known(&self, state: usize, letter: Letter) -> Option<Target> {
        self.states[state].moves.get(&letter).copied()
    }

    /// The letters that are known to leave a state as it is.
    pub(super) fn idle(&self, state: usize) -> impl Iterator<Item = Letter> + '_ {
        let stays = move |(_, to): &(&Letter, &Target)| **to == Target::State(state);
        (self.states[state].moves.iter())
            .filter(stays)
            .map(|(letter, _)| *letter)
    }

    /// Where a letter leads. What has not been found out is guessed: as in the state before, of which a new one often is a variant with
    /// something more seen.
    pub(super) fn next(&self, state: usize, letter: Letter) -> Target {
        if let Some(known) = self.known(state, letter) {
            return known;
        }
        let parent = self.states[state].parent;
        if parent == state {
            return Target::State(state);
        }
        match self.next(parent, letter) {
            Target::State(same) if same == parent => Target::State(state),
            other => other,
        }
    }

    pub(super) fn set(&mut self, state: usize, letter: Letter, to: Target) {
        self.states[state].moves.insert(letter, to);
    }

    /// Adds a state that this word leads to.
    pub(super) fn add(&mut self, access: Word, parent: usize) -> Target {
        self.states.push(AutomatonState {
            access,
            parent,
            moves: BTreeMap::new(),
        });
        Target::State(self.states.len() - 1)
    }

    /// A shortest word that is accepted from a state, over this number of letters, with no letter twice in a row; `last` is the one before.
    pub(super) fn accepted_word(
        &self,
        from: usize,
        last: Option<Letter>,
        letters: usize,
    ) -> Option<Word> {
        let mut queue = VecDeque::from([(from, last, Vec::new())]);
        let mut seen = BTreeSet::from([(from, last)]);
        while let Some((state, last, word)) = queue.pop_front() {
            for letter in (0..letters).filter(|letter| Some(*letter) != last) {
                let mut word = word.clone();
                word.push(letter);
                match self.next(state, letter) {
                    Target::Accept => return Some(word),
                    Target::State(next) if seen.insert((next, Some(letter))) => {
                        queue.push_back((next, Some(letter), word));
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// The states on the shortest ways to acceptance, the first ones first; all that can be reached if there is no way. Longer ways cost
    /// more steps than they gained on random tasks.
    pub(super) fn on_the_way(&self, letters: usize) -> Vec<usize> {
        let far = usize::MAX / 4;
        let successors = |state: usize| (0..letters).map(move |letter| self.next(state, letter));
        let mut ahead = vec![far; self.len()];
        let mut behind = vec![far; self.len()];
        behind[0] = 0;
        // As often as there are states: then nothing changes any more.
        for _ in 0..self.len() {
            for state in 0..self.len() {
                for to in successors(state) {
                    match to {
                        Target::Accept => ahead[state] = 1,
                        Target::State(to) => {
                            ahead[state] = ahead[state].min(ahead[to] + 1);
                            behind[to] = behind[to].min(behind[state] + 1);
                        }
                        Target::Reject => {}
                    }
                }
            }
        }
        let mut found: Vec<usize> = (0..self.len())
            .filter(|state| behind[*state] < far)
            .filter(|state| ahead[0] >= far || ahead[*state] + behind[*state] <= ahead[0])
            .collect();
        found.sort_by_key(|state| (behind[*state], *state));
        found
    }

    /// The machine that does the same: one edge per group of observations, `exists` where all of a kind lead to the same state.
    pub(super) fn machine(
        &self,
        observations: &[AtomSet],
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
        let mut reached = vec![0];
        let mut at = 0;
        while let Some(&state) = reached.get(at) {
            at += 1;
            let mut groups: BTreeMap<Target, Vec<&AtomSet>> = BTreeMap::new();
            for (letter, observation) in observations.iter().enumerate() {
                let to = self.next(state, letter);
                if to != Target::State(state) {
                    groups.entry(to).or_default().push(observation);
                }
            }
            // An observation of several atoms goes before its parts: the first edge that holds is taken.
            let mut here = Vec::new();
            for (to, group) in groups {
                let formulae = formulae(&group, vocabulary, signature);
                here.extend((formulae.into_iter()).map(|(atoms, formula)| (atoms, to, formula)));
                if let Target::State(to) = to
                    && !reached.contains(&to)
                {
                    reached.push(to);
                }
            }
            here.sort_by_key(|(atoms, _, _)| usize::MAX - atoms);
            edges.extend((here.into_iter()).map(|(_, to, formula)| (state, to, formula)));
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

/// Formulae that hold on exactly these observations, each with the number of atoms that it asks for.
fn formulae(
    group: &[&AtomSet],
    vocabulary: &[Atom],
    signature: &Signature,
) -> Vec<(usize, Formula)> {
    let mut left: Vec<&AtomSet> = group.to_vec();
    let mut found = Vec::new();
    for atom in vocabulary {
        let Atom::Quantified(quantified) = atom else {
            continue;
        };
        let [literal] = quantified.literals() else {
            continue;
        };
        let instances = signature.instances(literal);
        let is_instance = |set: &AtomSet| set.len() == 1 && set.is_subset(&instances);
        let count = left.iter().filter(|set| is_instance(set)).count();
        if quantified.quantifier() == Quantifier::Exists && count > 1 && count == instances.len() {
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
