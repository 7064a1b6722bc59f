//! The traces that matter so far, as a tree of prefixes: shared beginnings are encoded once.

use std::collections::HashMap;

use form_core::{AtomSet, Kind};

/// A node: the trace up to and including one observation.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) parent: usize,
    /// The number of its observation; the root has none, and the number means nothing there.
    pub(crate) observation: usize,
    /// For each `forall` candidate the node before which all its atoms have been seen last: in the state of that node
    /// or an earlier one the buffer must have started. `None` if some atom has not come up yet.
    pub(crate) complete_since: Vec<Option<usize>>,
    /// How the episode ended here, if it is known to have ended.
    pub(crate) end: Option<Kind>,
}

/// The tree.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    children: HashMap<(usize, usize), usize>,
    /// The different observations.
    pub(crate) observations: Vec<AtomSet>,
    numbers: HashMap<AtomSet, usize>,
    /// The masks of the `forall` candidates.
    foralls: Vec<AtomSet>,
}

impl Tree {
    pub(crate) fn new(foralls: Vec<AtomSet>) -> Self {
        let root = Node { parent: 0, observation: 0, complete_since: vec![None; foralls.len()], end: None };
        Self {
            nodes: vec![root],
            children: HashMap::new(),
            observations: Vec::new(),
            numbers: HashMap::new(),
            foralls,
        }
    }

    /// Adds a trace; returns the nodes that are new. A trace that only says "incomplete" adds nothing at its end.
    pub(crate) fn add(&mut self, kind: Kind, steps: &[AtomSet]) -> Vec<usize> {
        let mut path = vec![0];
        let mut new = Vec::new();
        for (depth, step) in steps.iter().enumerate() {
            let observation = self.number(step);
            let parent = path[depth];
            let next = self.nodes.len();
            let node = *self.children.entry((parent, observation)).or_insert(next);
            if node == next {
                let complete_since = (self.foralls.iter())
                    .map(|mask| complete_since(mask, &steps[..=depth]).map(|d| path[d]))
                    .collect();
                self.nodes.push(Node { parent, observation, complete_since, end: None });
                new.push(node);
            }
            path.push(node);
        }
        let last = path[steps.len()];
        if kind != Kind::Incomplete && self.nodes[last].end.is_none() {
            self.nodes[last].end = Some(kind);
            if !new.contains(&last) {
                new.push(last);
            }
        }
        new
    }

    fn number(&mut self, observation: &AtomSet) -> usize {
        let next = self.observations.len();
        let number = *self.numbers.entry(observation.clone()).or_insert(next);
        if number == next {
            self.observations.push(observation.clone());
        }
        number
    }
}

/// The largest number of steps that can be dropped from the front so that the rest still contains the whole mask.
fn complete_since(mask: &AtomSet, steps: &[AtomSet]) -> Option<usize> {
    let mut missing = mask.clone();
    for (depth, step) in steps.iter().enumerate().rev() {
        missing = missing.difference(step);
        if missing.is_empty() {
            return Some(depth);
        }
    }
    None
}
