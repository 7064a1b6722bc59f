//! A relaxation of the problem that refutes numbers of states with far fewer conflicts than the encoding of the machines.
//!
//! A relaxed machine has a *table* instead of guards: for each state and observation the target, if any. Of the guards it keeps
//! that all observations of an edge satisfy its positive literals, and that a `forall` stands alone on its edge; negations are
//! free. Every machine has such a table, so a number of states without a consistent table has no consistent machine. The
//! converse does not hold: then the [encoding](crate::encode) decides.
//!
//! The runs are those of [`TableRuns`].

mod apart;
mod edges;
mod letters;
mod table;

use std::collections::HashMap;

use form_core::AtomSet;

use super::runs::CHECKED;
use super::solver::{Lit, Solved, Solver};
use super::table_runs::TableRuns;
use crate::alphabet::Alphabet;
use crate::budget::Budget;
use crate::counterexamples::{Mistake, mistakes};
use crate::effort::Effort;
use crate::pieces::{plant, seeds, shortest};
use crate::prefix_tree::PrefixTree;
use crate::problem::Problem;
use crate::shape::Shape;
use crate::skeletons::Skeleton;
use crate::traces::TracePrefix;
use edges::RelaxedEdge;
use letters::Letters;
use table::Table;

/// The relaxed problem for one number of states.
pub(crate) struct Relaxation {
    solver: Solver,
    shape: Shape,
    /// The atoms about the newest observation: what they are about.
    now: Vec<AtomSet>,
    /// The instances of the `forall` atoms.
    foralls: Vec<AtomSet>,
    /// The edges from each state to each target, κ of them.
    edges: HashMap<(usize, usize), Vec<RelaxedEdge>>,
    /// The edges where observations are letters.
    letters: Option<Letters>,
    runs: TableRuns,
    /// For each state and target: an edge leads there.
    connected: HashMap<(usize, usize), Lit>,
    /// The traces that the solver knows.
    tree: PrefixTree,
    /// The ways to cut a trace into stays, where they have been counted.
    cuts: HashMap<usize, f64>,
    counterexamples: usize,
    /// The number of nodes that the tree began with.
    seeded: usize,
    /// The end of the trace whose visits number the states, until it is encoded.
    reference: Option<usize>,
}

impl Relaxation {
    /// The relaxed problem, if the options allow one. `None` if not, or if a limit is reached meanwhile.
    pub(crate) fn new(problem: &Problem, states: usize, budget: &Budget) -> Option<Self> {
        let shape = problem.shape(states);
        if !shape.options.techniques.relaxation || !shape.has_tables() {
            return None;
        }
        let tree = match shape.has_pieces() {
            true => seeds(problem, states),
            false => problem.strongest_seeds(states, budget),
        };
        let letters = Alphabet::new(problem).map(|alphabet| Letters::new(problem, alphabet));
        Self::with(problem, shape, tree, letters, budget)
    }

    /// The relaxed problem that begins with these traces.
    fn with(
        problem: &Problem,
        shape: Shape,
        tree: PrefixTree,
        letters: Option<Letters>,
        budget: &Budget,
    ) -> Option<Self> {
        let runs = TableRuns::for_refutations(&shape)?;
        let masks = |forall: bool| -> Vec<AtomSet> {
            (problem.vocabulary.iter())
                .filter(|atom| atom.window.is_some() == forall)
                .map(|atom| atom.mask.clone())
                .collect()
        };
        // Where tables are answers, the numbers of their states matter.
        let by_visits = shape.has_pieces() && letters.is_none();
        let mut relaxation = Self {
            solver: Solver::new(budget),
            shape,
            now: masks(false),
            foralls: masks(true),
            edges: HashMap::new(),
            letters,
            runs,
            connected: HashMap::new(),
            seeded: tree.len(),
            tree,
            cuts: HashMap::new(),
            counterexamples: 0,
            reference: None,
        };
        relaxation.reference = (0..relaxation.tree.len())
            .find(|node| by_visits && relaxation.tree.node(*node).end.is_some());
        relaxation.add_edges()?;
        Some(relaxation)
    }

