//! The SAT solver (CaDiCaL) behind a small interface: fresh variables, clauses with constants, assumptions and limits.

use cadical::{Callbacks, Solver as Cadical};

use crate::budget::Budget;

/// A literal: a variable or, negative, its negation.
pub(crate) type Lit = i32;

/// The literal that always holds, and the one that never does.
pub(crate) const TRUE: Lit = 1;
pub(crate) const FALSE: Lit = -1;

/// The answer to a satisfiability question.
pub(crate) enum Solved<T> {
    /// Satisfiable, with what was found.
    Sat(T),
    /// Unsatisfiable.
    Unsat,
    /// A limit was reached first.
    Unknown,
}

impl Callbacks for Budget {
    fn terminate(&mut self) -> bool {
        self.exhausted().is_some()
    }
}

/// An incremental solver.
pub(crate) struct Solver {
    cadical: Cadical<Budget>,
    budget: Budget,
    variables: i32,
    pub(crate) clauses: usize,
    pub(crate) calls: usize,
}

impl Solver {
    pub(crate) fn new(budget: &Budget) -> Self {
        let mut solver = Self {
            cadical: Cadical::new(),
            budget: Budget::default(),
            variables: TRUE,
            clauses: 0,
            calls: 0,
        };
        solver.add(&[TRUE]);
        solver.set_budget(budget);
        solver
    }

    /// Replaces the limits of the following calls.
    pub(crate) fn set_budget(&mut self, budget: &Budget) {
        self.budget = budget.clone();
        self.cadical.set_callbacks(Some(budget.clone()));
    }

    /// `None` once a limit has been reached: checked now and then while many clauses are added.
    pub(crate) fn check(&self) -> Option<()> {
        self.budget.check()
    }

    pub(crate) fn fresh(&mut self) -> Lit {
        self.variables += 1;
        self.variables
    }

    /// A variable with default phase false, so that proposals are small. The solver tries variables as true first: this one is
    /// stored negated.
    pub(crate) fn fresh_absent(&mut self) -> Lit {
        -self.fresh()
    }

    /// Adds a clause. A clause with [`TRUE`] is skipped, and so is the literal [`FALSE`].
    pub(crate) fn add(&mut self, clause: &[Lit]) {
        if clause.len() > 1 && clause.contains(&TRUE) {
            return;
        }
        self.clauses += 1;
        self.cadical
            .add_clause(clause.iter().copied().filter(|literal| *literal != FALSE));
    }

    /// At most one of these holds.
    pub(crate) fn at_most_one(&mut self, literals: &[Lit]) {
        for (i, a) in literals.iter().enumerate() {
            for b in &literals[i + 1..] {
                self.add(&[-a, -b]);
            }
        }
    }

    /// A literal that implies both.
    pub(crate) fn both(&mut self, a: Lit, b: Lit) -> Lit {
        let both = self.fresh_absent();
        self.add(&[-both, a]);
        self.add(&[-both, b]);
        both
    }

    /// A literal that holds iff both do.
    pub(crate) fn conjunction(&mut self, a: Lit, b: Lit) -> Lit {
        match (a, b) {
            (FALSE, _) | (_, FALSE) => FALSE,
            (TRUE, other) | (other, TRUE) => other,
            (a, b) => {
                let both = self.both(a, b);
                self.add(&[both, -a, -b]);
                both
            }
        }
    }

    /// A literal that holds iff one of these does.
    pub(crate) fn disjunction(&mut self, literals: &[Lit]) -> Lit {
        let any = match literals {
            [] => return FALSE,
            [literal] => return *literal,
            _ => self.fresh_absent(),
        };
        for literal in literals {
            self.add(&[-literal, any]);
        }
        let some: Vec<Lit> = literals.iter().copied().chain([-any]).collect();
        self.add(&some);
        any
    }

    /// Whether the clauses can be satisfied under the assumptions, with a limit on conflicts if one is given.
    pub(crate) fn solve(&mut self, assumptions: &[Lit], conflicts: Option<i32>) -> Solved<()> {
        if let Some(conflicts) = conflicts {
            // The name is one of the solver's own: this cannot fail.
            let _ = self.cadical.set_limit("conflicts", conflicts);
        }
        self.calls += 1;
        // The solver answers easy questions without looking at the budget.
        if self.budget.exhausted().is_some() {
            return Solved::Unknown;
        }
        match self.cadical.solve_with(assumptions.iter().copied()) {
            Some(true) => Solved::Sat(()),
            Some(false) => Solved::Unsat,
            None => Solved::Unknown,
        }
    }

    /// Whether an assumption is in the unsatisfiable core of the last call, which was unsatisfiable.
    pub(crate) fn in_core(&self, assumption: Lit) -> bool {
        self.cadical.failed(assumption)
    }

    /// The value of a literal in the last model.
    pub(crate) fn is_true(&self, literal: Lit) -> bool {
        self.cadical
            .value(literal.abs())
            .is_some_and(|value| value == (literal > 0))
    }
}
