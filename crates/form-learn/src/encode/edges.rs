//! The slots for edges: what an edge may look like.

use super::Encoding;
use super::cooccurrence::Cooccurrence;
use super::solver::Lit;

/// A place for one edge.
#[derive(Clone, Debug)]
pub(crate) struct EdgeSlot {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// There is an edge here.
    pub(crate) present: Lit,
    /// For each atom: it is positive here.
    pub(crate) positive: Vec<Lit>,
    /// For each atom: it is negative here.
    pub(crate) negative: Vec<Lit>,
    /// For each atom: it or an earlier one is positive here.
    pub(super) up_to: Vec<Lit>,
    /// An atom with a window is here that can keep the edge apart from others: positive, or where there are more than `forall`s either way.
    pub(super) windowed: Lit,
    /// Some literal is negative here.
    pub(super) negated: Lit,
}

impl Encoding {
    /// The slots: an edge has a positive literal, and no atom both ways.
    pub(super) fn add_edges(&mut self, pairs: &Cooccurrence) -> Option<()> {
        self.single = pairs.all_apart() && self.windows.iter().all(|window| self.is_alone(*window));
        for from in 0..self.shape.states {
            let mut groups = Vec::new();
            for to in self.shape.targets(from) {
                let first = self.slots.len();
                for _ in 0..self.shape.options.max_disjuncts {
                    let slot = self.new_slot(from, to, pairs)?;
                    self.slots.push(slot);
                }
                // Parallel edges fill their slots from the front.
                for second in first + 1..self.slots.len() {
                    let (before, after) =
                        (self.slots[second - 1].present, self.slots[second].present);
                    self.solver.add(&[-after, before]);
                }
                groups.push((to, (first..self.slots.len()).collect()));
            }
            self.outgoing.push(groups);
            self.add_waits(from);
        }
        Some(())
    }

    /// For each atom with a window: whether an edge out of the state has it. With the bias `forall_alone`, only then another edge of the
    /// state may deny it: otherwise the denial would be memory within a state.
    fn add_waits(&mut self, from: usize) {
        let groups = self.outgoing[from].clone();
        let mut anywhere = Vec::new();
        for (f, atom) in self.windows.clone().into_iter().enumerate() {
            let mut waits = Vec::new();
            for (to, slots) in &groups {
                let foralls: Vec<Lit> = (slots.iter())
                    .map(|slot| self.slots[*slot].positive[atom])
                    .collect();
                let forall = self.solver.disjunction(&foralls);
                waits.push(forall);
                if let Some(runs) = &mut self.table_runs {
                    runs.moves.waits.insert((from, *to, f), forall);
                }
            }
            let some = self.solver.disjunction(&waits);
            anywhere.push(some);
            if self.shape.options.forall_alone && self.vocabulary[atom].counts() {
                for slot in groups.iter().flat_map(|(_, slots)| slots) {
                    self.solver.add(&[-self.slots[*slot].negative[atom], some]);
                }
            }
        }
        if let Some(runs) = &mut self.table_runs {
            runs.moves.waits_anywhere.push(anywhere);
        }
    }

    /// Whether an atom is a `forall` that must be the only literal of its edge.
    fn is_alone(&self, atom: usize) -> bool {
        self.shape.options.forall_alone && self.vocabulary[atom].is_forall()
    }

    fn new_slot(&mut self, from: usize, to: usize, pairs: &Cooccurrence) -> Option<EdgeSlot> {
        self.solver.check()?;
        let present = self.solver.fresh_absent();
        let count = self.vocabulary.len();
        let positive: Vec<Lit> = (0..count).map(|_| self.solver.fresh_absent()).collect();
        let negative: Vec<Lit> = (0..count).map(|_| self.solver.fresh_absent()).collect();
        for (p, n) in positive.iter().zip(&negative) {
            self.solver.add(&[-p, present]);
            self.solver.add(&[-n, present]);
            self.solver.add(&[-p, -n]);
        }
        let some: Vec<Lit> = positive.iter().copied().chain([-present]).collect();
        self.solver.add(&some);
        let negated = self.solver.disjunction(&negative);
        let mut windowed: Vec<Lit> = self.windows.iter().map(|f| positive[*f]).collect();
        if (self.windows.iter()).any(|f| !self.vocabulary[*f].is_forall()) {
            windowed.extend(self.windows.iter().map(|f| negative[*f]));
        }
        let windowed = self.solver.disjunction(&windowed);
        let alone: Vec<usize> = (self.windows.iter().copied())
            .filter(|window| self.is_alone(*window))
            .collect();
        let up_to = self.prefixes(&positive);
        if self.single {
            for i in 1..count {
                self.solver.add(&[-positive[i], -up_to[i - 1]]);
            }
        } else {
            for (x, a) in self.now.iter().enumerate() {
                self.solver.check()?;
                for b in &self.now[x + 1..] {
                    if !pairs.both[*a][*b] {
                        self.solver.add(&[-positive[*a], -positive[*b]]);
                    }
                }
            }
            for f in &alone {
                self.solver.check()?;
                for i in (0..count).filter(|i| i != f) {
                    self.solver.add(&[-positive[*f], -positive[i]]);
                }
            }
        }
        for f in &alone {
            self.solver.add(&[-positive[*f], -negated]);
        }
        self.keep_apart_from_now(&positive, &negative);
        Some(EdgeSlot {
            from,
            to,
            present,
            positive,
            negative,
            up_to,
            windowed,
            negated,
        })
    }

    /// With the bias `forall_alone`, a positive `once` or `atleast` has no literal about the newest observation beside it.
    fn keep_apart_from_now(&mut self, positive: &[Lit], negative: &[Lit]) {
        let counts: Vec<Lit> = (self.windows.iter())
            .filter(|f| self.vocabulary[**f].counts() && !self.vocabulary[**f].is_forall())
            .map(|f| positive[*f])
            .collect();
        if counts.is_empty() || !self.shape.options.forall_alone {
            return;
        }
        let counts = self.solver.disjunction(&counts);
        for i in self.now.clone() {
            self.solver.add(&[-counts, -positive[i]]);
            self.solver.add(&[-counts, -negative[i]]);
        }
    }

    /// For each literal: it or an earlier one holds.
    fn prefixes(&mut self, literals: &[Lit]) -> Vec<Lit> {
        let mut prefixes: Vec<Lit> = Vec::with_capacity(literals.len());
        for here in literals {
            let prefix = match prefixes.last().copied() {
                None => *here,
                Some(before) => {
                    let prefix = self.solver.fresh_absent();
                    self.solver.add(&[-before, prefix]);
                    self.solver.add(&[-here, prefix]);
                    self.solver.add(&[-prefix, before, *here]);
                    prefix
                }
            };
            prefixes.push(prefix);
        }
        prefixes
    }
}
