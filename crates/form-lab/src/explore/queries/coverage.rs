//! What walks have confirmed of the automaton, and which walk would confirm more.
//!
//! That a letter does nothing in a state is confirmed by walks that see it there and then go as foretold: one comes to the goal, and one tries
//! the way from the next state on, which must not lead there yet. That all of a kind do nothing is confirmed if all of them were seen in one
//! stay. So one walk confirms many letters, and where it goes wrong, bisection finds the one that matters. While no goal is known, dead
//! ends that were foretold confirm.

use std::collections::BTreeSet;

use super::automaton::{Alphabet, Automaton, Cause, Position, Target};
use super::observation_tree::{Letter, ObservationTree, Status, Word};

/// What is confirmed of a state in one of the two ways.
#[derive(Clone, Debug, Default)]
struct Confirmed {
    letters: BTreeSet<Letter>,
    kinds: BTreeSet<usize>,
}

#[derive(Clone, Debug, Default)]
struct StateCoverage {
    /// Seen before the goal.
    goal: Confirmed,
    /// Seen before the way from the next state on.
    ahead: Confirmed,
    /// That way, if there is one.
    way_ahead: Word,
}

/// What is confirmed in each state.
#[derive(Debug)]
pub(super) struct Coverage<'a> {
    automaton: &'a Automaton,
    alphabet: Alphabet<'a>,
    states: Vec<StateCoverage>,
}

impl<'a> Coverage<'a> {
    pub(super) fn new(
        tree: &ObservationTree,
        automaton: &'a Automaton,
        alphabet: Alphabet<'a>,
    ) -> Self {
        let way_ahead = |state: usize| {
            let start = Position::entered(Target::State(state));
            let way = automaton.accepted_word(start.clone(), None, alphabet)?;
            let mut position = start;
            for letter in way {
                (position, _) = automaton.step(&position, letter, alphabet);
                if position.target != Target::State(state) {
                    break;
                }
            }
            match position.target {
                Target::State(_) => automaton.accepted_word(position, None, alphabet),
                _ => None,
            }
        };
        let mut coverage = Self {
            automaton,
            alphabet,
            states: (0..automaton.len())
                .map(|state| StateCoverage {
                    way_ahead: way_ahead(state).unwrap_or_default(),
                    ..StateCoverage::default()
                })
                .collect(),
        };
        let walks = tree.walks();
        let confirms = match walks.iter().any(|(_, status)| *status == Status::Goal) {
            true => Status::Goal,
            false => Status::DeadEnd,
        };
        for (word, status) in walks {
            coverage.add(&word, status, confirms);
        }
        coverage
    }

    /// Takes a walk into account that ended with a status; one of them confirms.
    fn add(&mut self, word: &[Letter], status: Status, confirms: Status) {
        let mut stays: Vec<(usize, usize, usize)> = Vec::new();
        let mut from = 0;
        let mut position = Position::entered(Target::State(0));
        for (at, letter) in word.iter().enumerate() {
            let Target::State(state) = position.target else {
                return;
            };
            let (next, cause) = self.automaton.step(&position, *letter, self.alphabet);
            if cause != Cause::Idle {
                stays.push((state, from, at));
                from = at + 1;
            }
            position = next;
        }
        if position.target.status() != status {
            // The automaton misjudges it.
            return;
        }
        if let Target::State(state) = position.target {
            stays.push((state, from, word.len()));
        }
        for (state, from, to) in stays {
            if status == confirms {
                let confirmed = self.confirmed(&word[from..to]);
                self.states[state].goal.extend(confirmed);
            }
            let way = &self.states[state].way_ahead;
            let begins = |at: &usize| word[*at..].starts_with(way);
            if let Some(at) = (from..=to).rev().find(begins) {
                let confirmed = self.confirmed(&word[from..at]);
                self.states[state].ahead.extend(confirmed);
            }
        }
    }

    /// What these letters of one stay confirm.
    fn confirmed(&self, letters: &[Letter]) -> Confirmed {
        let seen = |kind: &usize| {
            self.letters_of(*kind)
                .all(|letter| letters.contains(&letter))
        };
        Confirmed {
            letters: letters.iter().copied().collect(),
            kinds: (0..self.alphabet.kinds.len()).filter(seen).collect(),
        }
    }

    fn letters_of(&self, kind: usize) -> impl Iterator<Item = Letter> + use<'_, 'a> {
        (self.alphabet.all()).filter(move |letter| self.alphabet.is_of(*letter, kind))
    }

    fn is_idle(&self, state: usize, letter: Letter) -> bool {
        self.automaton.next(state, letter) == Target::State(state)
    }

    /// The letters of a state that are not confirmed to do nothing, alone or with the others of their kind.
    pub(super) fn open(&self, state: usize) -> Vec<Letter> {
        let StateCoverage { goal, ahead, .. } = &self.states[state];
        let confirmed =
            |letter: &Letter| goal.letters.contains(letter) && ahead.letters.contains(letter);
        let is_idle = |letter: &Letter| self.is_idle(state, *letter);
        let mut open: BTreeSet<Letter> = (self.alphabet.all())
            .filter(|letter| is_idle(letter) && !confirmed(letter))
            .collect();
        for kind in 0..self.alphabet.kinds.len() {
            let letters: Vec<Letter> = self.letters_of(kind).collect();
            let confirmed = goal.kinds.contains(&kind) && ahead.kinds.contains(&kind);
            if self.automaton.completion(state, kind).is_some() {
                // All but one of them: together they lead on.
                if letters.iter().all(|letter| open.contains(letter)) {
                    open.remove(&letters[0]);
                }
            } else if !confirmed && letters.iter().all(is_idle) {
                open.extend(letters);
            }
        }
        open.into_iter().collect()
    }

    /// The states that matter, the nearest first. Those from which no way to the goal is known come last.
    pub(super) fn states(&self) -> Vec<usize> {
        let hopeful = self.automaton.hopeful();
        let mut states = self.automaton.reached();
        states.sort_by_key(|state| !hopeful[*state]);
        states
    }

    /// The walk to these letters in a state, and then the way from the next one on; while no goal is known, to a dead end.
    pub(super) fn walk(&self, state: usize, letters: &[Letter]) -> Word {
        let mut word = [self.automaton.access(state), letters].concat();
        let fatal = (self.alphabet.all())
            .find(|letter| self.automaton.next(state, *letter) == Target::Reject);
        let after: Word = match self.automaton.hopeful()[0] {
            true => self.states[state].way_ahead.clone(),
            false => fatal.into_iter().collect(),
        };
        if let (Some(last), Some(first)) = (word.last(), after.first())
            && last == first
        {
            let other = |letter: &Letter| letter != first && self.is_idle(state, *letter);
            word.extend(self.alphabet.all().find(other));
        }
        word.extend(after);
        word.dedup();
        word
    }
}

impl Confirmed {
    fn extend(&mut self, other: Self) {
        self.letters.extend(other.letters);
        self.kinds.extend(other.kinds);
    }
}
