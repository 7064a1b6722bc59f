//! Paths through the machine: what the end of a trace demands of the states that it passes.
//!
//! A goal or dead-end trace that needs k more [stays](crate::cuts) is in a state from which a path of k states leads to a terminal
//! one. The numbers of states alone say less: in a machine with branches the paths are shorter than the machine.
//!
//! A state without edges is a *sink*: there nothing happens any more. Two sinks would be one in a machine with fewer states, and
//! fewer have been refuted, unless some state leads to both: it would have too many parallel edges.

use std::collections::HashMap;

use crate::encode::solver::{FALSE, Lit, Solver, TRUE};
use crate::encode::table_runs::TableRuns;
use crate::prefix_tree::PrefixTree;
use crate::shape::Shape;

/// The paths to terminal states.
pub(super) struct Paths {
    /// For each state and k: a path of more than k states leads from it to a terminal state.
    longer: Vec<Vec<Lit>>,
    /// For each node the stays that were known to be needed when it was last looked at.
    needed: Vec<usize>,
}

impl Paths {
    /// The paths, given which states are connected.
    pub(super) fn new(
        solver: &mut Solver,
        shape: &Shape,
        connected: &HashMap<(usize, usize), Lit>,
    ) -> Self {
        let mut longer: Vec<Vec<Lit>> = vec![Vec::new(); shape.states];
        for from in (0..shape.states).rev() {
            for k in 0..shape.states - from {
                let path = solver.fresh();
                let mut next = vec![-path];
                for to in shape.targets(from) {
                    let rest = match to < shape.states {
                        // The path of one state ends here, or goes on.
                        true => longer[to].get(k.saturating_sub(1)).copied(),
                        false => (k == 0).then_some(TRUE),
                    };
                    if let Some(rest) = rest {
                        next.push(match rest {
                            TRUE => connected[&(from, to)],
                            rest => solver.both(connected[&(from, to)], rest),
                        });
                    }
                }
                solver.add(&next);
                longer[from].push(path);
            }
        }
        let paths = Self {
            longer,
            needed: Vec::new(),
        };
        paths.merge_sinks(solver, shape, connected);
        paths
    }

    fn merge_sinks(
        &self,
        solver: &mut Solver,
        shape: &Shape,
        connected: &HashMap<(usize, usize), Lit>,
    ) {
        let leaves: Vec<Lit> = (0..shape.states)
            .map(|from| {
                let targets = shape.targets(from).into_iter();
                let edges: Vec<Lit> = targets.map(|to| connected[&(from, to)]).collect();
                solver.disjunction(&edges)
            })
            .collect();
        for second in 1..shape.states {
            for first in 1..second {
                let mut clause = vec![leaves[first], leaves[second]];
                for from in 0..first {
                    let to = [first, second].map(|to| connected[&(from, to)]);
                    clause.push(solver.both(to[0], to[1]));
                }
                solver.add(&clause);
            }
        }
    }

    /// Says what the nodes of the tree demand, where that is new.
    pub(super) fn extend(&mut self, solver: &mut Solver, tree: &PrefixTree, runs: &TableRuns) {
        self.needed.resize(runs.len(), 0);
        for (node, needed) in self.needed.iter_mut().enumerate() {
            let stays = tree.node(node).stays;
            if stays <= *needed || tree.node(node).end.is_some() {
                continue;
            }
            *needed = stays;
            for (state, longer) in self.longer.iter().enumerate() {
                let path = longer.get(stays - 1).copied().unwrap_or(FALSE);
                solver.add(&[-runs.states[node][state], path]);
            }
        }
    }
}
