//! The learning problem.
//!
//! Given traces, find a machine that is consistent with all of them and deterministic, with the fewest states; among those,
//! with the fewest edges and literals together; among those, with the fewest ground atoms, then the fewest negations, then
//! the first in the order of its edges. So the same set of traces gives the same machine.

use std::cmp::Reverse;
use std::collections::HashMap;

use form_core::{BoundMachine, Kind, Signature};

use crate::budget::Budget;
use crate::counterexamples::{Mistake, counterexamples, select};
use crate::cuts;
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
        let windows = (self.vocabulary.iter())
            .filter_map(|atom| Some((atom.mask.clone(), atom.window.clone()?)));
        PrefixTree::new(windows.collect())
    }

    /// The traces that the search for a machine starts from: the shortest goal and the shortest dead end.
    pub(crate) fn shortest_seeds(&self) -> PrefixTree {
        let ends = [Kind::Goal, Kind::DeadEnd].into_iter();
        self.tree_of(ends.filter_map(|kind| self.traces.shortest(kind)))
    }

    /// The traces that the relaxation starts from: the strongest, which are long. With cycles any trace has ways enough: short ones.
    pub(crate) fn strongest_seeds(&self, states: usize, budget: &Budget) -> PrefixTree {
        if self.options.cyclic {
            return self.shortest_seeds();
        }
        let seeds = match self.options.first_order {
            true => SEEDS.max(3 * states),
            false => 2 * SEEDS,
        };
        self.tree_of(self.strongest(states, seeds, budget).into_iter())
    }

    fn tree_of(&self, traces: impl Iterator<Item = TracePrefix>) -> PrefixTree {
        let mut tree = self.empty_tree();
        for trace in traces {
            self.plant(&mut tree, &trace);
        }
        tree
    }

    /// The number of ways to cut a trace into at most this number of stays.
    pub(crate) fn cuts(&self, trace: usize, states: usize) -> f64 {
        cuts::count(self.traces.steps(&self.traces.whole(trace)), states)
    }

    /// For each kind of end, this number of traces: those with the fewest ways to cut them into stays. Once a limit is reached, the
    /// longest.
    pub(crate) fn strongest(
        &self,
        states: usize,
        number: usize,
        budget: &Budget,
    ) -> Vec<TracePrefix> {
        let mut strongest = Vec::new();
        for kind in [Kind::Goal, Kind::DeadEnd] {
            let ends = (self.traces.from(0).iter().enumerate()).filter(|(_, (of, _))| *of == kind);
            let mut ends: Vec<(usize, usize)> =
                ends.map(|(i, (_, steps))| (steps.len(), i)).collect();
            // Long traces have few ways: of very many traces, the others are not counted.
            ends.sort_by_key(|(length, i)| (Reverse(*length), *i));
            ends.truncate(COUNTED);
            let mut ends: Vec<(f64, usize)> = (ends.into_iter().enumerate())
                .take_while(|(rank, _)| *rank < number || budget.check().is_some())
                .map(|(_, (_, i))| (self.cuts(i, states), i))
                .collect();
            ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let chosen = ends.into_iter().take(number);
            strongest.extend(chosen.map(|(_, i)| self.traces.whole(i)));
        }
        strongest
    }

    /// Selects counterexamples for the relaxation, at most this number of each mistake: missed ends with the fewest ways to cut them, and
    /// short prefixes. The ways of each trace are counted once and `known` from then on.
    pub(crate) fn select(
        &self,
        mut found: Vec<(Mistake, TracePrefix)>,
        per_mistake: usize,
        states: usize,
        known: &mut HashMap<usize, f64>,
    ) -> Vec<TracePrefix> {
        select(
            &self.traces,
            &mut found,
            per_mistake,
            |prefix| match prefix.kind {
                Kind::Incomplete => prefix.length as f64,
                _ if self.options.cyclic => prefix.length as f64,
                _ => *known
                    .entry(prefix.trace)
                    .or_insert_with(|| self.cuts(prefix.trace, states)),
            },
        )
    }

    /// Whether stays bound the number of states of machines without cycles.
    pub(crate) fn counts_stays(&self) -> bool {
        let shape = self.shape(1);
        shape.options.techniques.stays && shape.moves_at_new_observations()
    }

    /// Lower bound on the number of states of a machine without cycles: the most stays that a trace needs.
    pub(crate) fn stays(&self) -> usize {
        match self.counts_stays() {
            true => self.traces.stays().max(1),
            false => 1,
        }
    }

    /// Lower bound on the cost of machines with this number of states, of which one fewer has been refuted.
    ///
    /// If a trace has more stays than states, a machine has a cycle: then one more pair of states is connected than those that every
    /// machine connects.
    pub(crate) fn lowest_cost(&self, states: usize) -> usize {
        let cycles = self.options.techniques.connections && self.stays() > states;
        self.shape(states).lowest_cost(usize::from(cycles))
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
            soft: false,
            step_mode: self.traces.step_mode(),
            options: self.options.clone(),
        }
    }

    /// The shape of machines with this number of states that may misjudge traces: no end must be reached.
    pub(crate) fn soft_shape(&self, states: usize) -> Shape {
        Shape {
            reached: [false; 2],
            soft: true,
            ..self.shape(states)
        }
    }
}

/// How many traces of each end the relaxation starts from, where stays can be counted: with quantifiers at least this many, and three per
/// state; without them twice as many.
const SEEDS: usize = 10;
/// For how many traces of each end the ways are counted.
const COUNTED: usize = 400;
