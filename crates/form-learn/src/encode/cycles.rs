//! Runs where machines may have cycles: a run that is in one state at two nodes may have left it in between, so there is a variable
//! per node for "the run moves here".
//!
//! For [pieces](crate::pieces) of traces the first state is free, and so is what was observed before in it.
//!
//! Refutations have two kinds of clauses more, about moves alone, which propagate where it is not known where a run comes from or
//! where it goes. *Exits*: a run moves iff its state is left at the observation, or by a `forall` that is complete. *Entries*: a
//! run that moves gets to a state that some other is left for at the observation, or by such a `forall`. And states are numbered by
//! the visits of one trace: see [`TableRuns::number_by_visits`].

use form_core::{AtomId, AtomSet, Kind};

use super::solver::{FALSE, Lit, Solver, TRUE};
use super::table_runs::{Completed, Moves, TableRuns};
use crate::prefix_tree::PrefixTree;

impl TableRuns {
    /// The variables of a node with cycles: its state, and whether the run moves.
    pub(super) fn add_unordered_positions(
        &mut self,
        solver: &mut Solver,
        tree: &PrefixTree,
        node: usize,
    ) {
        let inner = self.shape.states;
        let parent = tree.node(node).parent;
        let mut states = vec![FALSE; inner + 2];
        let mut running = FALSE;
        let moved = match tree.node(node).end {
            Some(kind) => {
                let end = match kind {
                    Kind::DeadEnd => self.shape.reject(),
                    _ => self.shape.accept(),
                };
                states[end] = TRUE;
                TRUE
            }
            None => {
                running = TRUE;
                states[..inner].fill_with(|| solver.fresh_absent());
                solver.add(&states[..inner]);
                solver.at_most_one(&states[..inner]);
                let moved = solver.fresh_absent();
                for (before, after) in self.states[parent].iter().zip(&states[..inner]) {
                    solver.add(&[-before, -after, -moved]);
                    solver.add(&[-before, *after, moved]);
                }
                moved
            }
        };
        self.states.push(states);
        self.at_least.push(vec![running]);
        self.moved.push(moved);
    }

    /// The literal that the run moves nowhere after `since`, up to `node`.
    pub(super) fn quiet(
        &mut self,
        solver: &mut Solver,
        tree: &PrefixTree,
        since: usize,
        node: usize,
    ) -> Lit {
        let mut path = Vec::new();
        let (mut here, mut quiet) = (node, TRUE);
        while here != since {
            if let Some(known) = self.quiet.get(&(since, here)) {
                quiet = *known;
                break;
            }
            path.push(here);
            here = tree.node(here).parent;
        }
        for here in path.into_iter().rev() {
            quiet = solver.conjunction(quiet, -self.moved[here]);
            self.quiet.insert((since, here), quiet);
        }
        quiet
    }

    /// The root of a piece: any state, in which not all that it waits for has been observed.
    pub(super) fn add_root(&mut self, solver: &mut Solver, tree: &PrefixTree, root: usize) {
        let inner = self.shape.states;
        let mut states = vec![FALSE; inner + 2];
        states[..inner].fill_with(|| solver.fresh_absent());
        solver.add(&states[..inner]);
        solver.at_most_one(&states[..inner]);
        for (f, mask) in tree.node(root).unseen.iter().enumerate() {
            let missing: Vec<Lit> = mask.iter().map(|a| -self.seen(solver, root, a)).collect();
            for (state, waits) in states.iter().zip(&self.moves.waits_anywhere) {
                solver.add(&[&[-state, -waits[f]], &missing[..]].concat());
            }
        }
        self.states.push(states);
        self.at_least.push(vec![TRUE]);
        self.moved.push(FALSE);
    }

    /// The literal that an atom was observed before a piece, since the state was entered.
    fn seen(&mut self, solver: &mut Solver, root: usize, atom: AtomId) -> Lit {
        *(self.seen.entry((root, atom))).or_insert_with(|| solver.fresh_absent())
    }

