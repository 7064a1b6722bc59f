//! What a misjudged walk teaches: the move that is wrong or missing, found by a few more walks.
//!
//! The walk is cut where the automaton changes its state, and the part before replaced by the state's own word. Where that makes a difference, the
//! state before is to blame (Rivest, Schapire 1993). Of what was seen in that state, letters are left out by bisection until each one is
//! needed: one letter leads on at once, all of a kind when the last of them is seen; of any others the first leads to a state of its own.

use super::automaton::{Cause, Position, Target};
use super::identification::{Asked, Identification};
use super::observation_tree::{Letter, ObservationTree, Status, Word};

/// The most states of an automaton.
const MOST_STATES: usize = 60;

/// How a word ended, and how many letters of interest were left then.
type Outcome = (Status, usize);

/// A stay in a state: what was seen there, and what ended it.
#[derive(Debug)]
struct Stay {
    state: usize,
    from: usize,
    to: usize,
    cause: Cause,
}

impl Identification<'_> {
    /// Changes the automaton until it judges all walks right, but those that nothing can be blamed for.
    pub(super) fn advance(&mut self) -> Asked<()> {
        let mut unexplained = Vec::new();
        while self.automaton.len() < MOST_STATES
            && let Some(word) = self.refuting(&unexplained)
        {
            let before = self.automaton.clone();
            self.mend(&word)?;
            if *self.automaton == before {
                unexplained.push(word);
            }
        }
        Ok(())
    }

    /// A shortest word that the automaton misjudges, but none of these.
    fn refuting(&self, unexplained: &[Word]) -> Option<Word> {
        let start = Position::entered(Target::State(0));
        let mut level = vec![(ObservationTree::ROOT, start, Vec::new())];
        while !level.is_empty() {
            let mut below = Vec::new();
            for (node, position, word) in level {
                if self.tree.status(node) != position.target.status() {
                    if !unexplained.contains(&word) {
                        return Some(word);
                    }
                    continue;
                }
                if self.tree.status(node) != Status::Running {
                    continue;
                }
                for (letter, child) in self.tree.children(node) {
                    let mut word: Word = word.clone();
                    word.push(letter);
                    let (next, _) = self.automaton.step(&position, letter, self.alphabet);
                    below.push((child, next, word));
                }
            }
            level = below;
        }
        None
    }

    /// Mends the move that is to blame for a word that the automaton misjudges at its last letter.
    fn mend(&mut self, word: &[Letter]) -> Asked<()> {
        let stays = self.stays(word);
        let truth = self.outcome(0, word, 0)?;
        let same = |this: &Self, at: usize| -> Asked<Option<bool>> {
            let stay = &stays[at];
            let outcome = this.outcome(stay.state, &word[stay.from..], 0)?;
            Ok(outcome.map(|outcome| Some(outcome) == truth))
        };
        let (right, wrong) = self.boundary(0, stays.len(), same)?;
        // One stay, or several if the words between cannot be walked.
        for stay in &stays[right..wrong] {
            let before = self.automaton.clone();
            self.mend_stay(stay, &word[stay.from..stay.to], &word[stay.to..])?;
            if *self.automaton != before {
                break;
            }
        }
        Ok(())
    }

    /// The stays in states along a word.
    fn stays(&self, word: &[Letter]) -> Vec<Stay> {
        let mut stays = Vec::new();
        let mut position = Position::entered(Target::State(0));
        let mut from = 0;
        for (at, letter) in word.iter().enumerate() {
            let Target::State(state) = position.target else {
                break;
            };
            let (next, cause) = self.automaton.step(&position, *letter, self.alphabet);
            if cause != Cause::Idle || at + 1 == word.len() {
                let to = at + 1;
                stays.push(Stay {
                    state,
                    from,
                    to,
                    cause,
                });
                from = to;
            }
            position = next;
        }
        stays
    }

    /// A number at which a test holds and the next one at which it does not; it holds at `right`, and not at `wrong`. Between the two are
    /// only such that it has no answer for.
    fn boundary(
        &self,
        mut right: usize,
        mut wrong: usize,
        test: impl Fn(&Self, usize) -> Asked<Option<bool>>,
    ) -> Asked<(usize, usize)> {
        while wrong - right > 1 {
            let middle = usize::midpoint(right, wrong);
            let mut found = None;
            for at in (middle..wrong).chain((right + 1..middle).rev()) {
                if let Some(holds) = test(self, at)? {
                    found = Some((at, holds));
                    break;
                }
            }
            match found {
                Some((at, true)) => right = at,
                Some((at, false)) => wrong = at,
                None => break,
            }
        }
        Ok((right, wrong))
    }

    /// What comes of letters in a state; how many of the last `after` are left then, or one more if it ended before. Nothing if it cannot be walked.
    fn outcome(&self, state: usize, word: &[Letter], after: usize) -> Asked<Option<Outcome>> {
        let mut word = word.to_vec();
        // Seeing the same twice in a row is seeing it once.
        word.dedup();
        let answer = self.answer_from(state, &word)?;
        Ok(answer.map(|answer| {
            let left = word.len() - answer.length;
            (answer.status, left.min(after + 1))
        }))
    }

    /// Mends a move of a state that saw these letters, before these others.
    fn mend_stay(&mut self, stay: &Stay, seen: &[Letter], after: &[Letter]) -> Asked<()> {
        let state = stay.state;
        let truth = self.outcome(state, &[seen, after].concat(), after.len())?;
        // What makes the automaton leave the state.
        let leaving: Word = match stay.cause {
            Cause::Idle => Vec::new(),
            Cause::Letter => seen[seen.len() - 1..].to_vec(),
            Cause::Kind(kind) => {
                let of_kind = |letter: &&Letter| self.alphabet.is_of(**letter, kind);
                seen.iter().filter(of_kind).copied().collect()
            }
        };
        if stay.cause != Cause::Idle {
            let alone = self.outcome(state, &[&leaving, after].concat(), after.len())?;
            if alone == truth || alone.is_none() {
                return self.retarget(stay, &leaving, after);
            }
        }
        self.add_move(stay, seen, after)
    }

    /// Corrects where a move leads.
    fn retarget(&mut self, stay: &Stay, leaving: &[Letter], after: &[Letter]) -> Asked<()> {
        let state = stay.state;
        match stay.cause {
            Cause::Idle => {}
            Cause::Letter => {
                let letter = leaving[0];
                let before = self.automaton.next(state, letter);
                let mut to = self.identify(state, leaving)?;
                if to == Some(before) {
                    // No word that can be walked tells it apart from a known state.
                    to = self.split(state, leaving)?;
                }
                self.automaton.set(state, letter, to.unwrap_or(before));
            }
            Cause::Kind(kind) => {
                let Some((before, shown)) = self.automaton.completion(state, kind) else {
                    return Ok(());
                };
                let shown = shown.to_vec();
                let here = self.outcome(state, &[leaving, after].concat(), after.len())?;
                let there = self.outcome(state, &[&shown, after].concat(), after.len())?;
                if here != there {
                    // It depends on the order.
                    self.automaton.refute(state, kind);
                    return Ok(());
                }
                let mut to = self.identify(state, &shown)?;
                if to == Some(before) {
                    to = self.split(state, &shown)?;
                }
                (self.automaton).complete(state, kind, to.unwrap_or(before), shown);
            }
        }
        Ok(())
    }

    /// Adds a move that was missing: of the letters seen, some matter that the automaton thinks do nothing.
    fn add_move(&mut self, stay: &Stay, seen: &[Letter], after: &[Letter]) -> Asked<()> {
        let state = stay.state;
        let is_leaving = |at: usize| match stay.cause {
            Cause::Idle => false,
            Cause::Letter => at + 1 == seen.len(),
            Cause::Kind(kind) => self.alphabet.is_of(seen[at], kind),
        };
        let others: Vec<usize> = (0..seen.len()).filter(|at| !is_leaving(*at)).collect();
        let word = |chosen: &[usize]| -> Word {
            let left = (0..seen.len()).filter(|at| is_leaving(*at) || chosen.contains(at));
            left.map(|at| seen[at])
                .chain(after.iter().copied())
                .collect()
        };
        let without = self.outcome(state, &word(&[]), after.len())?;
        if without == self.outcome(state, &word(&others), after.len())? {
            return Ok(());
        }
        // All of them make a difference. Needed ones are found one by one: the last with which the rest still makes one.
        let mut needed: Vec<usize> = Vec::new();
        let mut rest = others.as_slice();
        loop {
            let differs = |this: &Self, at: usize| -> Asked<Option<bool>> {
                let chosen = [needed.as_slice(), &rest[at..]].concat();
                let outcome = this.outcome(state, &word(&chosen), after.len())?;
                Ok(outcome.map(|outcome| Some(outcome) != without))
            };
            if differs(self, rest.len())? == Some(true) {
                break;
            }
            if rest.is_empty() {
                return Ok(());
            }
            let (at, _) = self.boundary(0, rest.len(), differs)?;
            needed.push(rest[at]);
            rest = &rest[at + 1..];
        }
        // What is asked now tells the state after the first letter from this one.
        while needed.len() > 1 {
            let fewer = self.outcome(state, &word(&needed[1..]), after.len())?;
            if fewer.is_none() || fewer == without {
                break;
            }
            needed.remove(0);
        }
        let letters: Word = needed.iter().map(|at| seen[*at]).collect();
        // The first ones may be all of a kind, and the others matter only after that.
        let mut kinds = (2..=letters.len()).filter_map(|count| {
            let kind = self.alphabet.kind_of(&letters[..count])?;
            Some((kind, count))
        });
        let open = kinds.find(|(kind, _)| !self.automaton.is_refuted(state, *kind));
        if let Some((kind, count)) = open {
            let (of_kind, others) = letters.split_at(count);
            let left = (0..seen.len()).filter(|at| is_leaving(*at));
            let left = left.map(|at| seen[at]).chain(after.iter().copied());
            let rest: Word = others.iter().copied().chain(left).collect();
            if self.is_all_of_a_kind(state, of_kind, &rest)? {
                if let Some(to) = self.identify(state, of_kind)? {
                    (self.automaton).complete(state, kind, to, of_kind.to_vec());
                }
                return Ok(());
            }
            self.automaton.refute(state, kind);
        }
        let first = &letters[..1];
        let mut to = self.identify(state, first)?;
        if to.is_none_or(|to| to == Target::State(state)) {
            to = self.split(state, first)?;
        }
        if let Some(to) = to {
            self.automaton.set(state, first[0], to);
        }
        Ok(())
    }

    /// Whether letters of a kind matter in any order, and only together, for what comes of the rest.
    fn is_all_of_a_kind(&self, state: usize, letters: &[Letter], rest: &[Letter]) -> Asked<bool> {
        let outcome =
            |letters: &[Letter]| self.outcome(state, &[letters, rest].concat(), rest.len());
        let together = outcome(letters)?;
        let reversed: Word = letters.iter().rev().copied().collect();
        let other_order = outcome(&reversed)?;
        if other_order.is_some() && other_order != together {
            return Ok(false);
        }
        // The first one again instead of the last one.
        let Some(between) = self.idle(state, letters[0]) else {
            return Ok(true);
        };
        let mut again = letters[..letters.len() - 1].to_vec();
        again.extend([between, letters[0]]);
        let again = outcome(&again)?;
        Ok(again.is_none() || again != together)
    }
}
