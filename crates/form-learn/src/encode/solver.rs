//! The SAT solver (CaDiCaL) behind a small interface: fresh variables, clauses with constants, limits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use cadical::{Callbacks, Solver as Cadical};

use crate::outcome::StopReason;
use crate::problem::Limits;

/// A literal: a variable or, negative, its negation.
pub(crate) type Lit = i32;

/// The literal that always holds, and the one that never does.
pub(crate) const TRUE: Lit = 1;
pub(crate) const FALSE: Lit = -1;

/// What ends a search early; asked by the solver again and again while it works.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    pub(crate) deadline: Option<Instant>,
    pub(crate) memory: Option<u64>,
    /// Any of these ends it when set.
    pub(crate) interrupts: Vec<Arc<AtomicBool>>,
    /// The first reason seen, so that memory given back in the meantime does not make it another one.
    seen: Arc<OnceLock<StopReason>>,
}

impl Watch {
    /// The limits of a call that begins now.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            // A time too long to be told is no limit.
            deadline: (limits.time).and_then(|time| Instant::now().checked_add(time)),
            memory: limits.memory,
            interrupts: limits.interrupt.iter().cloned().collect(),
            seen: Arc::default(),
        }
    }

    /// The same, and one more that ends it when set.
    pub(crate) fn and(&self, interrupt: &Arc<AtomicBool>) -> Self {
        let mut watch = self.clone();
        watch.seen = Arc::default();
        watch.interrupts.push(interrupt.clone());
        watch
    }

    /// Why the search should end now, if it should.
    pub(crate) fn reason(&self) -> Option<StopReason> {
        if self.seen.get().is_none()
            && let Some(reason) = self.reason_now()
        {
            // Another thread's reason may have come first, and is as good.
            let _ = self.seen.set(reason);
        }
        self.seen.get().copied()
    }

    fn reason_now(&self) -> Option<StopReason> {
        if self
            .interrupts
            .iter()
            .any(|flag| flag.load(Ordering::Relaxed))
        {
            Some(StopReason::Interrupted)
        } else if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            Some(StopReason::Time)
        } else if self
            .memory
            .is_some_and(|limit| resident_bytes().is_some_and(|used| used > limit))
        {
            Some(StopReason::Memory)
        } else {
            None
        }
    }
}

impl Callbacks for Watch {
    fn terminate(&mut self) -> bool {
        self.reason().is_some()
    }
}

/// The memory the process uses, where the system tells.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
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
