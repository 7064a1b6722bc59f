//! The search for the fewest observations to acceptance: A* over pairs of a situation and the place that the agent can walk about in.
//!
//! The heuristic is the number of observations left without walls ([`relaxed`](super::relaxed)), exact on most maps: then a search expands one
//! node per observation. What a search found out is kept for the next one. It raises the bounds of some nodes and not those of their neighbours, so
//! that the heuristic need not be consistent: a node that is found again on a shorter way is opened again, and no node is thought nearer than the one it
//! was found from.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use form_core::{BoundMachine, Monitor, StepMode};

use super::contacts::{Contacts, Place};
use super::label_map::LabelMap;
use super::relaxed::Relaxed;
use super::symmetry::Symmetry;
use crate::tasks::situations::{Next, Situations};

/// The maximum number of nodes that one search expands.
const MOST_NODES: usize = 100_000;

/// Observations left at a node, as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// At least this many.
    AtLeast(usize),
    /// Exactly this many.
    Exactly(usize),
    /// The machine cannot accept any more.
    Impossible,
}

/// The nodes of a map that were discovered.
#[derive(Clone, Debug)]
pub(super) struct Search {
    machine: Arc<BoundMachine>,
    pub(super) contacts: Contacts,
    situations: Situations,
    symmetry: Symmetry,
    relaxed: Relaxed,
    nodes: HashMap<(usize, Place), usize>,
    keys: Vec<(usize, Place)>,
    left: Vec<Left>,
    /// By node, once it is expanded: where the observations lead that can come next. A `Situation` is the number of a node here.
    successors: Vec<Option<Arc<[Next]>>>,
    pub(super) expanded: usize,
}

impl Search {
    pub(super) fn new(machine: Arc<BoundMachine>, map: &LabelMap) -> Self {
        let contacts = Contacts::new(map);
        let alike = Symmetry::of_labels(&machine, map, &contacts);
        let mut labels = contacts.labels.clone();
        if machine.machine().step_mode() == StepMode::All {
            // The first label is empty.
            labels.push(0);
        }
        Self {
            symmetry: Symmetry::of_places(&machine, map, &contacts),
            situations: Situations::new(machine.clone(), map.labels.to_vec()),
            relaxed: Relaxed::new(alike, labels),
            contacts,
            machine,
            nodes: HashMap::new(),
            keys: Vec::new(),
            left: Vec::new(),
            successors: Vec::new(),
            expanded: 0,
        }
    }

    /// Whether the machine can accept if walls do not matter.
    pub(super) fn can_accept(&mut self, monitor: &Monitor) -> bool {
        let situation = self.situations.of(monitor);
        let bound = (self.relaxed).left(&self.machine, &mut self.situations, situation);
        bound.is_some()
    }

    /// The number of the situation that a monitor is in.
    pub(super) fn situation(&mut self, monitor: &Monitor) -> usize {
        self.situations.of(monitor)
    }

    /// The result of stepping on a labelled cell.
    pub(super) fn after(&mut self, situation: usize, object: usize) -> Next {
        (self.situations).after(situation, self.contacts.labels[object])
    }

    /// Where the agent can walk about without changing the situation, and the labelled cells around.
    pub(super) fn walk(&mut self, situation: usize, from: Place) -> (Place, Vec<usize>) {
        let (situations, labels) = (&mut self.situations, &self.contacts.labels);
        self.contacts.walk(from, |object| {
            situations.after(situation, labels[object]) == Next::Situation(situation)
        })
    }

    /// Where stepping on a labelled cell leads, with the number of a node.
    pub(super) fn enter(&mut self, situation: usize, object: usize) -> Next {
        match self.after(situation, object) {
            Next::Situation(after) => {
                let (place, _) = self.walk(after, Place::Object(object as u16));
                Next::Situation(self.node(after, place))
            }
            end => end,
        }
    }

    /// The node of a situation and a place, up to symmetry.
    pub(super) fn node(&mut self, situation: usize, place: Place) -> usize {
        let monitor = self.situations.monitor(situation);
        let (monitor, place) = self.symmetry.canonical(&self.machine, monitor, place);
        let key = (self.situations.of(&monitor), place);
        let next = self.keys.len();
        let node = *self.nodes.entry(key).or_insert(next);
        if node == next {
            self.keys.push(key);
            self.successors.push(None);
            let bound = (self.relaxed).left(&self.machine, &mut self.situations, key.0);
            (self.left).push(bound.map_or(Left::Impossible, Left::AtLeast));
        }
        node
    }

