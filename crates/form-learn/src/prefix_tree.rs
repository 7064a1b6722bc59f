//! Traces as a prefix tree acceptor (APTA: Lang, Pearlmutter and Price 1998; Heule and Verwer 2010): shared prefixes are stored,
//! and encoded, once. [Pieces](crate::pieces) of traces have roots of their own.

use std::collections::HashMap;

use form_core::{AtomId, AtomSet, Kind};

use crate::cuts::stays;
use crate::vocabulary::ObservationId;
use crate::window::Window;

/// A trie over observations. Node 0 is the root, the empty trace.
#[derive(Clone, Debug)]
pub(crate) struct Trie<T> {
    children: HashMap<(u32, ObservationId), u32>,
    nodes: Vec<T>,
}

impl<T> Trie<T> {
    pub(crate) fn new(root: T) -> Self {
        Self {
            children: HashMap::new(),
            nodes: vec![root],
        }
    }

    /// The child of a node, made by `new` if it does not exist yet.
    pub(crate) fn child(
        &mut self,
        parent: usize,
        observation: ObservationId,
        new: impl FnOnce() -> T,
    ) -> usize {
        let next = self.nodes.len() as u32;
        let child = *(self.children)
            .entry((parent as u32, observation))
            .or_insert(next);
        if child == next {
            self.nodes.push(new());
        }
        child as usize
    }

    pub(crate) fn node(&mut self, node: usize) -> &mut T {
        &mut self.nodes[node]
    }
}

/// A node of the prefix tree: a trace up to and including one observation.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Of a root, the root itself.
    pub(crate) parent: usize,
    /// The start of the trace or piece.
    pub(crate) root: usize,
    /// Meaningless at a root.
    pub(crate) observation: ObservationId,
    /// For each atom with a window its *since* node: the atom holds here iff the present state was entered at that node or before
    /// (see [`Window::since`]); `None` if it cannot hold.
    pub(crate) since: Vec<Option<usize>>,
    /// In a piece, for each atom with a window: which of its atoms have not been observed since the root.
    pub(crate) unseen: Vec<AtomSet>,
    /// How the episode ended here, if it did.
    pub(crate) end: Option<Kind>,
    /// The last node before this one with the same observation, if there is one.
    pub(crate) previous: Option<usize>,
    /// The fewest [stays](crate::cuts) that a trace through this node needs if a state is entered here; 0 if none is known to end.
    pub(crate) stays: usize,
}

/// The prefix tree of the traces that the solver knows.
#[derive(Clone, Debug)]
pub(crate) struct PrefixTree {
    trie: Trie<Node>,
    /// The atoms with a window.
    windows: Vec<(AtomSet, Window)>,
}

impl PrefixTree {
    /// The tree without traces, for atoms with these windows.
    pub(crate) fn new(windows: Vec<(AtomSet, Window)>) -> Self {
        let root = Node {
            parent: 0,
            root: 0,
            observation: 0,
            since: vec![None; windows.len()],
            unseen: Vec::new(),
            end: None,
            previous: None,
            stays: 0,
        };
        Self {
            trie: Trie::new(root),
            windows,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.trie.nodes.len()
    }

    pub(crate) fn node(&self, node: usize) -> &Node {
        &self.trie.nodes[node]
    }

    /// Adds a trace; the node of its end. New nodes have numbers from the previous length on, parents before children.
    ///
    /// The traces must not contradict each other: a node never gets an end after it was encoded without one.
    pub(crate) fn add(
        &mut self,
        kind: Kind,
        steps: &[ObservationId],
        observations: &[AtomSet],
    ) -> usize {
        let path = self.grow(0, kind, steps, observations);
        let end = path[steps.len()];
        self.count_stays(kind, steps, path);
        end
    }

    /// Adds a piece of a trace that begins anywhere; the node of its end. What was observed before is not known, so a window may hold
    /// since then.
    pub(crate) fn add_piece(
        &mut self,
        kind: Kind,
        steps: &[ObservationId],
        observations: &[AtomSet],
    ) -> usize {
        let unseen = self.windows.iter().map(|(mask, _)| mask.clone()).collect();
        let root = self.add_root(Some, unseen);
        let path = self.grow(root, kind, steps, observations);
        path[steps.len()]
    }

    /// Adds a trace that shares no node with others; its root.
    pub(crate) fn add_apart(
        &mut self,
        kind: Kind,
        steps: &[ObservationId],
        observations: &[AtomSet],
    ) -> usize {
        let root = self.add_root(|_| None, Vec::new());
        let path = self.grow(root, kind, steps, observations);
        self.count_stays(kind, steps, path);
        root
    }

    /// Adds a root; for each atom with a window, since when it holds if all its atoms but those `unseen` have been observed.
    fn add_root(&mut self, since: impl Fn(usize) -> Option<usize>, unseen: Vec<AtomSet>) -> usize {
        let root = self.len();
        self.trie.nodes.push(Node {
            parent: root,
            root,
            observation: 0,
            since: vec![since(root); self.windows.len()],
            unseen,
            end: None,
            previous: None,
            stays: 0,
        });
        root
    }

    /// Adds the nodes of a trace or piece; its path.
    fn grow(
        &mut self,
        root: usize,
        kind: Kind,
        steps: &[ObservationId],
        observations: &[AtomSet],
    ) -> Vec<usize> {
        let mut path = vec![root];
        // Where each observation, and each atom, was last seen.
        let mut last_step = HashMap::new();
        let mut last_seen: HashMap<AtomId, usize> = HashMap::new();
        for (depth, step) in steps.iter().enumerate() {
            let parent = path[depth];
            let previous = last_step.insert(*step, depth);
            let newest = &observations[*step as usize];
            for atom in newest.iter() {
                last_seen.insert(atom, depth);
            }
            let windows = &self.windows;
            let before = self.trie.nodes[parent].unseen.clone();
            let node = self.trie.child(parent, *step, || {
                let unseen: Vec<AtomSet> = (before.iter())
                    .map(|unseen| unseen.difference(newest))
                    .collect();
                let since = |(f, (mask, window)): (usize, &(AtomSet, Window))| match unseen
                    .get(f)
                    .is_some_and(|unseen| !unseen.is_empty())
                {
                    true => Some(root),
                    false => (window.since(mask, newest, &last_seen)).map(|at| path[at]),
                };
                Node {
                    parent,
                    root,
                    observation: *step,
                    since: windows.iter().enumerate().map(since).collect(),
                    unseen,
                    end: (kind != Kind::Incomplete && depth + 1 == steps.len()).then_some(kind),
                    previous: previous.map(|before| path[before + 1]),
                    stays: 0,
                }
            });
            path.push(node);
        }
        path
    }

    /// Notes on the path of a trace how many stays the rest of it needs, if it ends.
    fn count_stays(&mut self, kind: Kind, steps: &[ObservationId], path: Vec<usize>) {
        if kind == Kind::Incomplete {
            return;
        }
        for (node, stays) in path.into_iter().zip(stays(steps)) {
            let node = self.trie.node(node);
            node.stays = node.stays.max(stays);
        }
    }
}
