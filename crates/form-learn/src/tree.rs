//! Traces as a tree of prefixes: shared beginnings are encoded once.

use std::collections::HashMap;

use form_core::{AtomSet, Kind};

/// The number of an observation among the different ones of the data.
pub(crate) type ObservationId = u32;

/// A node: a trace up to and including one observation. The root is the empty trace.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) parent: usize,
    /// Means nothing at the root.
    pub(crate) observation: ObservationId,
    /// For each `forall` candidate, the last node from which on all its atoms have come up: the candidate holds here iff
    /// the state before this node was already the state at that node. `None` if some atom has not come up at all.
    pub(crate) complete_since: Vec<Option<usize>>,
    /// How the episode ended here, if it did.
    pub(crate) end: Option<Kind>,
}

/// The tree, and the observations its nodes refer to.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    children: HashMap<(usize, ObservationId), usize>,
    foralls: Vec<AtomSet>,
}

impl Tree {
    /// The empty tree for `forall` candidates with these masks.
    pub(crate) fn new(foralls: Vec<AtomSet>) -> Self {
        let complete_since = vec![None; foralls.len()];
        let root = Node {
            parent: 0,
            observation: 0,
            complete_since,
            end: None,
        };
        Self {
            nodes: vec![root],
            children: HashMap::new(),
            foralls,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, node: usize) -> &Node {
        &self.nodes[node]
    }

    /// Adds a trace. Its nodes come after their parents; those from the old length on are new.
    ///
    /// Data that contradict each other must not get here: a node never gets an end after it was encoded without one.
    pub(crate) fn add(&mut self, kind: Kind, steps: &[ObservationId], observations: &[AtomSet]) {
        let mut path = vec![0];
        for (depth, step) in steps.iter().enumerate() {
            let parent = path[depth];
            let next = self.nodes.len();
            let node = *self.children.entry((parent, *step)).or_insert(next);
            if node == next {
                let seen = &steps[..=depth];
                let complete_since = (self.foralls.iter())
                    .map(|mask| Some(path[complete_since(mask, seen, observations)?]))
                    .collect();
                let end = (kind != Kind::Incomplete && depth + 1 == steps.len()).then_some(kind);
                self.nodes.push(Node {
                    parent,
                    observation: *step,
                    complete_since,
                    end,
                });
            }
            path.push(node);
        }
    }
}

/// The largest number of steps that can be dropped from the front so that the rest still contains the whole mask.
fn complete_since(
    mask: &AtomSet,
    steps: &[ObservationId],
    observations: &[AtomSet],
) -> Option<usize> {
    let mut missing = mask.clone();
    for (depth, step) in steps.iter().enumerate().rev() {
        missing = missing.difference(&observations[*step as usize]);
        if missing.is_empty() {
            return Some(depth);
        }
    }
    None
}
