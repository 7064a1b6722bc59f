//! The propositional encoding: clauses that say that a machine of a given shape is consistent with the given traces.
//!
//! Only this folder knows that a SAT solver exists. For every pair of states there are slots for edges ([`EdgeSlot`]). A slot
//! has one variable for "there is an edge" and two per learnable atom, "positive here" and "negative here". One variable
//! per slot and observation says that the literals about the newest observation hold, and is shared by all traces. The
//! traces are a prefix tree with one variable per node and state. Only atoms with a window look further back than one node (`since`).

mod cooccurrence;
mod cost;
mod cycles;
mod determinism;
mod edges;
mod firing;
mod idle;
mod model;
mod order;
mod relaxation;
mod runs;
mod since;
mod soft;
mod solver;
mod symmetry;
mod table_runs;
mod tie_break;
mod totalizer;

use std::collections::HashMap;

use form_core::AtomSet;

use cooccurrence::Cooccurrence;
pub(crate) use cost::Measure;
pub(crate) use edges::EdgeSlot;
pub(crate) use model::Candidate;
pub(crate) use relaxation::Relaxation;
pub(crate) use solver::{Lit, Solved};

use crate::budget::Budget;
use crate::shape::Shape;
use crate::vocabulary::LearnableAtom;
use solver::{FALSE, Solver, TRUE};
use table_runs::TableRuns;

/// The encoding for one shape, to which traces are added.
pub(crate) struct Encoding {
    solver: Solver,
    shape: Shape,
    vocabulary: Vec<LearnableAtom>,
    /// Atoms about the newest observation, and atoms with a window, by number.
    now: Vec<usize>,
    windows: Vec<usize>,
    slots: Vec<EdgeSlot>,
    /// For each state the slots of edges out of it, grouped by target.
    outgoing: Vec<Vec<(usize, Vec<usize>)>>,
    /// Whether an edge has at most one positive literal.
    single: bool,
    /// For each slot and atom: literals that say that its negation there keeps the edge apart from another one.
    justified: HashMap<(usize, usize), Vec<Lit>>,
    /// For each slot and observation: the literals about the newest observation hold.
    holds: HashMap<(usize, u32), Lit>,
    /// The runs, if stays can be counted. If not, what follows describes them.
    table_runs: Option<TableRuns>,
    /// For each node and state: the run is there, terminal states included.
    states: Vec<Vec<Lit>>,
    /// For each state, target and observation, without `forall` atoms: an edge fires.
    fires: HashMap<(usize, usize, u32), Lit>,
    /// For a literal on an edge and its condition: the literal is there and the condition is not met.
    blocked: HashMap<(Lit, Lit), Lit>,
    /// For each node, earlier node and state: the run was there all the time.
    stayed: HashMap<(usize, usize, usize), Lit>,
    /// Counters: literal k says "more than k".
    cost: Vec<Lit>,
    /// How many pairs of states are connected.
    connections: Vec<Lit>,
    ground: Vec<Lit>,
    negative: Vec<Lit>,
}

impl Encoding {
    /// The encoding without traces. `observations` are all of the data, also those of traces that are not added yet: they
    /// tell which literals can never be of use. `None` if a limit is reached meanwhile: many atoms take long.
    pub(crate) fn new(
        shape: Shape,
        vocabulary: &[LearnableAtom],
        observations: &[AtomSet],
        budget: &Budget,
    ) -> Option<Self> {
        let (windows, now) = (0..vocabulary.len()).partition(|i| vocabulary[*i].window.is_some());
        let mut root = vec![FALSE; shape.states + 2];
        root[0] = TRUE;
        let mut encoding = Self {
            solver: Solver::new(budget),
            table_runs: TableRuns::new(&shape),
            shape,
            vocabulary: vocabulary.to_vec(),
            now,
            windows,
            slots: Vec::new(),
            outgoing: Vec::new(),
            single: false,
            justified: HashMap::new(),
            holds: HashMap::new(),
            states: vec![root],
            fires: HashMap::new(),
            blocked: HashMap::new(),
            stayed: HashMap::new(),
            cost: Vec::new(),
            connections: Vec::new(),
            ground: Vec::new(),
            negative: Vec::new(),
        };
        let pairs = Cooccurrence::new(vocabulary, observations, budget)?;
        encoding.add_edges(&pairs)?;
        encoding.add_determinism()?;
        encoding.exclude_idle_negations(&pairs)?;
        encoding.break_symmetries();
        Some(encoding)
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(crate) fn vocabulary(&self) -> &[LearnableAtom] {
        &self.vocabulary
    }

    pub(crate) fn slots(&self) -> &[EdgeSlot] {
        &self.slots
    }

    pub(crate) fn set_budget(&mut self, budget: &Budget) {
        self.solver.set_budget(budget);
    }

    /// The numbers of solver calls and of clauses.
    pub(crate) fn effort(&self) -> (usize, usize) {
        (self.solver.calls, self.solver.clauses)
    }

    /// Asks for a machine under assumptions, with a limit on conflicts if one is given.
    pub(crate) fn solve(&mut self, assumptions: &[Lit], conflicts: Option<i32>) -> Solved<()> {
        self.solver.solve(assumptions, conflicts)
    }

    /// Whether the last proof of unsatisfiability used one of these assumptions (they are in its core).
    pub(crate) fn core_has(&self, assumptions: &[Lit]) -> bool {
        (assumptions.iter()).any(|literal| self.solver.in_core(*literal))
    }

    /// Adds a clause for good.
    pub(crate) fn require(&mut self, clause: &[Lit]) {
        self.solver.add(clause);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use form_core::Signature;

    use super::*;
    use crate::options::Options;
    use crate::vocabulary::vocabulary;

    /// With thousands of atoms it takes minutes to encode what edges may look like: limits hold meanwhile.
    #[test]
    fn an_encoding_is_abandoned_when_a_limit_is_reached() {
        let signature = Signature::parse(["p(a)", "p(b)", "q"]).unwrap();
        let vocabulary = vocabulary(&signature, &Options::default()).unwrap();
        let observations = [signature.observation(["p(a)", "q"]).unwrap()];
        let shape = Shape {
            states: 2,
            rejecting: false,
            reached: [true, false],
            soft: false,
            step_mode: form_core::StepMode::Changes,
            options: Options::default(),
        };
        let set = Arc::new(AtomicBool::new(true));
        let interrupted = Budget::default().with_cancellation(&set);
        let made = |budget| Encoding::new(shape.clone(), &vocabulary, &observations, budget);
        assert!(made(&interrupted).is_none());
        let mut encoding = made(&Budget::default()).unwrap();
        let pairs = Cooccurrence::new(&vocabulary, &observations, &Budget::default()).unwrap();
        encoding.set_budget(&interrupted);
        assert!(encoding.add_edges(&pairs).is_none());
        assert!(encoding.add_determinism().is_none());
        assert!(encoding.exclude_idle_negations(&pairs).is_none());
    }
}
