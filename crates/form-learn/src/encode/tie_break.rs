//! Telling machines apart: blocking clauses that exclude known machines, and the fixed order that is the last tie-break.

use std::cmp::Reverse;

use super::Encoding;
use super::model::Candidate;
use super::solver::Lit;
use crate::skeletons::Skeleton;

impl Encoding {
    /// A fresh activation literal: clauses that contain its negation hold only while it is assumed.
    pub(crate) fn activation_literal(&mut self) -> Lit {
        self.solver.fresh_absent()
    }

    /// The assumptions that the connections are exactly these.
    pub(crate) fn skeleton(&self, skeleton: &Skeleton) -> Vec<Lit> {
        let pairs = self.outgoing.iter().enumerate();
        let pairs = pairs.flat_map(|(from, groups)| groups.iter().map(move |group| (from, group)));
        // Parallel edges fill their slots from the front.
        let connected = pairs.filter_map(|(from, (to, slots))| {
            let present = self.slots[*slots.first()?].present;
            let has = skeleton.iter().any(|edge| (edge.0, edge.1) == (from, *to));
            Some(if has { present } else { -present })
        });
        connected.collect()
    }

    /// Adds a blocking clause: while `activation` is assumed, the machine is not this one.
    pub(crate) fn block(&mut self, activation: Lit, candidate: &Candidate) {
        let clause: Vec<Lit> = (candidate.literals.iter().map(|literal| -literal))
            .chain([-activation])
            .collect();
        self.solver.add(&clause);
    }

    /// The order of machines of the same cost, the best first: ground atoms, negations, then which slots have an edge, then
    /// the literals of the first edge, the second, ….
    pub(crate) fn rank(&self, candidate: &Candidate) -> (usize, usize, Reverse<Vec<bool>>) {
        let holds = |literal: Lit| candidate.literals.contains(&literal);
        let cost = &candidate.learnt.cost;
        let order = self.in_order().into_iter().map(holds).collect();
        (cost.ground, cost.negative, Reverse(order))
    }

    /// An activation literal for "the machine precedes this one in the order": of the first literal in which they differ, it
    /// has the positive.
    pub(crate) fn before(&mut self, candidate: &Candidate) -> Lit {
        let activation = self.activation_literal();
        let mut differs = vec![-activation];
        // Up to here they are the same.
        let mut same = activation;
        for literal in self.in_order() {
            if candidate.literals.contains(&literal) {
                same = self.solver.both(same, literal);
            } else {
                differs.push(self.solver.both(same, literal));
            }
        }
        self.solver.add(&differs);
        activation
    }

    fn in_order(&self) -> Vec<Lit> {
        let presence = self.slots.iter().map(|slot| slot.present);
        let contents =
            (self.slots.iter()).flat_map(|slot| slot.positive.iter().chain(&slot.negative));
        presence.chain(contents.copied()).collect()
    }
}
