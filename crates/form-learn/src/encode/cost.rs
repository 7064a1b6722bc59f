//! Counting: edges and literals, ground literals, negative literals (totalizers, Bailleux and Boufkhad 2003).

use super::solver::Lit;
use super::{Encoding, Slot};

/// What a machine is minimised by, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Edges and literals together.
    Cost,
    /// Literals that name objects.
    Ground,
    /// Negative literals.
    Negative,
}

impl Encoding {
    /// The literals a measure counts, place by place.
    pub(crate) fn counted(&self, measure: Measure) -> Vec<Vec<Lit>> {
        let of_slot = |slot: &Slot| -> Vec<Lit> {
            match measure {
                Measure::Cost => [slot.present]
                    .iter()
                    .chain(&slot.positive)
                    .chain(&slot.negative)
                    .copied()
                    .collect(),
                Measure::Negative => slot.negative.clone(),
                Measure::Ground => (self.candidates.iter().enumerate())
                    .filter(|(_, candidate)| candidate.ground)
                    .flat_map(|(i, _)| [slot.positive[i], slot.negative[i]])
                    .collect(),
            }
        };
        self.slots.iter().map(of_slot).collect()
    }

    /// What every machine costs: an edge with a literal into every state and into each end that traces reach.
    pub(crate) fn base_cost(&self) -> usize {
        2 * (0..self.shape.states + 2)
            .filter(|to| self.is_forced(*to))
            .count()
    }

    fn is_forced(&self, target: usize) -> bool {
        match target {
            0 => false,
            to if to == self.shape.accept() => self.shape.reached[0],
            to if to == self.shape.reject() => self.shape.reached[1],
            _ => true,
        }
    }

    /// Literals of which the k-th holds if the cost exceeds what every machine costs by more than k, for k up to `slack`.
    ///
    /// What leads to a target is counted together: since something must, only what goes beyond an edge with one literal
    /// counts, and a bound close to the lowest possible cost is felt at every target at once.
    fn excess(&mut self, slack: usize) -> Vec<Lit> {
        let mut sum = Vec::new();
        let slots = self.slots.clone();
        for target in 0..self.shape.states + 2 {
            let mut total = Vec::new();
            for slot in slots.iter().filter(|slot| slot.to == target) {
                let further = self.further_literals(slot, slack);
                // The edge and its first literal come together.
                let number = [&[slot.present, slot.present], &further[..]].concat();
                total = self.merged(&total, &number, slack + 2);
            }
            if self.is_forced(target) && !total.is_empty() {
                total.drain(..2);
            }
            sum = self.merged(&sum, &total, slack);
        }
        sum
    }

    /// Counts the literals of an edge after the first, up to a limit.
    fn further_literals(&mut self, slot: &Slot, limit: usize) -> Vec<Lit> {
        if self.single {
            return self.total(&slot.negative, limit);
        }
        let literals = [&slot.positive[..], &slot.negative].concat();
        self.total(&literals, limit + 1).split_off(1)
    }

    /// The assumption that a measure is at most `bound`; the counter grows as needed.
    pub(crate) fn at_most(&mut self, measure: Measure, bound: usize) -> Vec<Lit> {
        let groups = self.counted(measure);
        if bound >= groups.iter().map(Vec::len).sum() {
            return Vec::new();
        }
        // Below what every machine costs there is none, which the counter need not know.
        let bound = match measure {
            Measure::Cost => bound.saturating_sub(self.base_cost()),
            Measure::Ground | Measure::Negative => bound,
        };
        let length = self.counter(measure).len();
        if length <= bound {
            let limit = (2 * length).max(bound + 1);
            let counter = match measure {
                Measure::Cost => self.excess(limit),
                Measure::Ground | Measure::Negative => self.totals(groups, limit),
            };
            match measure {
                Measure::Cost => self.cost = counter,
                Measure::Ground => self.ground = counter,
                Measure::Negative => self.negative = counter,
            }
        }
        let more = self.counter(measure).get(bound);
        more.map(|literal| -literal).into_iter().collect()
    }

    fn counter(&self, measure: Measure) -> &[Lit] {
        match measure {
            Measure::Cost => &self.cost,
            Measure::Ground => &self.ground,
            Measure::Negative => &self.negative,
        }
    }

    /// Literals of which the k-th holds if more than k of all the literals do, for k up to `limit`.
    fn totals(&mut self, groups: Vec<Vec<Lit>>, limit: usize) -> Vec<Lit> {
        let mut level: Vec<Vec<Lit>> = groups
            .into_iter()
            .map(|group| self.total(&group, limit))
            .collect();
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| self.merged(&pair[0], pair.get(1).map_or(&[], |b| b), limit))
                .collect();
        }
        level.pop().unwrap_or_default()
    }

    fn total(&mut self, literals: &[Lit], limit: usize) -> Vec<Lit> {
        // Depth is the logarithm of the number of candidates.
        if literals.len() <= 1 {
            return literals.to_vec();
        }
        let (a, b) = literals.split_at(literals.len() / 2);
        let (a, b) = (self.total(a, limit), self.total(b, limit));
        self.merged(&a, &b, limit)
    }

    fn merged(&mut self, a: &[Lit], b: &[Lit], limit: usize) -> Vec<Lit> {
        if a.is_empty() || b.is_empty() {
            return [a, b].concat();
        }
        let size = (a.len() + b.len()).min(limit + 1);
        let sums: Vec<Lit> = (0..size).map(|_| self.solver.fresh_absent()).collect();
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                let sum = (i + j).min(size);
                if sum > 0 {
                    let from_a = i.checked_sub(1).map(|i| -a[i]);
                    let from_b = j.checked_sub(1).map(|j| -b[j]);
                    let clause: Vec<Lit> = [sums[sum - 1]]
                        .into_iter()
                        .chain(from_a)
                        .chain(from_b)
                        .collect();
                    self.solver.add(&clause);
                }
            }
        }
        for pair in sums.windows(2) {
            self.solver.add(&[-pair[1], pair[0]]);
        }
        sums
    }
}
