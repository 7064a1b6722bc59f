//! Counterexample-guided inductive synthesis (CEGIS; Solar-Lezama et al. 2006) for one number of states: the solver proposes a
//! candidate machine, traces that refute it are added, and the solver proposes again.
//!
//! Few traces matter, so the solver sees few; the evaluator of `form-core` sees all of them.

use crate::budget::Budget;
use crate::effort::Effort;
use crate::encode::{Candidate, Encoding, Lit, Solved};
use crate::outcome::Learnt;
use crate::prefix_tree::PrefixTree;
use crate::problem::Problem;

/// The CEGIS loop for one number of states.
pub(crate) struct Cegis {
    /// The traces, or prefixes of traces, that the solver knows.
    tree: PrefixTree,
    encoding: Encoding,
    counterexamples: usize,
    /// The number of nodes that the tree began with.
    seeded: usize,
    /// The number of distinct observations that the encoding was made for.
    observations: usize,
}

/// Limits on one run of the loop, besides those of the whole call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConflictBudget {
    /// The conflicts of each solver call.
    pub(crate) conflicts: i32,
    /// The number of solver calls.
    pub(crate) calls: usize,
}

impl Cegis {
    /// Starts from a few traces. Counterexamples to smaller machines rarely help with larger ones, and would slow the solver
    /// down. `None` if a limit is reached meanwhile.
    pub(crate) fn new(problem: &Problem, states: usize, budget: &Budget) -> Option<Self> {
        let tree = problem.shortest_seeds();
        let observations = problem.traces.observations();
        let shape = problem.shape(states);
        let mut encoding = Encoding::new(shape, &problem.vocabulary, observations, budget)?;
        encoding.extend(&tree, observations);
        Some(Self {
            seeded: tree.len(),
            tree,
            encoding,
            counterexamples: 0,
            observations: observations.len(),
        })
    }

    /// The loop in its place, which begins now unless it has, with the limits of this call.
    pub(crate) fn begin<'a>(
        place: &'a mut Option<Self>,
        problem: &Problem,
        states: usize,
        budget: &Budget,
    ) -> Option<&'a mut Self> {
        if place.is_none() {
            *place = Self::new(problem, states, budget);
        }
        let cegis = place.as_mut()?;
        cegis.encoding.set_budget(budget);
        Some(cegis)
    }

    /// Whether the clauses are still right: no new observation, and no first trace of a kind of end, has been added.
    pub(crate) fn is_current(&self, problem: &Problem) -> bool {
        self.observations == problem.traces.observations().len()
            && *self.encoding.shape() == problem.shape(self.encoding.shape().states)
    }

    pub(crate) fn encoding(&mut self) -> &mut Encoding {
        &mut self.encoding
    }

    pub(crate) fn effort(&self) -> Effort {
        let (calls, clauses) = self.encoding.effort();
        Effort {
            counterexamples: self.counterexamples,
            steps: self.tree.len() - self.seeded,
            calls,
            clauses,
        }
    }

    /// The loop: proposes candidates under the assumptions until one is consistent with all traces or there is none.
    pub(crate) fn solve(
        &mut self,
        problem: &Problem,
        assumptions: &[Lit],
        budget: Option<ConflictBudget>,
    ) -> Solved<Candidate> {
        let mut calls = 0;
        while budget.is_none_or(|budget| calls < budget.calls) {
            calls += 1;
            let conflicts = budget.map(|budget| budget.conflicts);
            match self.encoding.solve(assumptions, conflicts) {
                Solved::Unsat => return Solved::Unsat,
                Solved::Unknown => return Solved::Unknown,
                Solved::Sat(()) => {
                    let candidate = self.encoding.decode();
                    if !self.refine(problem, &candidate.learnt, 0) {
                        return Solved::Sat(candidate);
                    }
                }
            }
        }
        Solved::Unknown
    }

    /// Adds the counterexamples to a machine among the traces from number `from` on; whether there are any. For a loop that
    /// [is current](Self::is_current).
    pub(crate) fn refine(&mut self, problem: &Problem, learnt: &Learnt, from: usize) -> bool {
        let counterexamples = problem.counterexamples(learnt, from);
        for counterexample in &counterexamples {
            problem.plant(&mut self.tree, counterexample);
        }
        self.counterexamples += counterexamples.len();
        (self.encoding).extend(&self.tree, problem.traces.observations());
        !counterexamples.is_empty()
    }
}
