//! Soft traces: a literal per trace that allows it to be misjudged.
//!
//! A machine may be wrong about some traces, so a run may end anywhere: after its end it is in no state at all. A trace that is
//! not *misjudged* binds the run at some nodes of its path: the run has not ended there, or it ends there as the trace does.

use form_core::Kind;

use super::Encoding;
use super::solver::{FALSE, Lit, Solver};
use super::table_runs::TableRuns;

impl Encoding {
    /// The literal for one misjudged trace.
    pub(crate) fn misjudged_literal(&mut self) -> Lit {
        self.solver.fresh_absent()
    }

    /// Whether a node of the tree is encoded. It may not be after a limit, which ends the search.
    pub(crate) fn has_node(&self, node: usize) -> bool {
        let encoded = match &self.table_runs {
            Some(runs) => runs.len(),
            None => self.states.len(),
        };
        node < encoded
    }

    /// At a node of the tree, the run is as after a trace of this kind, unless the trace is misjudged.
    pub(crate) fn expect(&mut self, node: usize, kind: Kind, misjudged: Lit) {
        let (states, running) = match &self.table_runs {
            Some(runs) => (&runs.states[node], &runs.at_least[node][..1]),
            None => (&self.states[node], &self.states[node][..self.shape.states]),
        };
        let mut clause = match kind {
            Kind::Goal => vec![states[self.shape.accept()]],
            Kind::DeadEnd => vec![states[self.shape.reject()]],
            Kind::Incomplete => running.to_vec(),
        };
        clause.push(misjudged);
        self.solver.add(&clause);
    }

    /// Excludes states at a node that are too high for the [stays](crate::cuts) that the rest of a trace needs, unless the trace
    /// is misjudged.
    pub(crate) fn expect_stays(&mut self, node: usize, stays: usize, misjudged: Lit) {
        let Some(runs) = &self.table_runs else { return };
        for k in (self.shape.states + 1).saturating_sub(stays)..self.shape.states {
            self.solver.add(&[misjudged, -runs.at_least[node][k]]);
        }
    }

    /// The assumptions among these that the last proof of unsatisfiability used.
    pub(crate) fn core_of(&self, assumptions: &[Lit]) -> Vec<Lit> {
        let used = |literal: &Lit| self.solver.in_core(*literal);
        assumptions.iter().copied().filter(used).collect()
    }

    /// The counter of these literals: literal k says "more than k".
    pub(crate) fn count(&mut self, literals: &[Lit]) -> Vec<Lit> {
        self.solver.totalizer(literals, literals.len())
    }

    /// The states of a run after an observation; in none of them, the run had ended before.
    pub(super) fn soft_states_after(&mut self, before: &[Lit]) -> Vec<Lit> {
        let inner = self.shape.states;
        let mut after: Vec<Lit> = (0..inner + 2).map(|_| self.solver.fresh_absent()).collect();
        if !self.shape.rejecting {
            after[self.shape.reject()] = FALSE;
        }
        for (i, state) in after.iter().enumerate() {
            let begun = [&[-state], &before[..inner]].concat();
            self.solver.add(&begun);
            for other in &after[i + 1..] {
                self.solver.add(&[-state, -other]);
            }
        }
        after
    }
}

impl TableRuns {
    /// The variables of the next node, a child of `parent`, where a run may end anywhere.
    pub(super) fn add_soft_positions(&mut self, solver: &mut Solver, parent: usize) {
        let inner = self.shape.states;
        let before = &self.at_least[parent];
        let mut at_least = vec![FALSE; inner + 1];
        let mut states = vec![FALSE; inner + 2];
        at_least[..inner].fill_with(|| solver.fresh_absent());
        states[self.shape.accept()] = solver.fresh_absent();
        if self.shape.rejecting {
            states[self.shape.reject()] = solver.fresh_absent();
        }
        let running = at_least[0];
        let ends = [states[inner], states[inner + 1]];
        for after in [running, ends[0], ends[1]] {
            solver.add(&[-after, before[0]]);
        }
        solver.add(&[-before[0], running, ends[0], ends[1]]);
        solver.add(&[-ends[0], -ends[1]]);
        for end in ends {
            solver.add(&[-end, -running]);
        }
        for k in 1..inner {
            solver.add(&[-at_least[k], at_least[k - 1]]);
            solver.add(&[-before[k], -running, at_least[k]]);
        }
        for state in 0..inner {
            states[state] = solver.conjunction(at_least[state], -at_least[state + 1]);
        }
        self.states.push(states);
        self.at_least.push(at_least);
    }
}
