//! What an edge may look like, and which literals can never be of use on one.

use form_core::AtomSet;

use super::Encoding;
use super::solver::Lit;

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
}

impl Encoding {
    /// The places for edges: an edge has a positive literal and no atom both ways.
    pub(super) fn add_edges(&mut self) {
        for from in 0..self.shape.states {
            let mut groups = Vec::new();
            for to in self.shape.targets(from) {
                let first = self.slots.len();
                for _ in 0..self.shape.options.max_disjuncts {
                    let slot = self.new_slot(from, to);
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
    }

    fn new_slot(&mut self, from: usize, to: usize) -> Slot {
        let present = self.solver.fresh_absent();
        let positive: Vec<Lit> = self
            .candidates
            .iter()
            .map(|_| self.solver.fresh_absent())
            .collect();
        let negative: Vec<Lit> = self
            .candidates
            .iter()
            .map(|_| self.solver.fresh_absent())
            .collect();
        for (p, n) in positive.iter().zip(&negative) {
            self.solver.add(&[-p, present]);
            self.solver.add(&[-n, present]);
            self.solver.add(&[-p, -n]);
        }
        let some: Vec<Lit> = positive.iter().copied().chain([-present]).collect();
        self.solver.add(&some);
        if self.shape.options.forall_alone {
            for f in &self.foralls {
                for i in (0..positive.len()).filter(|i| i != f) {
                    self.solver.add(&[-positive[*f], -positive[i]]);
                    self.solver.add(&[-positive[*f], -negative[i]]);
                }
            }
        }
        Slot {
            from,
            to,
            present,
            positive,
            negative,
        }
    }

    /// Literals that no smallest machine has, because leaving them out changes nothing on the data: a positive one that
    /// another positive one implies or never meets, and a negative one that blocks no observation and keeps nothing
    /// apart.
    pub(super) fn exclude_idle_literals(&mut self, observations: &[AtomSet]) {
        let meet = |a: &AtomSet, b: &AtomSet| {
            observations
                .iter()
                .any(|o| o.intersects(a) && o.intersects(b))
        };
        for (x, a) in self.statics.iter().enumerate() {
            for b in &self.statics[x + 1..] {
                let (mask_a, mask_b) = (&self.candidates[*a].mask, &self.candidates[*b].mask);
                if mask_a.is_subset(mask_b) || mask_b.is_subset(mask_a) || !meet(mask_a, mask_b) {
                    for slot in &self.slots {
                        self.solver.add(&[-slot.positive[*a], -slot.positive[*b]]);
                    }
                }
            }
        }
        let alone = self.shape.options.forall_alone;
        for i in &self.statics {
            let mask = &self.candidates[*i].mask;
            let blocks: Vec<usize> = (self.candidates.iter().enumerate())
                .filter(|(_, other)| {
                    other.forall && !alone
                        || !other.forall && !other.mask.is_subset(mask) && meet(&other.mask, mask)
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
    }
}
