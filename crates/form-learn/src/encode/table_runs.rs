//! The runs on the traces where a table decides them: an observation that a stay has seen before causes no move (the lemma of
//! [`cuts`](crate::cuts)), so it matters which edges fire on a new observation, and which `forall`s become complete.
//!
//! Without cycles, states are numbered upwards along every run, so positions have the order encoding ("the state at this node is
//! at least k"; Tamura et al. 2009) beside one variable per state, and the stays that the rest of a trace needs bound the state at
//! every node from above. A run that is in one state at two nodes has not left it in between. With [cycles](super::cycles) it may have.

use std::collections::HashMap;

use form_core::{AtomId, Kind};

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
    /// For each state, k and observation or `forall`, where it was asked: the target is at least k.
    pub(super) fires_from: HashMap<(usize, usize, u32), Lit>,
    pub(super) waits_from: HashMap<(usize, usize, usize), Lit>,
    /// For each state and observation, where it was asked: it is left; for each target: it is entered from some state.
    pub(super) leaves: HashMap<(usize, u32), Lit>,
    pub(super) enters: HashMap<(usize, u32), Lit>,
    /// For each target and `forall`, where it was asked: an edge from some state has it.
    pub(super) waits_for: HashMap<(usize, usize), Lit>,
    /// For each state and `forall`: an edge to some target has it.
    pub(super) waits_anywhere: Vec<Vec<Lit>>,
}

/// The runs on a prefix tree.
pub(super) struct TableRuns {
    pub(super) shape: Shape,
    /// Whether there are clauses about the [order](super::order) of states alone. Then no trace may be misjudged.
    ordered: bool,
    /// Whether there are clauses about [moves](super::cycles) alone, with cycles.
    pub(super) moves_alone: bool,
    pub(super) moves: Moves,
    /// For each node and state: the run is there, terminal states included.
    pub(super) states: Vec<Vec<Lit>>,
    /// For each node and k: the run is in state k or a higher one that is not terminal.
    /// With cycles, only for k = 0: the run is not over.
    pub(super) at_least: Vec<Vec<Lit>>,
    /// For each node, with cycles: the run moves there.
    pub(super) moved: Vec<Lit>,
    /// For each node and a later one, with cycles: the run moves nowhere after the first, up to the second.
    pub(super) quiet: HashMap<(usize, usize), Lit>,
    /// For each root of a piece and atom: it was observed before, since the state was entered.
    pub(super) seen: HashMap<(usize, AtomId), Lit>,
    /// For each node: the stays that were known to be needed when it was encoded.
    stays: Vec<usize>,
}

impl TableRuns {
    /// The runs on the empty trace; `None` if no table decides them.
    pub(super) fn new(shape: &Shape) -> Option<Self> {
        Self::with_more_clauses(shape, false)
    }

    /// The same with clauses about the [order](super::order) of states alone, or with cycles about [moves](super::cycles) alone, if the
    /// options allow them: they shorten refutations.
    pub(super) fn for_refutations(shape: &Shape) -> Option<Self> {
        Self::with_more_clauses(shape, !shape.soft)
    }

    fn with_more_clauses(shape: &Shape, more: bool) -> Option<Self> {
        let mut root = vec![FALSE; shape.states + 2];
        root[0] = TRUE;
        let mut at_least = vec![FALSE; shape.states + 1];
        at_least[0] = TRUE;
        shape.has_tables().then(|| Self {
            shape: shape.clone(),
            ordered: more && shape.options.techniques.order && !shape.options.cyclic,
            moves_alone: more && shape.has_pieces(),
            moves: Moves::default(),
            states: vec![root],
            at_least: vec![at_least],
            moved: vec![FALSE],
            quiet: HashMap::new(),
            seen: HashMap::new(),
            stays: vec![0],
        })
    }

    /// The number of nodes encoded so far.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Excludes states at known nodes that are too high for traces added since.
    pub(super) fn tighten(&mut self, solver: &mut Solver, tree: &PrefixTree) {
        if self.shape.options.cyclic {
            return;
        }
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
        if tree.node(node).root == node {
            return self.add_root(solver, tree, node);
        }
        match (self.shape.soft, self.shape.options.cyclic) {
            (true, _) => self.add_soft_positions(solver, tree.node(node).parent),
            (false, false) => self.add_positions(solver, tree, node),
            (false, true) => self.add_unordered_positions(solver, tree, node),
        }
        let completed = self.completed(solver, tree, node);
        let parent = tree.node(node).parent;
        let in_order = self.ordered && tree.node(node).end.is_none();
        for from in 0..self.shape.states {
            if self.states[parent][from] == FALSE {
                continue;
            }
            match in_order {
                true => self.add_ordered_moves(solver, tree, node, from, &completed),
                false => self.add_moves(solver, tree, node, from, &completed),
            }
        }
        if self.ordered {
            self.add_deadlines(solver, tree, node, &completed);
        }
        if self.moves_alone {
            self.add_entries(solver, tree, node, &completed);
        }
        self.stay_at_known_observations(solver, tree, node);
    }