    /// The literal that a `forall` is complete at a node, since the state was entered at `entered` or before.
    pub(super) fn complete_since(
        &mut self,
        solver: &mut Solver,
        tree: &PrefixTree,
        node: usize,
        f: usize,
        entered: usize,
    ) -> Lit {
        let mut complete = self.quiet(solver, tree, entered, tree.node(node).parent);
        for atom in tree
            .node(node)
            .unseen
            .get(f)
            .into_iter()
            .flat_map(AtomSet::iter)
        {
            let seen = self.seen(solver, tree.node(node).root, atom);
            complete = solver.conjunction(complete, seen);
        }
        complete
    }

    /// A run that is `here`, in `from`, moves iff the state is left at the observation or one of these `forall` edges is taken.
    pub(super) fn add_exits(
        &mut self,
        solver: &mut Solver,
        node: usize,
        observation: u32,
        (from, here): (usize, Lit),
        taken: &[Lit],
    ) {
        let targets = self.shape.targets(from);
        let Moves { fires, leaves, .. } = &mut self.moves;
        let leaves = *(leaves.entry((from, observation))).or_insert_with(|| {
            let fires: Vec<Lit> = (targets.iter())
                .map(|to| fires[&(from, *to, observation)])
                .collect();
            solver.disjunction(&fires)
        });
        let moved = self.moved[node];
        for cause in taken.iter().chain([&leaves]) {
            solver.add(&[-here, -cause, moved]);
        }
        solver.add(&[&[-here, -moved, leaves], taken].concat());
    }

    /// A run that moves gets to a state that is entered at the observation, or by a `forall` that is complete.
    pub(super) fn add_entries(
        &mut self,
        solver: &mut Solver,
        tree: &PrefixTree,
        node: usize,
        completed: &[(usize, Completed)],
    ) {
        let observation = tree.node(node).observation;
        for to in 0..self.states[node].len() {
            let after = self.states[node][to];
            if after == FALSE {
                continue;
            }
            let others = (0..self.shape.states).filter(|from| *from != to);
            let Moves {
                fires,
                waits,
                enters,
                waits_for,
                ..
            } = &mut self.moves;
            let enters = *(enters.entry((to, observation))).or_insert_with(|| {
                let fires: Vec<Lit> = (others.clone())
                    .map(|from| fires[&(from, to, observation)])
                    .collect();
                solver.disjunction(&fires)
            });
            let mut causes = vec![-after, -self.moved[node], enters];
            for (f, completed) in completed {
                let Completed::If(complete) = completed else {
                    continue;
                };
                let waits = *(waits_for.entry((to, *f))).or_insert_with(|| {
                    let waits: Vec<Lit> =
                        others.clone().map(|from| waits[&(from, to, *f)]).collect();
                    solver.disjunction(&waits)
                });
                causes.push(solver.conjunction(*complete, waits));
            }
            solver.add(&causes);
        }
    }

    /// Symmetry breaking by a trace that ends: the state in which it ends is the last one, unless it is the first. The others are
    /// numbered in the order in which the trace visits them first; those that it does not visit come after them.
    ///
    /// Every machine can be numbered so. The order of states is that of the data from the start, so that it propagates before
    /// anything is known about edges.
    pub(super) fn number_by_visits(&mut self, solver: &mut Solver, tree: &PrefixTree, end: usize) {
        let mut path = vec![tree.node(end).parent];
        while path[path.len() - 1] != 0 {
            path.push(tree.node(path[path.len() - 1]).parent);
        }
        let inner = self.shape.states;
        let before_end = &self.states[path[0]];
        solver.add(&[before_end[0], before_end[inner - 1]]);
        let mut visited = vec![FALSE; inner];
        for node in path.into_iter().rev() {
            let states = &self.states[node];
            for state in 2..inner.saturating_sub(1) {
                solver.add(&[-states[state], visited[state - 1]]);
            }
            for (visited, state) in visited.iter_mut().zip(states) {
                *visited = match (*visited, *state) {
                    (FALSE, other) | (other, FALSE) => other,
                    (TRUE, _) | (_, TRUE) => TRUE,
                    (visited, state) => solver.disjunction(&[visited, state]),
                };
            }
        }
    }
}
