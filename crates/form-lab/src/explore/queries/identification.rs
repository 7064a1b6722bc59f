//! Which state a letter leads to: found out by asking what comes of words after it.
//!
//! Two words lead to different states if different things come of some word after them. A new letter is compared with the known states by
//! such words, until one state is left; if none is, it leads to a new one (Angluin 1987; the tree of all answers as in L#, Vaandrager et al. 2022).
//! Only the states on the way to acceptance are examined letter by letter, all of them while none is known. The others are as good as what walks
//! have shown.
//!
//! The functions read as if answers were at hand. Where one is missing they return the word to walk, and are called again after the walk.

use super::automaton::{Automaton, Target};
use super::observation_tree::{Answer, Letter, ObservationTree, Status, Word};

/// A result, or the word that must be walked first.
pub(super) type Asked<T> = Result<T, Word>;

/// The most states of an automaton.
const MOST_STATES: usize = 60;

/// The automaton and what is known.
pub(super) struct Identification<'a> {
    pub(super) tree: &'a ObservationTree,
    pub(super) automaton: &'a mut Automaton,
    /// Words that could not be walked.
    pub(super) given_up: &'a [Word],
}

impl Identification<'_> {
    /// Changes the automaton until nothing is known to be wrong or open.
    pub(super) fn advance(&mut self) -> Asked<()> {
        // Words that the automaton misjudges, and that no move can be blamed for.
        let mut unexplained = Vec::new();
        while self.automaton.len() < MOST_STATES {
            let way = self.automaton.accepted_word(0, None, self.letters());
            let wrong = self.refuting(&unexplained);
            // Long walks tell less: they are looked at last.
            let soon = way.as_ref().map_or(usize::MAX, |way| 2 * way.len() + 4);
            let later = wrong.as_ref().is_none_or(|word| word.len() > soon);
            if later && self.examine(way.as_deref())? {
                continue;
            }
            let Some(word) = wrong else {
                return Ok(());
            };
            if !self.mend(&word)? {
                unexplained.push(word);
            }
        }
        Ok(())
    }

    fn letters(&self) -> usize {
        self.tree.letters().len()
    }

    /// A shortest word that the automaton misjudges, but none of these.
    fn refuting(&self, unexplained: &[Word]) -> Option<Word> {
        let mut level = vec![(ObservationTree::ROOT, Target::State(0), Vec::new())];
        while !level.is_empty() {
            let mut below = Vec::new();
            for (node, target, word) in level {
                if self.tree.status(node) != target.status() {
                    if !unexplained.contains(&word) {
                        return Some(word);
                    }
                    continue;
                }
                let Target::State(state) = target else {
                    continue;
                };
                for (letter, child) in self.tree.children(node) {
                    let mut word: Word = word.clone();
                    word.push(letter);
                    below.push((child, self.automaton.next(state, letter), word));
                }
            }
            level = below;
        }
        None
    }

    /// Finds the first wrong move on a word that the automaton misjudges: the word is cut, and the first part replaced by the word of the state
    /// that the automaton is in then. Where that makes a difference, the letter between is wrong (Rivest, Schapire 1993). Whether a move
    /// was changed.
    fn mend(&mut self, word: &[Letter]) -> Asked<bool> {
        let mut states = vec![0];
        for letter in &word[..word.len() - 1] {
            match self.automaton.next(states[states.len() - 1], *letter) {
                Target::State(state) => states.push(state),
                _ => return Ok(false),
            }
        }
        let truth = self.outcome(0, word)?;
        let (mut right, mut wrong) = (0, word.len());
        // From the end, where words are short, in growing strides; then by bisection.
        let mut stride = 1;
        let mut at = word.len() - 1;
        while at > 0 {
            match self.outcome(states[at], &word[at..])? {
                Some(outcome) if Some(outcome) == truth => {
                    right = at;
                    break;
                }
                Some(_) => {
                    wrong = at;
                    at = at.saturating_sub(stride);
                    stride *= 2;
                }
                None => at -= 1,
            }
        }
        while wrong - right > 1 {
            let middle = usize::midpoint(right, wrong);
            let between = (middle..wrong).chain((right + 1..middle).rev());
            let mut found = None;
            for at in between {
                if let Some(outcome) = self.outcome(states[at], &word[at..])? {
                    found = Some((at, outcome));
                    break;
                }
            }
            match found {
                Some((at, outcome)) if Some(outcome) == truth => right = at,
                Some((at, _)) => wrong = at,
                None => break,
            }
        }
        // One letter, or several if the words between cannot be walked.
        for at in right..wrong {
            let (state, letter) = (states[at], word[at]);
            let before = self.automaton.next(state, letter);
            let mut after = self.identify(state, letter)?;
            if after == before {
                // No word that can be walked tells it apart from a known state.
                after = self.new_state(state, letter)?.unwrap_or(before);
            }
            self.automaton.set(state, letter, after);
            if after != before {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A new state that a letter leads to, unless that is known to be one.
    fn new_state(&mut self, from: usize, letter: Letter) -> Asked<Option<Target>> {
        let access = [self.automaton.access(from), &[letter]].concat();
        let answer = self.answer(&access, &[])?;
        let running = answer.is_some_and(|answer| answer.status == Status::Running);
        let known = (0..self.automaton.len()).any(|state| self.automaton.access(state) == access);
        Ok((running && !known).then(|| self.automaton.add(access, from)))
    }

    /// What comes of a word in a state: the status, and how many letters were left; nothing if that cannot be walked.
    fn outcome(&self, state: usize, word: &[Letter]) -> Asked<Option<(Status, usize)>> {
        let answer = self.answer_from(state, word)?;
        Ok(answer.map(|answer| (answer.status, word.len() - answer.length)))
    }

    /// Examines one letter in one state on the way to acceptance, in any state if there is none; whether there was one.
    fn examine(&mut self, way: Option<&[Letter]>) -> Asked<bool> {
        if let Some(way) = way {
            self.answer_from(0, way)?;
        }
        let mut late = Vec::new();
        for state in self.automaton.on_the_way(self.letters()) {
            for letter in 0..self.letters() {
                if self.automaton.known(state, letter).is_some() {
                    continue;
                }
                // The letter that led here cannot be the next one: another one must come between, which is found out first.
                if self.automaton.access(state).last() == Some(&letter) {
                    late.push((state, letter));
                    continue;
                }
                let to = self.identify(state, letter)?;
                self.automaton.set(state, letter, to);
                return Ok(true);
            }
        }
        match late.first() {
            Some((state, letter)) => {
                let to = self.identify(*state, *letter)?;
                self.automaton.set(*state, *letter, to);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Where a letter leads.
    fn identify(&mut self, from: usize, letter: Letter) -> Asked<Target> {
        let present = self.automaton.next(from, letter);
        let Some(mut access) = self.word_to(from, letter) else {
            return Ok(present);
        };
        access.push(letter);
        let mut excluded = Vec::new();
        loop {
            if let Some(node) = self.tree.node(&access) {
                match self.tree.status(node) {
                    Status::Goal => return Ok(Target::Accept),
                    Status::DeadEnd => return Ok(Target::Reject),
                    Status::Running => {}
                }
            }
            let candidates = self.candidates(from, present, &access, &excluded);
            let Some((first, others)) = candidates.split_first() else {
                // All states are told apart from it.
                return Ok(match self.tree.node(&access) {
                    Some(_) => self.automaton.add(access, from),
                    None => present,
                });
            };
            let Some(mut out) = self.told_apart(*first, others, letter, &access)? else {
                self.answer(&access, &[])?;
                if self.tree.node(&access).map(|node| self.tree.status(node))
                    == Some(Status::Running)
                {
                    return Ok(Target::State(*first));
                }
                match self.tree.node(&access) {
                    Some(_) => continue,
                    None => return Ok(present),
                }
            };
            excluded.append(&mut out);
        }
    }

    /// Asks a word that tells states apart from what `access` leads to; those states, or nothing if there is no such word.
    fn told_apart(
        &self,
        first: usize,
        others: &[usize],
        letter: Letter,
        access: &[Letter],
    ) -> Asked<Option<Vec<usize>>> {
        let differs = |state: usize, word: &[Letter], here: Answer| -> Asked<bool> {
            Ok(self
                .answer_from(state, word)?
                .is_some_and(|there| there != here))
        };
        let accepted = (self.automaton).accepted_word(first, Some(letter), self.letters());
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

    /// The states that nothing known tells apart from what `access` leads to: where it is thought to lead first, then where it comes from.
    fn candidates(
        &self,
        from: usize,
        present: Target,
        access: &[Letter],
        excluded: &[usize],
    ) -> Vec<usize> {
        let mut ordered = Vec::new();
        if let Target::State(present) = present {
            ordered.push(present);
        }
        for state in [from].into_iter().chain(0..self.automaton.len()) {
            if !ordered.contains(&state) {
                ordered.push(state);
            }
        }
        let node = self.tree.node(access);
        let apart = |state: usize| {
            let known = node.into_iter().flat_map(|node| {
                (self.nodes_of(state).into_iter()).map(move |other| (node, other))
            });
            known
                .into_iter()
                .any(|(node, other)| self.tree.separating(node, other).is_some())
        };
        ordered.retain(|state| !excluded.contains(state) && !apart(*state));
        ordered
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
        let access = self.automaton.access(state);
        let Some(node) = self.tree.node(access) else {
            return Vec::new();
        };
        let idle: Vec<Letter> = self.automaton.idle(state).collect();
        let more = (self.tree.children(node)).filter(|(letter, _)| idle.contains(letter));
        [node]
            .into_iter()
            .chain(more.map(|(_, child)| child))
            .collect()
    }

    /// A word to a state that does not end with this letter.
    fn word_to(&self, state: usize, letter: Letter) -> Option<Word> {
        let mut word = self.automaton.access(state).to_vec();
        if word.last() == Some(&letter) {
            let other = self.automaton.idle(state).find(|other| *other != letter)?;
            word.push(other);
        }
        Some(word)
    }

    /// What comes of a word in a state; nothing if it cannot be walked.
    fn answer_from(&self, state: usize, word: &[Letter]) -> Asked<Option<Answer>> {
        match word.first().map(|first| self.word_to(state, *first)) {
            Some(Some(before)) => self.answer(&before, word),
            Some(None) => Ok(None),
            None => self.answer(self.automaton.access(state), word),
        }
    }

    /// What comes of a word after another one; nothing if it cannot be walked.
    fn answer(&self, before: &[Letter], word: &[Letter]) -> Asked<Option<Answer>> {
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