    /// Begins the run on a trace that is [apart](PrefixTree::add_apart), if this literal holds; if not, it is in no state.
    pub(super) fn begin(&mut self, solver: &mut Solver, stays: usize, begun: Lit) {
        let mut states = vec![FALSE; self.shape.states + 2];
        let mut at_least = vec![FALSE; self.shape.states + 1];
        (states[0], at_least[0]) = (begun, begun);
        if stays > self.shape.states {
            solver.add(&[-begun]);
        }
        self.states.push(states);
        self.at_least.push(at_least);
        self.stays.push(stays);
    }

    /// The variables of a node: its state in both encodings.
    fn add_positions(&mut self, solver: &mut Solver, tree: &PrefixTree, node: usize) {
        let inner = self.shape.states;
        let mut states = vec![FALSE; inner + 2];
        let mut at_least = vec![FALSE; inner + 1];
        let begun = self.at_least[tree.node(node).root][0];
        match tree.node(node).end {
            Some(Kind::DeadEnd) => states[self.shape.reject()] = begun,
            Some(_) => states[self.shape.accept()] = begun,
            None => {
                let before = &self.at_least[tree.node(node).parent];
                at_least[0] = begun;
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
    fn add_moves(
        &mut self,
        solver: &mut Solver,
        tree: &PrefixTree,
        node: usize,
        from: usize,
        completed: &[(usize, Completed)],
    ) {
        let (parent, observation) = (tree.node(node).parent, tree.node(node).observation);
        let here = self.states[parent][from];
        let completed = completed.iter().map(|(f, completed)| match completed {
            Completed::If(complete) => (*f, *complete),
            Completed::Since(entered) => (*f, self.states[*entered][from]),
        });
        let completed: Vec<(usize, Lit)> = completed
            .filter(|(_, complete)| *complete != FALSE)
            .collect();
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
        if self.moves_alone {
            self.add_exits(solver, node, observation, (from, here), &taken);
        }
    }

    /// An observation that the stay has seen before causes no move.
    fn stay_at_known_observations(&mut self, solver: &mut Solver, tree: &PrefixTree, node: usize) {
        let Some(previous) = tree.node(node).previous else {
            return;
        };
        let (before, parent) = (tree.node(previous).parent, tree.node(node).parent);
        if self.shape.options.cyclic {
            let quiet = self.quiet(solver, tree, before, parent);
            solver.add(&[-quiet, -self.moved[node]]);
            return;
        }
        if self.ordered {
            return self.add_late_entries(solver, tree, node, before);
        }
        for from in 0..self.shape.states {
            let [before, here, after] = [before, parent, node].map(|at| self.states[at][from]);
            if here != FALSE {
                solver.add(&[-before, -here, after]);
            }
        }
    }

    /// The `forall` atoms that may become complete at a node.
    fn completed(
        &mut self,
        solver: &mut Solver,
        tree: &PrefixTree,
        node: usize,
    ) -> Vec<(usize, Completed)> {
        let parent = tree.node(node).parent;
        let mut completed = Vec::new();
        for f in 0..tree.node(node).since.len() {
            let since = tree.node(node).since[f];
            // Otherwise it was complete before, if at all.
            let changes = since != tree.node(parent).since[f]
                || tree.node(node).unseen.get(f) != tree.node(parent).unseen.get(f);
            let Some(entered) = since.filter(|_| changes) else {
                continue;
            };
            let complete = match self.shape.options.cyclic {
                true => Completed::If(self.complete_since(solver, tree, node, f, entered)),
                false if entered == parent => Completed::If(TRUE),
                false => Completed::Since(entered),
            };
            completed.push((f, complete));
        }
        completed
    }
}

/// When a `forall` is complete.
#[derive(Clone, Copy)]
pub(super) enum Completed {
    /// If this holds.
    If(Lit),
    /// If the run was in its present state at this node.
    Since(usize),
}
