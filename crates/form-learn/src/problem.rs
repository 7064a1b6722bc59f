//! The learning problem.
//!
//! Given traces, find a machine that is consistent with all of them and deterministic, with the fewest states; among those,
//! with the fewest edges and literals together; among those, with the fewest ground atoms, then the fewest negations, then
//! the first in the order of its edges. So the same set of traces gives the same machine.

use form_core::{BoundMachine, Kind, Signature};

use crate::counterexamples::counterexamples;
use crate::options::Options;
use crate::outcome::Learnt;
use crate::prefix_tree::PrefixTree;
use crate::shape::Shape;
use crate::traces::{TracePrefix, TraceSet};
use crate::vocabulary::LearnableAtom;

/// The traces, and the machines that are searched.
pub(crate) struct Problem {
    pub(crate) signature: Signature,
    pub(crate) options: Options,
    /// The atoms that edges are made of.
    pub(crate) vocabulary: Vec<LearnableAtom>,
    pub(crate) traces: TraceSet,
}

impl Problem {
    /// A machine over the signature's atoms, ready to run.
    pub(crate) fn bind(&self, learnt: &Learnt) -> BoundMachine {
        (learnt.machine.bind(&self.signature)).expect("edges are made of the signature's atoms")
    }

    /// Counterexamples to a machine, among the traces from number `from` on.
    pub(crate) fn counterexamples(&self, learnt: &Learnt, from: usize) -> Vec<TracePrefix> {
        counterexamples(&self.traces, &self.bind(learnt), from)
    }

    /// The prefix tree without traces.
    pub(crate) fn empty_tree(&self) -> PrefixTree {
        let foralls = (self.vocabulary.iter())
            .filter(|atom| atom.forall)
            .map(|atom| atom.mask.clone());
        PrefixTree::new(foralls.collect())
    }

    /// The traces that a search starts from: the shortest goal and the shortest dead end.
    pub(crate) fn seeds(&self) -> PrefixTree {
        let mut tree = self.empty_tree();
        let ends = [Kind::Goal, Kind::DeadEnd].into_iter();
        for seed in ends.filter_map(|kind| self.traces.shortest(kind)) {
            self.plant(&mut tree, &seed);
        }
        tree
    }

    /// Adds a prefix of a trace to a prefix tree.
    pub(crate) fn plant(&self, tree: &mut PrefixTree, prefix: &TracePrefix) {
        let steps = self.traces.steps(prefix);
        tree.add(prefix.kind, steps, self.traces.observations());
    }

    /// The shape of machines with this number of states.
    pub(crate) fn shape(&self, states: usize) -> Shape {
        let reached = [Kind::Goal, Kind::DeadEnd].map(|kind| self.traces.has(kind));
        Shape {
            states,
            rejecting: reached[1],
            reached,
            options: self.options.clone(),
        }
    }
}
