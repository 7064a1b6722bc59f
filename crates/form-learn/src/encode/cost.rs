//! The measures that are minimised, and bounds on them as assumptions over totalizers.

use super::solver::Lit;
use super::{EdgeSlot, Encoding};

/// The measures, in the order in which they are minimised.
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
    /// The literals that a measure counts, slot by slot.
    pub(super) fn counted(&self, measure: Measure) -> Vec<Vec<Lit>> {
        let of_slot = |slot: &EdgeSlot| -> Vec<Lit> {
            match measure {
                Measure::Cost => {
                    let mut counted = vec![slot.present];
                    counted.extend(self.weighted(&slot.positive));
                    counted.extend(self.weighted(&slot.negative));
                    counted
                }
                Measure::Negative => slot.negative.clone(),
                Measure::Ground => (self.vocabulary.iter().enumerate())
                    .filter(|(_, learnable)| learnable.ground)
                    .flat_map(|(i, _)| [slot.positive[i], slot.negative[i]])
                    .collect(),
            }
        };
        self.slots.iter().map(of_slot).collect()
    }

    /// The literals of a slot, each as often as its atom costs.
    fn weighted(&self, literals: &[Lit]) -> Vec<Lit> {
        (literals.iter().zip(&self.vocabulary))
            .flat_map(|(literal, learnable)| vec![*literal; learnable.cost])
            .collect()
    }

    /// The cost of every machine: an edge with a literal into every state and into each terminal state that traces reach.
    pub(crate) fn base_cost(&self) -> usize {
        2 * self.shape.entered()
    }

    /// The assumption that a measure is at most `bound`; its totalizer grows as needed.
    pub(crate) fn at_most(&mut self, measure: Measure, bound: usize) -> Vec<Lit> {
        let groups = self.counted(measure);
        if bound >= groups.iter().map(Vec::len).sum() {
            return Vec::new();
        }
        // No machine is below the base cost, so the counter starts there.
        let bound = match measure {
            Measure::Cost => bound.saturating_sub(self.base_cost()),
            Measure::Ground | Measure::Negative => bound,
        };
        let length = self.counter(measure).len();
        if length <= bound {
            let limit = (2 * length).max(bound + 1);
            *self.counter(measure) = match measure {
                Measure::Cost => self.excess(limit),
                _ => self.solver.totalizer_of_groups(groups, limit),
            };
        }
        let more = self.counter(measure).get(bound);
        let mut assumptions: Vec<Lit> = more.map(|literal| -literal).into_iter().collect();
        if measure == Measure::Cost {
            assumptions.extend(self.few_connections(bound + self.base_cost()));
        }
        assumptions
    }

    /// The assumption that few pairs of states are connected, which a bound on the cost implies: clause learning does not find
    /// arguments that count.
    ///
    /// Each of C connections costs an edge and a literal, and all but one of the targets of a state need a negation to exclude
    /// each other. So a machine with n states costs at least 2C + (C - n).
    fn few_connections(&mut self, cost: usize) -> Option<Lit> {
        let most = (cost + self.shape.states) / 3;
        let pairs: Vec<Lit> = (self.outgoing.iter().flatten())
            .filter_map(|(_, slots)| Some(self.slots[*slots.first()?].present))
            .collect();
        if most >= pairs.len() || !self.shape.options.techniques.connections {
            return None;
        }
        if self.connections.len() <= most {
            self.connections = self.solver.totalizer(&pairs, 2 * most);
        }
        self.connections.get(most).map(|more| -more)
    }

    fn counter(&mut self, measure: Measure) -> &mut Vec<Lit> {
        match measure {
            Measure::Cost => &mut self.cost,
            Measure::Ground => &mut self.ground,
            Measure::Negative => &mut self.negative,
        }
    }

    /// Counts the cost beyond the base cost, up to `slack`.
    ///
    /// The edges into one target are counted together: since one must exist, only what exceeds an edge with one literal
    /// counts, and a bound close to the base cost propagates at every target at once.
    fn excess(&mut self, slack: usize) -> Vec<Lit> {
        let mut sum = Vec::new();
        let slots = self.slots.clone();
        for target in 0..self.shape.states + 2 {
            let mut total = Vec::new();
            for slot in slots.iter().filter(|slot| slot.to == target) {
                let further = self.further_literals(slot, slack);
                // The edge and its first literal come together.
                let number = [&[slot.present, slot.present], &further[..]].concat();
                total = self.solver.merge(&total, &number, slack + 2);
            }
            if self.shape.is_entered(target) && !total.is_empty() {
                total.drain(..2);
            }
            sum = self.solver.merge(&sum, &total, slack);
        }
        sum
    }

    /// Counts the literals of an edge after the first, up to a limit.
    fn further_literals(&mut self, slot: &EdgeSlot, limit: usize) -> Vec<Lit> {
        if self.single {
            return self.solver.totalizer(&slot.negative, limit);
        }
        let literals = [self.weighted(&slot.positive), self.weighted(&slot.negative)].concat();
        self.solver.totalizer(&literals, limit + 1).split_off(1)
    }
}
