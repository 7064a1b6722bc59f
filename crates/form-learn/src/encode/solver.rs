//! The SAT solver (CaDiCaL) behind a small interface: fresh variables, clauses with constants, limits.

use cadical::{Callbacks, Solver as Cadical};

use crate::watch::Watch;

/// A literal: a variable or, negative, its negation.
pub(crate) type Lit = i32;

/// The literal that always holds, and the one that never does.
pub(crate) const TRUE: Lit = 1;
pub(crate) const FALSE: Lit = -1;

impl Callbacks for Watch {
    fn terminate(&mut self) -> bool {
        self.reason().is_some()
    }
}

/// A solver that clauses are added to and that answers under assumptions.
pub(crate) struct Solver {
    cadical: Cadical<Watch>,
    watch: Watch,
    variables: i32,
    pub(crate) clauses: usize,
    pub(crate) calls: usize,
}

impl Solver {
    pub(crate) fn new() -> Self {
        let mut solver = Self {
            cadical: Cadical::new(),
            watch: Watch::default(),
            variables: TRUE,
            clauses: 0,
            calls: 0,
        };
        solver.add(&[TRUE]);
        solver
    }

    /// Replaces what may end the following calls early.
    pub(crate) fn watch(&mut self, watch: &Watch) {
        self.watch = watch.clone();
        self.cadical.set_callbacks(Some(watch.clone()));
    }

    /// Something while no limit is reached: asked from time to time by whoever adds many clauses.
    pub(crate) fn goes_on(&self) -> Option<()> {
        self.watch.goes_on()
    }

    pub(crate) fn fresh(&mut self) -> Lit {
        self.variables += 1;
        self.variables
    }

    /// A variable that is false unless something needs it: the solver tries variables as true first, so this one is
    /// stored negated.
    pub(crate) fn fresh_absent(&mut self) -> Lit {
        -self.fresh()
    }

    /// Adds a clause; one that holds anyway is left out, and so are literals that never hold.
    pub(crate) fn add(&mut self, clause: &[Lit]) {
        if clause.len() > 1 && clause.contains(&TRUE) {
            return;
        }
        self.clauses += 1;
        self.cadical
            .add_clause(clause.iter().copied().filter(|literal| *literal != FALSE));
    }

    /// A literal that implies both.
    pub(crate) fn both(&mut self, a: Lit, b: Lit) -> Lit {
        let both = self.fresh_absent();
        self.add(&[-both, a]);
        self.add(&[-both, b]);
        both
    }

    /// Whether the clauses can be satisfied under the assumptions; `None` if a limit was reached.
    pub(crate) fn solve(&mut self, assumptions: &[Lit]) -> Option<bool> {
        self.calls += 1;
        // Easy questions are answered without the solver asking.
        if self.watch.reason().is_some() {
            return None;
        }
        self.cadical.solve_with(assumptions.iter().copied())
    }

    /// As [`Solver::solve`], giving up after so many conflicts.
    pub(crate) fn solve_limited(&mut self, assumptions: &[Lit], conflicts: i32) -> Option<bool> {
        // The name is one of the solver's own: this cannot fail.
        let _ = self.cadical.set_limit("conflicts", conflicts);
        self.solve(assumptions)
    }

    /// Whether an assumption of the last call, which was answered "no", was used in the proof.
    pub(crate) fn failed(&self, assumption: Lit) -> bool {
        self.cadical.failed(assumption)
    }

    /// The value of a literal in the model found last.
    pub(crate) fn is_true(&self, literal: Lit) -> bool {
        self.cadical
            .value(literal.abs())
            .is_some_and(|value| value == (literal > 0))
    }
}
