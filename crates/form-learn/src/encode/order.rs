//! Clauses about the order of states alone: they propagate where it is not yet known in which state a run is.
//!
//! Without cycles a run is in states with ever higher numbers. So two facts about state u need not know that the run is in it:
//!
//! - *Deadlines.* If the run is in u or a higher state, and u is left at the newest observation, or by a `forall` that is complete
//!   if u was entered then or before, the run is beyond u afterwards.
//! - *Late entries.* If the run gets beyond u at an observation, from u or a lower state, it was not yet in u or a higher one when
//!   that observation was met last (the lemma of [`cuts`](crate::cuts)).
//!
//! Both follow from the clauses of [`TableRuns`], but not by unit propagation: these say "the run is in u". Partial machines
//! are refuted as soon as their edges drive some run too far to be completed in the states that are left.

use super::solver::{FALSE, Lit, Solver, TRUE};
use super::table_runs::{Completed, TableRuns};
use crate::prefix_tree::PrefixTree;

impl TableRuns {
    /// The run is in higher states than `state` at a node, or over: one of these literals.
    fn beyond(&self, tree: &PrefixTree, node: usize, state: usize) -> Vec<Lit> {
        match tree.node(node).end {
            Some(_) if !self.shape.soft => vec![TRUE],
            _ => {
                let ends = [self.shape.accept(), self.shape.reject()];
                (ends.iter().map(|end| self.states[node][*end]))
                    .chain([self.at_least[node][state + 1]])
                    .filter(|literal| *literal != FALSE)
                    .collect()
            }
        }
    }

    /// An edge that a run meets in its state or a lower one has been taken afterwards.
    pub(super) fn add_deadlines(
        &mut self,
        solver: &mut Solver,
        tree: &PrefixTree,
        node: usize,
        completed: &[(usize, Completed)],
    ) {
        let (parent, observation) = (tree.node(node).parent, tree.node(node).observation);
        for state in 0..self.shape.states {
            if self.at_least[parent][state] == FALSE {
                continue;
            }
            let beyond = self.beyond(tree, node, state);
            let leaves = self.leaves(solver, state, observation);
            let at_least = self.at_least[parent][state];
            solver.add(&[&[-at_least, -leaves], &beyond[..]].concat());
            for (f, completed) in completed {
                let entered = match completed {
                    Completed::Since(entered) => self.at_least[*entered][state],
                    Completed::If(_) => at_least,
                };
                let waits = self.moves.waits_anywhere[state][*f];
                // A run may be over before only where it may end anywhere.
                let running = self.at_least[parent][0];
                solver.add(&[&[-running, -entered, -waits], &beyond[..]].concat());
            }
        }
    }

    /// A run that gets beyond a state at an observation met `before` has entered that state since, or not at all.
    pub(super) fn add_late_entries(
        &self,
        solver: &mut Solver,
        tree: &PrefixTree,
        node: usize,
        before: usize,
    ) {
        let parent = tree.node(node).parent;
        for state in 0..self.shape.states {
            for beyond in self.beyond(tree, node, state) {
                let [before, parent] =
                    [(before, state), (parent, state + 1)].map(|(at, k)| self.at_least[at][k]);
                solver.add(&[-before, parent, -beyond]);
            }
        }
    }

    /// The literal that a state is left at an observation.
    fn leaves(&mut self, solver: &mut Solver, from: usize, observation: u32) -> Lit {
        if let Some(known) = self.moves.leaves.get(&(from, observation)) {
            return *known;
        }
        let targets = self.shape.targets(from).into_iter();
        let fires: Vec<Lit> = targets
            .map(|to| self.moves.fires[&(from, to, observation)])
            .collect();
        let leaves = solver.disjunction(&fires);
        self.moves.leaves.insert((from, observation), leaves);
        leaves
    }
}
