//! Tables with their exact cost, where observations are letters: see [`alphabet`](crate::alphabet). Negations need no variables.

use std::collections::HashMap;

use form_core::AtomSet;

use super::Relaxation;
use crate::alphabet::{Alphabet, Lettered};
use crate::encode::solver::{FALSE, Lit, Solver};
use crate::follow::Edges;
use crate::problem::Problem;
use crate::shape::Shape;

/// The letters, and what they lead to.
pub(super) struct Letters {
    alphabet: Alphabet,
    /// The number of observations of the data.
    observations: usize,
    /// For each state, target and letter: it leads there.
    leads: Vec<Vec<(usize, Vec<Lit>)>>,
    /// For each state and target, literal k: more than k letters lead there.
    numbers: HashMap<(usize, usize), Vec<Lit>>,
    /// Literal k: the cost exceeds the base cost by more than k.
    cost: Vec<Lit>,
    /// Literal k: more than k pairs of states are connected; there are more than k letters.
    connections: Vec<Lit>,
    letters: Vec<Lit>,
}

impl Letters {
    /// Without clauses yet.
    pub(super) fn new(problem: &Problem, alphabet: Alphabet) -> Self {
        Self {
            alphabet,
            observations: problem.traces.observations().len(),
            leads: Vec::new(),
            numbers: HashMap::new(),
            cost: Vec::new(),
            connections: Vec::new(),
            letters: Vec::new(),
        }
    }

    /// Whether no observation has been added since.
    pub(super) fn is_current(&self, problem: &Problem) -> bool {
        self.observations == problem.traces.observations().len()
    }

    /// For each state and target the literals of the letters; `None` if a limit is reached.
    pub(super) fn add_edges(&mut self, solver: &mut Solver, shape: &Shape) -> Option<()> {
        for from in 0..shape.states {
            let targets = shape.targets(from).into_iter();
            let leads: Vec<(usize, Vec<Lit>)> = targets
                .map(|to| {
                    let leads = self.alphabet.atoms.iter().map(|_| solver.fresh_absent());
                    (to, leads.collect())
                })
                .collect();
            for letter in 0..self.alphabet.atoms.len() {
                let targets: Vec<Lit> = leads.iter().map(|(_, leads)| leads[letter]).collect();
                solver.at_most_one(&targets);
            }
            for (to, leads) in &leads {
                solver.check()?;
                let most = shape.options.max_disjuncts;
                let number = solver.totalizer(leads, most);
                if let Some(more) = number.get(most) {
                    solver.add(&[-more]);
                }
                self.numbers.insert((from, *to), number);
            }
            self.leads.push(leads);
        }
        Some(())
    }

    /// The assumption that at most this number of letters leads from a state to a target, if that says anything.
    pub(super) fn at_most_letters(&self, from: usize, to: usize, most: usize) -> Option<Lit> {
        self.numbers[&(from, to)].get(most).map(|more| -more)
    }

    /// For each target of a state: an edge leads there.
    pub(super) fn connected(&self, solver: &mut Solver, from: usize) -> Vec<(usize, Lit)> {
        let leads = self.leads[from].iter();
        leads
            .map(|(to, leads)| (*to, solver.disjunction(leads)))
            .collect()
    }

    /// The literals that an observation leads from a state to its targets.
    pub(super) fn fires(&self, from: usize, observation: &AtomSet) -> Vec<(usize, Lit)> {
        let letter =
            (self.alphabet.atoms.iter()).position(|atom| atom.mask.intersects(observation));
        (self.leads[from].iter())
            .map(|(to, leads)| (*to, letter.map_or(FALSE, |letter| leads[letter])))
            .collect()
    }

    /// The first letter that leads to one target does not come after the first that leads to another one, unless one of these
    /// holds.
    pub(super) fn order(
        &self,
        solver: &mut Solver,
        from: usize,
        [first, second]: [usize; 2],
        unless: &[Lit],
    ) {
        let leads = |to: usize| self.leads[from].iter().find(|(target, _)| *target == to);
        let (Some((_, first)), Some((_, second))) = (leads(first), leads(second)) else {
            return;
        };
        for letter in 0..self.alphabet.atoms.len() {
            let mut clause = vec![-second[letter]];
            clause.extend(&first[..=letter]);
            clause.extend(unless);
            solver.add(&clause);
        }
    }

    /// The assumptions that the cost is at most `bound`.
    fn at_most(&mut self, solver: &mut Solver, shape: &Shape, bound: usize) -> Vec<Lit> {
        let base = 2 * shape.entered();
        let slack = bound.saturating_sub(base);
        if self.cost.len() <= slack {
            self.count(solver, shape, (2 * slack).max(7));
        }
        let mut assumptions = vec![self.cost.get(slack)];
        if shape.options.techniques.connections {
            // As in `cost`: clause learning does not find arguments that count.
            assumptions.push(self.connections.get((bound + shape.states) / 3));
            assumptions.push(self.letters.get(bound / 2));
        }
        let known = assumptions.into_iter().flatten();
        known.map(|more| -more).collect()
    }