    /// Where the observations lead that can come next.
    fn expand(&mut self, node: usize) -> Arc<[Next]> {
        if let Some(known) = &self.successors[node] {
            return known.clone();
        }
        let (situation, place) = self.keys[node];
        let (_, touched) = self.walk(situation, place);
        let mut next: Vec<Next> = Vec::new();
        for object in touched {
            let after = self.enter(situation, object);
            if after != Next::Over && !next.contains(&after) {
                next.push(after);
            }
        }
        self.expanded += 1;
        let next: Arc<[Next]> = next.into();
        self.successors[node] = Some(next.clone());
        next
    }

    /// The number of observations left at a node if it is at most `most`.
    pub(super) fn left(&mut self, root: usize, most: usize) -> Option<usize> {
        match self.left[root] {
            Left::Exactly(left) => return (left <= most).then_some(left),
            Left::Impossible => return None,
            Left::AtLeast(left) if left > most => return None,
            Left::AtLeast(_) => {}
        }
        let mut tree = Tree::default();
        tree.open(root, 0, root, self.left[root]);
        while let Some((node, depth, length)) = tree.next() {
            if length > most || tree.closed.len() > MOST_NODES {
                self.left[root] = Left::AtLeast(length);
                return None;
            }
            if node == ACCEPTANCE || matches!(self.left[node], Left::Exactly(_)) {
                // The way here is a shortest one: so are its parts.
                for (node, depth) in tree.way_to(node) {
                    self.left[node] = Left::Exactly(length - depth);
                }
                return Some(length);
            }
            for after in self.expand(node).iter() {
                match after {
                    Next::Situation(after) => {
                        tree.open(*after, depth + 1, node, self.left[*after]);
                    }
                    Next::Completed => tree.open(ACCEPTANCE, depth + 1, node, Left::Exactly(0)),
                    Next::Over => {}
                }
            }
        }
        for node in tree.closed {
            self.left[node] = Left::Impossible;
        }
        None
    }
}

/// Stands for acceptance among the nodes of a tree.
const ACCEPTANCE: usize = usize::MAX;

/// The search tree of one search.
#[derive(Default)]
struct Tree {
    /// By node: how deep it was found at best, and from where. The root was found from itself.
    reached: HashMap<usize, (usize, usize)>,
    /// Nodes and depths by the least length of a solution through them. Of those with the same length the one found last comes
    /// first: it is the deepest.
    open: Vec<Vec<(usize, usize)>>,
    /// The least length in use.
    length: usize,
    closed: HashSet<usize>,
}

impl Tree {
    /// Adds a node, unless it was found before at this depth or above.
    fn open(&mut self, node: usize, depth: usize, from: usize, left: Left) {
        let length = match left {
            Left::Exactly(left) | Left::AtLeast(left) => self.length.max(depth + left),
            Left::Impossible => return,
        };
        if (self.reached.get(&node)).is_some_and(|(known, _)| *known <= depth) {
            return;
        }
        self.reached.insert(node, (depth, from));
        if self.open.len() <= length {
            self.open.resize(length + 1, Vec::new());
        }
        self.open[length].push((node, depth));
    }

    /// The most promising node, its depth, and the least length of a solution through it.
    fn next(&mut self) -> Option<(usize, usize, usize)> {
        while let Some(bucket) = self.open.get_mut(self.length) {
            match bucket.pop() {
                None => self.length += 1,
                // Unless a shorter way was found since.
                Some((node, depth)) if self.reached[&node].0 == depth => {
                    self.closed.insert(node);
                    return Some((node, depth, self.length));
                }
                Some(_) => {}
            }
        }
        None
    }

    /// The nodes on the way to a node, with their depths; not the node itself.
    fn way_to(&self, mut node: usize) -> Vec<(usize, usize)> {
        let mut way = Vec::new();
        while let Some((depth, from)) = self.reached.get(&node).filter(|(depth, _)| *depth > 0) {
            way.push((*from, depth - 1));
            node = *from;
        }
        way
    }
}
