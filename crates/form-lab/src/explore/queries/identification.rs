//! Which state a word leads to: found out by asking what comes of other words after it.
//!
//! Two words lead to different states if different things come of some word after them. A new word is compared with the known states by
//! such words, until one state is left; if none is, it leads to a new one (Angluin 1987; the tree of all answers as in L#, Vaandrager et al. 2022).
//!
//! The functions read as if answers were at hand. Where one is missing they return the word to walk, and are called again after the walk.

use super::automaton::{Alphabet, Automaton, Position, Target};
use super::observation_tree::{Answer, Letter, ObservationTree, Status, Word};

/// A result, or the word that must be walked first.
pub(super) type Asked<T> = Result<T, Word>;

/// The automaton and what is known.
pub(super) struct Identification<'a> {
    pub(super) tree: &'a ObservationTree,
    pub(super) automaton: &'a mut Automaton,
    /// What a `forall` can be about.
    pub(super) alphabet: Alphabet<'a>,
    /// Words that could not be walked.
    pub(super) given_up: &'a [Word],
}

impl Identification<'_> {
    /// Where letters lead from a state, which may be a new state; nothing if that cannot be walked.
    pub(super) fn identify(&mut self, from: usize, letters: &[Letter]) -> Asked<Option<Target>> {
        let Some(first) = letters.first() else {
            return Ok(None);
        };
        let Some(mut access) = self.word_to(from, *first) else {
            return Ok(None);
        };
        access.extend(letters);
        match self.answer(&access, &[])?.map(|answer| answer.status) {
            Some(Status::Goal) => return Ok(Some(Target::Accept)),
            Some(Status::DeadEnd) => return Ok(Some(Target::Reject)),
            Some(Status::Running) => {}
            None => return Ok(None),
        }
        let mut excluded = Vec::new();
        loop {
            let candidates = self.candidates(&access, &excluded);
            let Some((first, others)) = candidates.split_first() else {
                // All states are told apart from it.
                return Ok(self.new_state(access));
            };
            match self.told_apart(*first, others, &access)? {
                Some(mut out) => excluded.append(&mut out),
                None => return Ok(Some(Target::State(*first))),
            }
        }
    }

    /// A new state that a word leads to, unless that is known to be one.
    fn new_state(&mut self, access: Word) -> Option<Target> {
        let known = (0..self.automaton.len()).any(|state| self.automaton.access(state) == access);
        (!known).then(|| self.automaton.add(access))
    }

    /// A new state that letters lead to, even if nothing that can be walked tells it from the others.
    pub(super) fn split(&mut self, from: usize, letters: &[Letter]) -> Asked<Option<Target>> {
        let Some(mut access) = letters.first().and_then(|first| self.word_to(from, *first)) else {
            return Ok(None);
        };
        access.extend(letters);
        let answer = self.answer(&access, &[])?;
        let running = answer.is_some_and(|answer| answer.status == Status::Running);
        Ok(match running {
            true => self.new_state(access),
            false => None,
        })
    }

    /// Asks a word that tells states apart from what `access` leads to; those states, or nothing if there is no such word.
    fn told_apart(
        &self,
        first: usize,
        others: &[usize],
        access: &[Letter],
    ) -> Asked<Option<Vec<usize>>> {
        let differs = |state: usize, word: &[Letter], here: Answer| -> Asked<bool> {
            Ok(self
                .answer_from(state, word)?
                .is_some_and(|there| there != here))
        };
        let last = access.last().copied();
        let entered = Position::entered(Target::State(first));
        let accepted = (self.automaton).accepted_word(entered, last, self.alphabet);
        if let Some(word) = accepted
            && let Some(here) = self.answer(access, &word)?
        {
            for state in [first].iter().chain(others) {
                if differs(*state, &word, here)? {
                    return Ok(Some(vec![*state]));
                }
            }
        }
        for other in others {
            if let Some(word) = self.separating(first, *other)
                && let Some(here) = self.answer(access, &word)?
            {
                let mut out = Vec::new();
                for state in [first, *other] {
                    if differs(state, &word, here)? {
                        out.push(state);
                    }
                }
                if !out.is_empty() {
                    return Ok(Some(out));
                }
            }
        }
        Ok(None)
    }

    /// The states that nothing known tells apart from what `access` leads to.
    fn candidates(&self, access: &[Letter], excluded: &[usize]) -> Vec<usize> {
        let Some(node) = self.tree.node(access) else {
            return Vec::new();
        };
        let apart = |state: usize| {
            (self.nodes_of(state).into_iter())
                .any(|other| self.tree.separating(node, other).is_some())
        };
        (0..self.automaton.len())
            .filter(|state| !excluded.contains(state) && !apart(*state))
            .collect()
    }

    /// A word that tells two states apart.
    fn separating(&self, a: usize, b: usize) -> Option<Word> {
        let pairs = (self.nodes_of(a).into_iter())
            .flat_map(|one| self.nodes_of(b).into_iter().map(move |other| (one, other)));
        pairs
            .filter_map(|(a, b)| self.tree.separating(a, b))
            .min_by_key(Vec::len)
    }

    /// The nodes that lead to a state: that of its own word, and of those with one letter more that changes nothing.
    fn nodes_of(&self, state: usize) -> Vec<usize> {
        let Some(node) = self.tree.node(self.automaton.access(state)) else {
            return Vec::new();
        };
        let more = (self.tree.children(node)).filter(|(letter, child)| {
            self.is_idle(state, *letter) && self.tree.status(*child) == Status::Running
        });
        [node]
            .into_iter()
            .chain(more.map(|(_, child)| child))
            .collect()
    }

    /// Whether a letter does nothing in a state and is not remembered, as far as it is known.
    fn is_idle(&self, state: usize, letter: Letter) -> bool {
        self.automaton.next(state, letter) == Target::State(state)
            && !(self.automaton.completions(state)).any(|kind| self.alphabet.is_of(letter, kind))
    }

    /// A letter that does nothing in a state, other than this one; one that has been walked if there is any.
    pub(super) fn idle(&self, state: usize, but: Letter) -> Option<Letter> {
        let node = self.tree.node(self.automaton.access(state));
        let walked = |letter: &Letter| {
            node.and_then(|node| self.tree.child(node, *letter))
                .is_some_and(|child| self.tree.status(child) == Status::Running)
        };
        let last = self.automaton.access(state).last();
        let fits = |letter: &Letter| {
            *letter != but && Some(letter) != last && self.is_idle(state, *letter)
        };
        (self.alphabet.all().filter(fits).find(walked)).or_else(|| self.alphabet.all().find(fits))
    }

    /// A word to a state that does not end with this letter.
    pub(super) fn word_to(&self, state: usize, letter: Letter) -> Option<Word> {
        let mut word = self.automaton.access(state).to_vec();
        if word.last() == Some(&letter) {
            word.push(self.idle(state, letter)?);
        }
        Some(word)
    }

    /// What comes of a word in a state; nothing if it cannot be walked.
    pub(super) fn answer_from(&self, state: usize, word: &[Letter]) -> Asked<Option<Answer>> {
        match word.first().map(|first| self.word_to(state, *first)) {
            Some(Some(before)) => self.answer(&before, word),
            Some(None) => Ok(None),
            None => self.answer(self.automaton.access(state), word),
        }
    }

    /// What comes of a word after another one; nothing if it cannot be walked.
    pub(super) fn answer(&self, before: &[Letter], word: &[Letter]) -> Asked<Option<Answer>> {
        if let Some(known) = self.tree.answer(before, word) {
            return Ok(Some(known));
        }
        let whole = [before, word].concat();
        // Seeing the same twice in a row is seeing it once.
        if whole.windows(2).any(|pair| pair[0] == pair[1]) || self.given_up.contains(&whole) {
            return Ok(None);
        }
        // The walk may be over before.
        match self.tree.answer(&[], &whole) {
            Some(_) => Ok(None),
            None => Err(whole),
        }
    }
}
