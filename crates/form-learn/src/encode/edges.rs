//! What an edge may look like, and which literals can never be of use on one.

use form_core::AtomSet;

use super::Encoding;
use super::solver::Lit;
use crate::vocabulary::Candidate;
use crate::watch::Watch;

/// A place for an edge.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// There is an edge here.
    pub(crate) present: Lit,
    /// For each candidate: it is positive here.
    pub(crate) positive: Vec<Lit>,
    /// For each candidate: it is negative here.
    pub(crate) negative: Vec<Lit>,
    /// For each candidate: it or an earlier one is positive here.
    pub(super) up_to: Vec<Lit>,
    /// A `forall` is positive here.
    pub(super) lasting: Lit,
    /// Some literal is negative here.
    pub(super) negated: Lit,
}

/// Which candidates about the newest observation have to do with each other.
pub(super) struct Pairs {
    /// Some observation of the data has both.
    meet: Vec<Vec<bool>>,
    /// Both can be of use, positive, on one edge: they meet, and neither implies the other.
    both: Vec<Vec<bool>>,
}

impl Pairs {
    pub(super) fn new(
        candidates: &[Candidate],
        observations: &[AtomSet],
        watch: &Watch,
    ) -> Option<Self> {
        let table = |relation: &dyn Fn(&Candidate, &Candidate) -> bool| {
            let related = |a: &Candidate, b: &Candidate| !a.forall && !b.forall && relation(a, b);
            (candidates.iter())
                .map(|a| {
                    watch.goes_on()?;
                    Some(candidates.iter().map(|b| related(a, b)).collect())
                })
                .collect::<Option<Vec<Vec<bool>>>>()
        };
        let meet = |a: &Candidate, b: &Candidate| {
            (observations.iter()).any(|o| o.intersects(&a.mask) && o.intersects(&b.mask))
        };
        let apart =
            |a: &Candidate, b: &Candidate| !a.mask.is_subset(&b.mask) && !b.mask.is_subset(&a.mask);
        Some(Self {
            meet: table(&meet)?,
            both: table(&|a, b| apart(a, b) && meet(a, b))?,
        })
    }

    /// Whether no edge needs two positive literals about the newest observation.
    fn all_apart(&self) -> bool {
        !self.both.iter().flatten().any(|both| *both)
    }
}

impl Encoding {
    /// The places for edges: an edge has a positive literal and no atom both ways.
    pub(super) fn add_edges(&mut self, pairs: &Pairs) -> Option<()> {
        self.single =
            pairs.all_apart() && (self.foralls.is_empty() || self.shape.options.forall_alone);
        for from in 0..self.shape.states {
            let mut groups = Vec::new();
            for to in self.shape.targets(from) {
                let first = self.slots.len();
                for _ in 0..self.shape.options.max_disjuncts {
                    let slot = self.new_slot(from, to, pairs)?;
                    self.slots.push(slot);
                }
                // Parallel edges fill their places from the front.
                for second in first + 1..self.slots.len() {
                    let (before, after) =
                        (self.slots[second - 1].present, self.slots[second].present);
                    self.solver.add(&[-after, before]);
                }
                groups.push((to, (first..self.slots.len()).collect()));
            }
            self.outgoing.push(groups);
        }
        // A state that no edge enters is one state too many.
        for to in 1..self.shape.states {
            let entering: Vec<Lit> = self
                .slots
                .iter()
                .filter(|slot| slot.to == to)
                .map(|slot| slot.present)
                .collect();
            self.solver.add(&entering);
        }
        Some(())
    }

    fn new_slot(&mut self, from: usize, to: usize, pairs: &Pairs) -> Option<Slot> {
        self.solver.goes_on()?;
        let present = self.solver.fresh_absent();
        let count = self.candidates.len();
        let positive: Vec<Lit> = (0..count).map(|_| self.solver.fresh_absent()).collect();
        let negative: Vec<Lit> = (0..count).map(|_| self.solver.fresh_absent()).collect();
        for (p, n) in positive.iter().zip(&negative) {
            self.solver.add(&[-p, present]);
            self.solver.add(&[-n, present]);
            self.solver.add(&[-p, -n]);
        }
        let some: Vec<Lit> = positive.iter().copied().chain([-present]).collect();
        self.solver.add(&some);
        let negated = self.any_of(&negative);
        let lasting: Vec<Lit> = self.foralls.iter().map(|f| positive[*f]).collect();
        let lasting = self.any_of(&lasting);
        let up_to = self.prefixes(&positive);
        if self.single {
            for i in 1..count {
                self.solver.add(&[-positive[i], -up_to[i - 1]]);
            }
        } else {
            for (x, a) in self.statics.iter().enumerate() {
                self.solver.goes_on()?;
                for b in &self.statics[x + 1..] {
                    if !pairs.both[*a][*b] {
                        self.solver.add(&[-positive[*a], -positive[*b]]);
                    }
                }
            }
            if self.shape.options.forall_alone {
                for f in &self.foralls {
                    self.solver.goes_on()?;
                    for i in (0..count).filter(|i| i != f) {
                        self.solver.add(&[-positive[*f], -positive[i]]);
                    }
                }
            }
        }
        if self.shape.options.forall_alone {
            self.solver.add(&[-lasting, -negated]);
        }
        Some(Slot {
            from,
            to,
            present,
            positive,
            negative,
            up_to,
            lasting,
            negated,
        })
    }

    /// Negative literals that no smallest machine has, because leaving them out changes nothing on the data: they block
    /// no observation and keep nothing apart.
    pub(super) fn exclude_idle_negations(&mut self, pairs: &Pairs) -> Option<()> {
        let alone = self.shape.options.forall_alone;
        for i in &self.statics {
            self.solver.goes_on()?;
            let mask = &self.candidates[*i].mask;
            let blocks: Vec<usize> = (self.candidates.iter().enumerate())
                .filter(|(a, other)| {
                    other.forall && !alone || pairs.meet[*a][*i] && !other.mask.is_subset(mask)
                })
                .map(|(a, _)| a)
                .collect();
            for (s, slot) in self.slots.iter().enumerate() {
                let mut useful = vec![-slot.negative[*i]];
                useful.extend(blocks.iter().map(|a| slot.positive[*a]));
                useful.extend(self.justified.get(&(s, *i)).into_iter().flatten());
                self.solver.add(&useful);
            }
        }
        Some(())
    }

    /// A literal that holds iff one of these does.
    pub(super) fn any_of(&mut self, literals: &[Lit]) -> Lit {
        let any = match literals {
            [] => return super::solver::FALSE,
            [literal] => return *literal,
            _ => self.solver.fresh_absent(),
        };
        for literal in literals {
            self.solver.add(&[-literal, any]);
        }
        let some: Vec<Lit> = literals.iter().copied().chain([-any]).collect();
        self.solver.add(&some);
        any
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
