//! One satisfiability query: is there a machine, consistent with these traces, that violates the claim?

use super::claim::Claim;
use crate::budget::Budget;
use crate::encode::{Encoding, Lit, Solved};
use crate::outcome::Learnt;
use crate::prefix_tree::PrefixTree;
use crate::problem::Problem;
use crate::shape::Shape;
use crate::traces::TracePrefix;

/// The problem, and the limits of the call.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) problem: &'a Problem,
    pub(super) budget: &'a Budget,
}

/// The query for machines with one number of states.
pub(super) struct Query<'a> {
    problem: &'a Problem,
    encoding: Encoding,
    tree: PrefixTree,
    /// The bounds on the cost, as assumptions.
    bounds: Vec<Lit>,
}

impl<'a> Query<'a> {
    /// `None` if a limit is reached meanwhile.
    pub(super) fn new(context: Context<'a>, claim: &Claim<'_>, states: usize) -> Option<Self> {
        let Context { problem, budget } = context;
        let shape = Shape {
            // Which traces will be added is not known yet.
            reached: [false; 2],
            ..problem.shape(states)
        };
        let observations = problem.traces.observations();
        let mut encoding = Encoding::new(shape, &problem.vocabulary, observations, budget)?;
        for clause in claim.clauses(&encoding) {
            encoding.require(&clause);
        }
        let bounds = (claim.bounds().into_iter())
            .flat_map(|(measure, bound)| encoding.at_most(measure, bound))
            .collect();
        Some(Self {
            problem,
            encoding,
            tree: problem.empty_tree(),
            bounds,
        })
    }

    /// Adds traces that the machine has to be consistent with.
    pub(super) fn add(&mut self, prefixes: &[TracePrefix]) {
        for prefix in prefixes {
            self.problem.plant(&mut self.tree, prefix);
        }
        (self.encoding).extend(&self.tree, self.problem.traces.observations());
    }

    /// Solves it, again if the machine found satisfies the claim after all, in another numbering of its states.
    pub(super) fn solve(
        &mut self,
        claim: &mut Claim<'_>,
        conflicts: Option<i32>,
    ) -> Solved<Learnt> {
        loop {
            match self.encoding.solve(&self.bounds, conflicts) {
                Solved::Unknown => return Solved::Unknown,
                Solved::Unsat => return Solved::Unsat,
                Solved::Sat(()) => {}
            }
            let learnt = self.encoding.decode().learnt;
            let Claim::Edge(edge) = claim else {
                return Solved::Sat(learnt);
            };
            let Some(clauses) = edge.block(&self.encoding, &learnt.machine) else {
                return Solved::Sat(learnt);
            };
            for clause in clauses {
                self.encoding.require(&clause);
            }
        }
    }
}
