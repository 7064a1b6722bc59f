//! The clauses that say: a machine of this shape is consistent with these traces.
//!
//! This is the only room that knows a SAT solver exists. For every pair of states there are places for edges (`Slot`);
//! a place has a variable for "there is an edge" and two for each candidate atom, "positive here" and "negative here".
//! A variable per place and observation says that the literals about the newest observation hold, shared by all traces.
//! The traces form a tree, with a variable per node and state. Only `forall` looks further back than one node.

mod cost;
mod determinism;
mod edges;
mod order;
mod solver;
mod symmetry;
mod traces;

use std::collections::HashMap;

use form_core::AtomSet;

pub(crate) use cost::Measure;
use edges::Pairs;
pub(crate) use edges::Slot;
pub(crate) use solver::Lit;

use crate::problem::Options;
use crate::vocabulary::Candidate;
use crate::watch::Watch;
use solver::{FALSE, Solver, TRUE};

/// The shape of the machines that an encoding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// States that are neither accepting nor rejecting.
    pub(crate) states: usize,
    /// Whether there is a rejecting state.
    pub(crate) rejecting: bool,
    /// Whether the traces to be added reach the accepting and the rejecting state, so that an edge must lead there.
    pub(crate) reached: [bool; 2],
    pub(crate) options: Options,
}

impl Shape {
    /// The accepting state's number.
    pub(crate) fn accept(&self) -> usize {
        self.states
    }

    /// The rejecting state's number, if there is one.
    pub(crate) fn reject(&self) -> usize {
        self.states + 1
    }

    /// Where edges from a state may lead. Without cycles the states are numbered so that edges lead upwards.
    fn targets(&self, from: usize) -> Vec<usize> {
        let cyclic = self.options.cyclic;
        let inner = (0..self.states).filter(|to| if cyclic { *to != from } else { *to > from });
        let terminal = [self.accept(), self.reject()];
        inner
            .chain(
                terminal
                    .into_iter()
                    .take(if self.rejecting { 2 } else { 1 }),
            )
            .collect()
    }
}

/// The encoding for one shape, to which traces are added.
pub(crate) struct Encoding {
    solver: Solver,
    shape: Shape,
    candidates: Vec<Candidate>,
    /// Candidates about the newest observation, and those that are `forall`, by number.
    statics: Vec<usize>,
    foralls: Vec<usize>,
    slots: Vec<Slot>,
    /// For each state the places for edges out of it, grouped by target.
    outgoing: Vec<Vec<(usize, Vec<usize>)>>,
    /// Whether an edge has one positive literal at most.
    single: bool,
    /// For each place and candidate: that its negation there keeps the edge apart from another one.
    justified: HashMap<(usize, usize), Vec<Lit>>,
    /// For each place and observation: the literals about the newest observation hold.
    holds: HashMap<(usize, u32), Lit>,
    /// For each node and state: the run is there, the terminal states included.
    states: Vec<Vec<Lit>>,
    /// For each state, target and observation, without `forall` candidates: an edge fires.
    fires: HashMap<(usize, usize, u32), Lit>,
    /// For a literal on an edge and what it needs: the former is there, the latter missing.
    blocked: HashMap<(Lit, Lit), Lit>,
    /// For each node, earlier node and state: the run was there all the time.
    stayed: HashMap<(usize, usize, usize), Lit>,
    /// Counters: literal k says "more than k".
    cost: Vec<Lit>,
    ground: Vec<Lit>,
    negative: Vec<Lit>,
}

impl Encoding {
    /// The encoding without traces. `observations` are all that occur in the data, also in traces not added yet: they
    /// tell which literals can never be of use. Nothing if a limit was reached meanwhile: with many candidates this takes long.
    pub(crate) fn new(
        shape: Shape,
        candidates: &[Candidate],
        observations: &[AtomSet],
        watch: &Watch,
    ) -> Option<Self> {
        let (foralls, statics) = (0..candidates.len()).partition(|i| candidates[*i].forall);
        let mut solver = Solver::new();
        solver.watch(watch);
        let mut root = vec![FALSE; shape.states + 2];
        root[0] = TRUE;
        let mut encoding = Self {
            solver,
            shape,
            candidates: candidates.to_vec(),
            statics,
            foralls,
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
            ground: Vec::new(),
            negative: Vec::new(),
        };
        let pairs = Pairs::new(candidates, observations, watch)?;
        encoding.add_edges(&pairs)?;
        encoding.add_determinism()?;
        encoding.exclude_idle_negations(&pairs)?;
        encoding.break_symmetries();
        Some(encoding)
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(crate) fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub(crate) fn watch(&mut self, watch: &Watch) {
        self.solver.watch(watch);
    }

    /// How often the solver was asked, and how many clauses it was given.
    pub(crate) fn effort(&self) -> (usize, usize) {
        (self.solver.calls, self.solver.clauses)
    }

    /// Asks for a deterministic machine under further assumptions; `None` if a limit was reached.
    pub(crate) fn solve(&mut self, assumptions: &[Lit]) -> Option<bool> {
        self.solver.solve(assumptions)
    }

    /// As [`Encoding::solve`], giving up after so many conflicts.
    pub(crate) fn solve_limited(&mut self, assumptions: &[Lit], conflicts: i32) -> Option<bool> {
        self.solver.solve_limited(assumptions, conflicts)
    }

    /// Whether the last answer, "no", was about these assumptions: whether it would be the same without them is not known.
    pub(crate) fn depends_on(&self, assumptions: &[Lit]) -> bool {
        assumptions
            .iter()
            .any(|literal| self.solver.failed(*literal))
    }

    /// Adds a clause to all questions from now on.
    pub(crate) fn require(&mut self, clause: &[Lit]) {
        self.solver.add(clause);
    }

    /// Whether the literal holds in the model found last.
    pub(crate) fn is_true(&self, literal: Lit) -> bool {
        self.solver.is_true(literal)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use form_core::Signature;

    use super::*;
    use crate::vocabulary::vocabulary;

    /// With thousands of atoms it takes minutes to say what edges may look like: limits hold meanwhile.
    #[test]
    fn an_encoding_is_abandoned_when_a_limit_is_reached() {
        let signature = Signature::parse(["p(a)", "p(b)", "q"]).unwrap();
        let candidates = vocabulary(&signature, true).unwrap();
        let observations = [signature.observation(["p(a)", "q"]).unwrap()];
        let shape = Shape {
            states: 2,
            rejecting: false,
            reached: [true, false],
            options: Options::default(),
        };
        let over = Arc::new(AtomicBool::new(true));
        let watches = [Watch::default(), Watch::default().and(&over)];
        let made =
            watches.map(|watch| Encoding::new(shape.clone(), &candidates, &observations, &watch));
        assert!(made[0].is_some() && made[1].is_none());
        let pairs = Pairs::new(&candidates, &observations, &Watch::default()).unwrap();
        let [Some(mut encoding), _] = made else {
            panic!("it was made")
        };
        encoding.watch(&Watch::default().and(&over));
        assert!(encoding.add_edges(&pairs).is_none());
        assert!(encoding.add_determinism().is_none());
        assert!(encoding.exclude_idle_negations(&pairs).is_none());
    }
}