    /// Whether the clauses are still right: no first trace of a kind of end, and no new letter, has been added.
    pub(crate) fn is_current(&self, problem: &Problem) -> bool {
        self.shape == problem.shape(self.shape.states)
            && (self.letters.as_ref()).is_none_or(|letters| letters.is_current(problem))
    }

    pub(crate) fn effort(&self) -> Effort {
        Effort {
            counterexamples: self.counterexamples,
            steps: self.tree.len() - self.seeded,
            calls: self.solver.calls,
            clauses: self.solver.clauses,
        }
    }

    /// The assumptions that the connections are exactly these, with at most that number of letters where one is given.
    pub(crate) fn skeleton(&self, skeleton: &Skeleton) -> Vec<Lit> {
        let mut literals = Vec::new();
        for (pair, connected) in &self.connected {
            match skeleton.iter().find(|edge| (edge.0, edge.1) == *pair) {
                Some((from, to, most)) => {
                    literals.push(*connected);
                    let letters = self.letters.as_ref().zip(*most);
                    literals.extend(
                        letters.and_then(|(known, most)| known.at_most_letters(*from, *to, most)),
                    );
                }
                None => literals.push(-connected),
            }
        }
        literals.sort_unstable();
        literals
    }

    /// CEGIS: whether some table is consistent with all traces under the assumptions, with a limit on the conflicts of each solver
    /// call and on the number of calls.
    pub(crate) fn solve(
        &mut self,
        problem: &Problem,
        assumptions: &[Lit],
        conflicts: Option<i32>,
        calls: usize,
        budget: &Budget,
    ) -> Solved<()> {
        self.solver.set_budget(budget);
        for _ in 0..calls {
            self.extend(problem.traces.observations());
            match self.solver.solve(assumptions, conflicts) {
                Solved::Sat(()) => {}
                answer => return answer,
            }
            let table = self.decode();
            let found = match self.lettered() {
                // This becomes the answer, so the evaluator of `form-core` replays it.
                Some(machine) => mistakes(&problem.traces, &problem.bind(&machine.learnt), 0),
                None => table.mistakes(problem),
            };
            if found.is_empty() {
                return Solved::Sat(());
            }
            self.refine(problem, &table, found);
        }
        Solved::Unknown
    }

    /// Adds counterexamples to a table.
    fn refine(&mut self, problem: &Problem, table: &Table, found: Vec<(Mistake, TracePrefix)>) {
        if self.shape.has_pieces() {
            let pieces = shortest(problem, &found, |piece| table.survives(problem, piece));
            self.counterexamples += pieces.len();
            for piece in &pieces {
                plant(problem, &mut self.tree, piece);
            }
            return;
        }
        let found = problem.select(found, PER_MISTAKE, self.shape.states, &mut self.cuts);
        self.counterexamples += found.len();
        for counterexample in &found {
            problem.plant(&mut self.tree, counterexample);
        }
    }

    /// Encodes the nodes of the tree that are new since the last call.
    fn extend(&mut self, observations: &[AtomSet]) {
        self.runs.tighten(&mut self.solver, &self.tree);
        for node in self.runs.len()..self.tree.len() {
            // What is missing is encoded by the next call.
            if node % CHECKED == 0 && self.solver.check().is_none() {
                return;
            }
            if self.tree.node(node).root != node {
                let observation = self.tree.node(node).observation;
                self.add_observation(observation, &observations[observation as usize]);
            }
            self.runs.add_node(&mut self.solver, &self.tree);
        }
        if let Some(reference) = self.reference.take() {
            (self.runs).number_by_visits(&mut self.solver, &self.tree, reference);
        }
    }

    /// The table of the last model.
    fn decode(&self) -> Table {
        let mut table = Table::new(&self.shape, &self.foralls);
        let moves = &self.runs.moves;
        for (&(from, to, observation), fires) in &moves.fires {
            if self.solver.is_true(*fires) {
                table.set(from, observation, to);
            }
        }
        for (&(from, to, f), waits) in &moves.waits {
            if self.solver.is_true(*waits) {
                table.set_forall(from, f, to);
            }
        }
        table
    }
}

/// How many counterexamples of each mistake are added at a time.
const PER_MISTAKE: usize = 4;
