//! Tables for traces that are assumed call by call: cores of traces that no table is consistent with.
//!
//! Each trace has nodes of its own, and a literal that its run begins. A run that does not begin is in no state, which every table
//! allows. So the clauses are as strong as those of traces that are not misjudged, and the failed assumptions of a refutation are a core.

use super::Relaxation;
use crate::budget::Budget;
use crate::counterexamples::Mistake;
use crate::encode::solver::{Lit, Solved};
use crate::problem::Problem;
use crate::traces::TracePrefix;

impl Relaxation {
    /// The tables with one number of states, for no traces yet, if the options allow tables and no cycles.
    pub(crate) fn without_traces(
        problem: &Problem,
        states: usize,
        budget: &Budget,
    ) -> Option<Self> {
        let shape = problem.shape(states);
        // Not with letters: a state that only atoms without observations lead to is a state as well.
        let tables = shape.options.techniques.relaxation && !shape.options.cyclic;
        let tree = tables.then(|| problem.empty_tree())?;
        Self::with(problem, shape, tree, None, budget)
    }

    /// The literal that the run on some trace begins.
    pub(crate) fn new_run(&mut self) -> Lit {
        self.solver.fresh_absent()
    }

    /// Encodes a prefix of a trace, whose run begins if this literal holds. What is missing after a limit stays so: the search
    /// ends then.
    pub(crate) fn add_apart(&mut self, problem: &Problem, prefix: &TracePrefix, begun: Lit) {
        if self.runs.len() < self.tree.len() {
            return;
        }
        let observations = problem.traces.observations();
        let steps = problem.traces.steps(prefix);
        let root = self.tree.add_apart(prefix.kind, steps, observations);
        let stays = self.tree.node(root).stays;
        self.runs.begin(&mut self.solver, stays, begun);
        self.extend(observations);
    }

    /// The mistakes on all traces of some table that is consistent with the runs that begin.
    pub(crate) fn table(
        &mut self,
        problem: &Problem,
        begun: &[Lit],
        conflicts: i32,
    ) -> Solved<Vec<(Mistake, TracePrefix)>> {
        match self.solver.solve(begun, Some(conflicts)) {
            Solved::Sat(()) => Solved::Sat(self.decode().mistakes(problem)),
            Solved::Unsat => Solved::Unsat,
            Solved::Unknown => Solved::Unknown,
        }
    }
}
