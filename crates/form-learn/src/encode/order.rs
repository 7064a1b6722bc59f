//! Clauses about the order of states alone: they propagate where it is not yet known in which state a run is.
//!
//! Without cycles a run is in states with ever higher numbers. So two facts about state u need not know that the run is in it:
//!
//! - *Deadlines.* If the run is in u or a higher state, and u is left at the newest observation, or by a `forall` that is complete
//!   if u was entered then or before, the run is beyond u afterwards.
//! - *Late entries.* If the run gets beyond u at an observation, from u or a lower state, it was not yet in u or a higher one when
//!   that observation was met last (the lemma of [`cuts`](crate::cuts)).
//!
//! A target is "k or a higher state" as well, so a clause about a run need not name the target of its last move.
//!
//! All of it follows from the clauses of [`TableRuns`], but not by unit propagation: these say "the run is in u". Partial machines
//! are refuted as soon as their edges drive some run too far to be completed in the states that are left.

use super::solver::{FALSE, Lit, Solver, TRUE};
use super::table_runs::{Completed, Moves, TableRuns};
use crate::prefix_tree::PrefixTree;

impl TableRuns {
    /// [`TableRuns::add_moves`] by the order of targets, at a node where no run ends.
    pub(super) fn add_ordered_moves(
        &mut self,
        solver: &mut Solver,
        tree: &PrefixTree,
        node: usize,
        from: usize,
        completed: &[(usize, Completed)],
    ) {
        let (parent, observation) = (tree.node(node).parent, tree.node(node).observation);
        let before = &self.at_least[parent];
        let here = [-before[from], before[from + 1]];
        let completed: Vec<(usize, Lit)> = (completed.iter())
            .map(|(f, completed)| match completed {
                Completed::If(complete) => (*f, *complete),
                Completed::Since(entered) => (*f, self.at_least[*entered][from]),
            })
            .filter(|(_, complete)| *complete != FALSE)
            .collect();
        let taken: Vec<Lit> = (completed.iter())
            .map(|(f, complete)| solver.conjunction(*complete, self.moves.waits_anywhere[from][*f]))
            .collect();
        let unless = [&here[..], &taken].concat();
        for k in from + 1..=self.shape.states {
            // The run is not over here: with the number of states as k, this is about terminal targets.
            let after = self.at_least[node][k];
            let fires = self.fires_from(solver, from, k, observation);
            solver.add(&[&unless[..], &[-fires, after]].concat());
            solver.add(&[&unless[..], &[fires, -after]].concat());
            let mut causes = [&here[..], &[fires, -after]].concat();
            for ((f, complete), taken) in completed.iter().zip(&taken) {
                let waits = self.waits_from(solver, from, k, *f);
                solver.add(&[&here[..], &[-complete, -waits, after]].concat());
                solver.add(&[&here[..], &[-taken, waits, -after]].concat());
                causes.push(waits);
            }
            if !completed.is_empty() {
                solver.add(&causes);
            }
        }
    }

    /// The literal that the run is in a higher state than `state` at a node, or over.
    fn beyond(&self, tree: &PrefixTree, node: usize, state: usize) -> Lit {
        match tree.node(node).end {
            Some(_) => TRUE,
            None => self.at_least[node][state + 1],
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
            solver.add(&[-at_least, -leaves, beyond]);
            for (f, completed) in completed {
                let entered = match completed {
                    Completed::Since(entered) => self.at_least[*entered][state],
                    Completed::If(_) => at_least,
                };
                let waits = self.moves.waits_anywhere[state][*f];
                solver.add(&[-entered, -waits, beyond]);
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
            let [before, parent] =
                [(before, state), (parent, state + 1)].map(|(at, k)| self.at_least[at][k]);
            solver.add(&[-before, parent, -self.beyond(tree, node, state)]);
        }
    }

    /// The literal that a state is left at an observation.
    fn leaves(&mut self, solver: &mut Solver, from: usize, observation: u32) -> Lit {
        self.fires_from(solver, from, from + 1, observation)
    }

    /// The literal that an observation leads from a state to a state that is at least `k`, or terminal.
    fn fires_from(&mut self, solver: &mut Solver, from: usize, k: usize, observation: u32) -> Lit {
        let Moves {
            fires, fires_from, ..
        } = &mut self.moves;
        *(fires_from.entry((from, k, observation))).or_insert_with(|| {
            let targets = self.shape.targets(from).into_iter().filter(|to| *to >= k);
            let fires: Vec<Lit> = targets.map(|to| fires[&(from, to, observation)]).collect();
            solver.disjunction(&fires)
        })
    }

    /// The same for a `forall`.
    fn waits_from(&mut self, solver: &mut Solver, from: usize, k: usize, f: usize) -> Lit {
        let Moves {
            waits, waits_from, ..
        } = &mut self.moves;
        *waits_from.entry((from, k, f)).or_insert_with(|| {
            let targets = self.shape.targets(from).into_iter().filter(|to| *to >= k);
            let waits: Vec<Lit> = targets.map(|to| waits[&(from, to, f)]).collect();
            solver.disjunction(&waits)
        })
    }
}
