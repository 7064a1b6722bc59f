//! All walks so far as a tree over letters: what is known of every sequence of observations.

use std::collections::{BTreeMap, HashMap, VecDeque};

use form_core::{AtomSet, Kind, Trace};

/// An observation, by the order in which it was first made.
pub(crate) type Letter = usize;
/// A sequence of observations.
pub(crate) type Word = Vec<Letter>;

/// What a walk has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Running,
    Goal,
    DeadEnd,
}

/// What came of a word: how it ended, and after how many of its letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: Status,
    pub(super) length: usize,
}

#[derive(Debug)]
struct Node {
    status: Status,
    children: BTreeMap<Letter, usize>,
}

/// The tree.
#[derive(Debug)]
pub(crate) struct ObservationTree {
    letters: Vec<AtomSet>,
    numbers: HashMap<AtomSet, Letter>,
    nodes: Vec<Node>,
}

impl Default for ObservationTree {
    fn default() -> Self {
        Self {
            letters: Vec::new(),
            numbers: HashMap::new(),
            nodes: vec![Node {
                status: Status::Running,
                children: BTreeMap::new(),
            }],
        }
    }
}

impl ObservationTree {
    /// The root.
    pub(super) const ROOT: usize = 0;

    pub(super) fn add(&mut self, trace: &Trace) {
        let mut node = Self::ROOT;
        for observation in trace.steps() {
            let letter = self.letter(observation);
            let next = self.nodes.len();
            node = *self.nodes[node].children.entry(letter).or_insert(next);
            if node == next {
                self.nodes.push(Node {
                    status: Status::Running,
                    children: BTreeMap::new(),
                });
            }
        }
        self.nodes[node].status = match trace.kind() {
            Kind::Goal => Status::Goal,
            Kind::DeadEnd => Status::DeadEnd,
            Kind::Incomplete => return,
        };
    }

    fn letter(&mut self, observation: &AtomSet) -> Letter {
        let next = self.letters.len();
        let letter = *self.numbers.entry(observation.clone()).or_insert(next);
        if letter == next {
            self.letters.push(observation.clone());
        }
        letter
    }

    /// The observations that have been made.
    pub(super) fn letters(&self) -> &[AtomSet] {
        &self.letters
    }

    pub(super) fn status(&self, node: usize) -> Status {
        self.nodes[node].status
    }

    pub(super) fn children(&self, node: usize) -> impl Iterator<Item = (Letter, usize)> + '_ {
        (self.nodes[node].children.iter()).map(|(letter, child)| (*letter, *child))
    }

    pub(super) fn child(&self, node: usize, letter: Letter) -> Option<usize> {
        self.nodes[node].children.get(&letter).copied()
    }

    /// The longest words of all walks, and what they have come to.
    pub(super) fn walks(&self) -> Vec<(Word, Status)> {
        let mut found = Vec::new();
        let mut open = vec![(Self::ROOT, Vec::new())];
        while let Some((node, word)) = open.pop() {
            if self.nodes[node].children.is_empty() {
                found.push((word, self.status(node)));
                continue;
            }
            for (letter, child) in self.children(node) {
                let mut word: Word = word.clone();
                word.push(letter);
                open.push((child, word));
            }
        }
        found
    }

    /// The node of a word, if it was walked.
    pub(super) fn node(&self, word: &[Letter]) -> Option<usize> {
        (word.iter()).try_fold(Self::ROOT, |node, letter| {
            self.nodes[node].children.get(letter).copied()
        })
    }

    /// What comes of a word after another one, if that is known.
    pub(super) fn answer(&self, before: &[Letter], word: &[Letter]) -> Option<Answer> {
        let mut node = self.node(before)?;
        for (length, letter) in word.iter().enumerate() {
            if self.status(node) != Status::Running {
                return Some(Answer {
                    status: self.status(node),
                    length,
                });
            }
            node = *self.nodes[node].children.get(letter)?;
        }
        Some(Answer {
            status: self.status(node),
            length: word.len(),
        })
    }

    /// A shortest word of which different things came after the two nodes.
    pub(super) fn separating(&self, a: usize, b: usize) -> Option<Word> {
        let mut queue = VecDeque::from([(a, b, Vec::new())]);
        while let Some((a, b, word)) = queue.pop_front() {
            if self.status(a) != self.status(b) {
                return Some(word);
            }
            for (letter, after_a) in self.children(a) {
                if let Some(after_b) = self.nodes[b].children.get(&letter) {
                    let mut word = word.clone();
                    word.push(letter);
                    queue.push_back((after_a, *after_b, word));
                }
            }
        }
        None
    }
}
