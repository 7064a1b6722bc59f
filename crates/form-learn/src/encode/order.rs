//! Telling machines apart: other ones than some already known, and the fixed order that is the last tie-break.

use std::cmp::Reverse;

use super::Encoding;
use super::solver::Lit;
use crate::decode::Design;

impl Encoding {
    /// An assumption that means nothing yet.
    pub(crate) fn fresh_question(&mut self) -> Lit {
        self.solver.fresh_absent()
    }

    /// The assumption is from now on, too, that the machine is not this one.
    pub(crate) fn leave_out(&mut self, assumption: Lit, design: &Design) {
        let clause: Vec<Lit> = (design.literals.iter().map(|literal| -literal))
            .chain([-assumption])
            .collect();
        self.solver.add(&clause);
    }

    /// By what machines of the same cost are ordered, the best first: ground atoms, negations, then which places have an
    /// edge, then the literals of the first edge, the second, ….
    pub(crate) fn rank(&self, design: &Design) -> (usize, usize, Reverse<Vec<bool>>) {
        let holds = |literal: Lit| design.literals.contains(&literal);
        let cost = &design.learnt.cost;
        let order = self.in_order().into_iter().map(holds).collect();
        (cost.ground, cost.negative, Reverse(order))
    }

    /// The assumption that the machine comes before this one in the order, measures apart: of the first literal in which
    /// they differ, it has the positive.
    pub(crate) fn before(&mut self, design: &Design) -> Lit {
        let active = self.fresh_question();
        let mut differs = vec![-active];
        // Up to here they are the same.
        let mut same = active;
        for literal in self.in_order() {
            if design.literals.contains(&literal) {
                same = self.solver.both(same, literal);
            } else {
                differs.push(self.solver.both(same, literal));
            }
        }
        self.solver.add(&differs);
        active
    }

    fn in_order(&self) -> Vec<Lit> {
        let presence = self.slots.iter().map(|slot| slot.present);
        let contents =
            (self.slots.iter()).flat_map(|slot| slot.positive.iter().chain(&slot.negative));
        presence.chain(contents.copied()).collect()
    }
}
