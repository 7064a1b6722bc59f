//! The runs on the traces where stays can be counted: machines without cycles whose `forall` atoms stand alone on their edges.
//!
//! Three things make this stronger than the general [runs](super::runs). States are numbered upwards along every run, so
//! positions have the order encoding ("the state at this node is at least k"; Tamura et al. 2009) beside one variable per
//! state. The [stays](crate::cuts) that the rest of a trace needs bound the state at every node from above. And an
//! observation that a stay has seen before causes no move, so a `forall` matters only at the nodes where it becomes complete.

use std::collections::HashMap;

use form_core::Kind;

use super::solver::{FALSE, Lit, Solver, TRUE};
use crate::prefix_tree::PrefixTree;
use crate::shape::Shape;

/// When edges fire.
#[derive(Default)]
pub(super) struct Moves {
    /// For each state, target and observation: an edge about the newest observation fires.
    pub(super) fires: HashMap<(usize, usize, u32), Lit>,
    /// For each state, target and `forall`: an edge has it.
    pub(super) waits: HashMap<(usize, usize, usize), Lit>,
    /// For each state and `forall`: an edge to some target has it.
    pub(super) waits_anywhere: Vec<Vec<Lit>>,
}

/// The runs on a prefix tree.
pub(super) struct OrderedRuns {
    pub(super) shape: Shape,
    pub(super) moves: Moves,
    /// For each node and state: the run is there, terminal states included.
    pub(super) states: Vec<Vec<Lit>>,
    /// For each node and k: the run is in state k or a higher one that is not terminal.
    pub(super) at_least: Vec<Vec<Lit>>,
    /// For each node: the stays that were known to be needed when it was encoded.
    stays: Vec<usize>,
}

impl OrderedRuns {
    /// The runs on the empty trace; `None` if stays cannot be counted.
    pub(super) fn new(shape: &Shape) -> Option<Self> {
        let mut root = vec![FALSE; shape.states + 2];
        root[0] = TRUE;
        let mut at_least = vec![FALSE; shape.states + 1];
        at_least[0] = TRUE;
        shape.counts_stays().then(|| Self {
            shape: shape.clone(),
            moves: Moves::default(),
            states: vec![root],
            at_least: vec![at_least],
            stays: vec![0],
        })
    }

    /// The number of nodes encoded so far.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Excludes states at known nodes that are too high for traces added since.
    pub(super) fn tighten(&mut self, solver: &mut Solver, tree: &PrefixTree) {
        for node in 0..self.len() {
            let stays = tree.node(node).stays;
            if stays <= self.stays[node] {
                continue;
            }
            self.stays[node] = stays;
            if stays > self.shape.states {
                solver.add(&[]);
            }
            for k in self.highest(node) + 1..self.shape.states {
                solver.add(&[-self.at_least[node][k]]);
            }
        }
    }

    /// The highest state at a node from which a trace can be completed: every stay needs a state of its own.
    fn highest(&self, node: usize) -> usize {
        self.shape.states.saturating_sub(self.stays[node].max(1))
    }

    /// Encodes the next node of the tree. Its observation must be known to the moves.
    pub(super) fn add_node(&mut self, solver: &mut Solver, tree: &PrefixTree) {
        let node = self.len();
        self.stays.push(tree.node(node).stays);
        match self.shape.soft {
            true => self.add_soft_positions(solver, tree.node(node).parent),
            false => self.add_positions(solver, tree, node),
        }
        let parent = tree.node(node).parent;
        for from in 0..self.shape.states {
            if self.states[parent][from] != FALSE {
                self.add_moves(solver, tree, node, from);
            }
        }
    }

    /// The variables of a node: its state in both encodings.
    fn add_positions(&mut self, solver: &mut Solver, tree: &PrefixTree, node: usize) {
        let inner = self.shape.states;
        let mut states = vec![FALSE; inner + 2];
        let mut at_least = vec![FALSE; inner + 1];
        match tree.node(node).end {
            Some(Kind::DeadEnd) => states[self.shape.reject()] = TRUE,
            Some(_) => states[self.shape.accept()] = TRUE,
            None => {
                let before = &self.at_least[tree.node(node).parent];
                at_least[0] = TRUE;
                for k in 1..inner {
                    if k <= self.highest(node) {
                        at_least[k] = solver.fresh_absent();
                        solver.add(&[-at_least[k], at_least[k - 1]]);
                    }
                    solver.add(&[-before[k], at_least[k]]);
                }
                for state in 0..inner {
                    states[state] = solver.conjunction(at_least[state], -at_least[state + 1]);
                }
            }
        }
        self.states.push(states);
        self.at_least.push(at_least);
    }

    /// From `from` the run takes the edge about the newest observation that fires, unless a `forall` becomes complete that an
    /// edge waits for.
    fn add_moves(&self, solver: &mut Solver, tree: &PrefixTree, node: usize, from: usize) {
        let (parent, observation) = (tree.node(node).parent, tree.node(node).observation);
        let here = self.states[parent][from];
        let completed = self.completed(tree, node, from);
        let taken: Vec<Lit> = (completed.iter())
            .map(|(f, complete)| solver.conjunction(*complete, self.moves.waits_anywhere[from][*f]))
            .collect();
        for to in self.shape.targets(from) {
            let fires = self.moves.fires[&(from, to, observation)];
            let after = self.states[node][to];
            let mut causes = vec![-here, -after, fires];
            for &(f, complete) in &completed {
                let waits = self.moves.waits[&(from, to, f)];
                solver.add(&[-here, -complete, -waits, after]);
                causes.push(solver.conjunction(complete, waits));
            }
            solver.add(&causes);
            let follows = [-here, -fires, after];
            solver.add(&[&follows[..], &taken].concat());
        }
        if let Some(previous) = tree.node(node).previous {
            let before = self.states[tree.node(previous).parent][from];
            solver.add(&[-before, -here, self.states[node][from]]);
        }
    }

    /// The `forall` atoms that may become complete at a node, for a run that was in `from` before it, each with the literal that
    /// it is complete.
    fn completed(&self, tree: &PrefixTree, node: usize, from: usize) -> Vec<(usize, Lit)> {
        let here = tree.node(node);
        let before = &tree.node(here.parent).since;
        let since = here.since.iter().zip(before).enumerate();
        since
            .filter_map(|(f, (since, before))| {
                let entered = (*since)?;
                let complete = match entered == here.parent {
                    true => TRUE,
                    false => self.states[entered][from],
                };
                // Otherwise it was complete before, if at all.
                (since != before && complete != FALSE).then_some((f, complete))
            })
            .collect()
    }
}