    /// Makes the counters, exact up to `slack` beyond the base cost.
    fn count(&mut self, solver: &mut Solver, shape: &Shape, slack: usize) {
        let (mut cost, mut letters, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
        for target in 1..shape.states + 2 {
            let entering: Vec<Lit> = (self.leads.iter().flatten())
                .filter(|(to, _)| *to == target)
                .flat_map(|(_, leads)| leads.clone())
                .collect();
            let number = solver.totalizer(&entering, slack / 2 + 1);
            letters = solver.merge(&letters, &number, slack + shape.states + 2);
            let mut twice: Vec<Lit> = number.iter().flat_map(|more| [*more, *more]).collect();
            if shape.is_entered(target) && !twice.is_empty() {
                twice.drain(..2);
            }
            cost = solver.merge(&cost, &twice, slack);
        }
        for from in 0..shape.states {
            let connected = self.connected(solver, from);
            pairs.extend(connected.into_iter().map(|(_, connected)| connected));
            let apart = self.apart(solver, from);
            let apart = solver.totalizer(&apart, slack);
            cost = solver.merge(&cost, &apart, slack);
        }
        self.connections =
            solver.totalizer(&pairs, (slack + 2 * shape.entered() + shape.states) / 3);
        self.letters = letters;
        self.cost = cost;
    }

    /// For each pair of letters: from this state they lead to different targets.
    fn apart(&self, solver: &mut Solver, from: usize) -> Vec<Lit> {
        let leads = &self.leads[from];
        let mut apart = Vec::new();
        let anywhere: Vec<Lit> = (0..self.alphabet.atoms.len())
            .map(|letter| {
                let targets: Vec<Lit> = leads.iter().map(|(_, leads)| leads[letter]).collect();
                solver.disjunction(&targets)
            })
            .collect();
        for a in 0..self.alphabet.atoms.len() {
            for b in a + 1..self.alphabet.atoms.len() {
                let differ = solver.fresh_absent();
                for (_, leads) in leads {
                    solver.add(&[differ, -leads[a], -anywhere[b], leads[b]]);
                }
                apart.push(differ);
            }
        }
        apart
    }

    /// The machine of the last model.
    fn decode(&self, solver: &Solver, shape: &Shape) -> Lettered {
        let mut edges = Edges::new();
        for (from, leads) in self.leads.iter().enumerate() {
            for (to, leads) in leads {
                let letters = (0..leads.len()).filter(|letter| solver.is_true(leads[*letter]));
                edges.extend(letters.map(|letter| (from, *to, letter)));
            }
        }
        self.alphabet.machine(shape, edges)
    }
}

impl Relaxation {
    /// Whether tables are machines, with their exact cost.
    pub(crate) fn is_exact(&self) -> bool {
        self.letters.is_some()
    }

    /// The number of states.
    pub(crate) fn states(&self) -> usize {
        self.shape.states
    }

    /// The letters, if observations are some.
    pub(crate) fn alphabet(&self) -> Option<&Alphabet> {
        self.letters.as_ref().map(|letters| &letters.alphabet)
    }

    /// The assumptions that the cost is at most `bound`.
    pub(crate) fn at_most(&mut self, bound: usize) -> Vec<Lit> {
        let Some(letters) = &mut self.letters else {
            return Vec::new();
        };
        letters.at_most(&mut self.solver, &self.shape, bound)
    }

    /// Whether the last proof of unsatisfiability used one of these assumptions.
    pub(crate) fn core_has(&self, assumptions: &[Lit]) -> bool {
        (assumptions.iter()).any(|literal| self.solver.in_core(*literal))
    }

    /// The machine of the last model.
    pub(crate) fn lettered(&self) -> Option<Lettered> {
        let letters = self.letters.as_ref()?;
        Some(letters.decode(&self.solver, &self.shape))
    }

    /// A fresh activation literal.
    pub(crate) fn activation_literal(&mut self) -> Lit {
        self.solver.fresh_absent()
    }

    /// Adds a blocking clause: while `activation` is assumed, the machine has not all of these edges.
    pub(crate) fn block(&mut self, activation: Lit, lettered: &Lettered) {
        let Some(letters) = &self.letters else { return };
        let leads = |(from, to, letter): &(usize, usize, usize)| {
            let leads = letters.leads[*from].iter().find(|(of, _)| of == to);
            leads.map(|(_, leads)| -leads[*letter])
        };
        let mut clause: Vec<Lit> = lettered.edges.iter().filter_map(leads).collect();
        clause.push(-activation);
        self.solver.add(&clause);
    }
}
