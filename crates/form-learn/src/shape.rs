//! The shape of the machines that one encoding is about: the number of states, and which edges are possible.

use form_core::{Formula, Machine, StepMode};

use crate::options::Options;

/// The shape of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The number of states that are neither accepting nor rejecting.
    pub(crate) states: usize,
    /// Whether there is a rejecting state.
    pub(crate) rejecting: bool,
    /// Whether traces reach the accepting and the rejecting state, so that an edge must lead there.
    pub(crate) reached: [bool; 2],
    /// Whether traces may be misjudged: then a run may end anywhere.
    pub(crate) soft: bool,
    /// Which environment steps the machine observes: those of the traces.
    pub(crate) step_mode: StepMode,
    pub(crate) options: Options,
}

impl Shape {
    /// The number of the accepting state.
    pub(crate) fn accept(&self) -> usize {
        self.states
    }

    /// The number of the rejecting state, if there is one.
    pub(crate) fn reject(&self) -> usize {
        self.states + 1
    }

    /// The possible targets of edges from a state. Without cycles, states are numbered topologically: edges lead upwards.
    pub(crate) fn targets(&self, from: usize) -> Vec<usize> {
        let cyclic = self.options.cyclic;
        let inner = (0..self.states).filter(|to| if cyclic { *to != from } else { *to > from });
        let terminal = [self.accept(), self.reject()].into_iter();
        (inner.chain(terminal.take(1 + usize::from(self.rejecting)))).collect()
    }

    /// The machine of this shape with these edges: source, target and guard.
    pub(crate) fn machine(&self, edges: impl Iterator<Item = (usize, usize, Formula)>) -> Machine {
        let name = |state: usize| match state {
            state if state == self.accept() => "u_acc".to_owned(),
            state if state == self.reject() => "u_rej".to_owned(),
            state => format!("u{state}"),
        };
        let edges: Vec<(usize, usize, Formula)> = edges.collect();
        // Where traces may be misjudged, no edge may lead to the rejecting state: then there is none.
        let enters = |target: usize| edges.iter().any(|(_, to, _)| *to == target);
        let rejecting = self.rejecting && (!self.soft || enters(self.reject()));
        let mut builder = Machine::builder("learnt")
            .states((0..self.states + 1 + usize::from(rejecting)).map(name))
            .initial("u0")
            .accept("u_acc")
            .step_mode(self.step_mode);
        if rejecting {
            builder = builder.reject("u_rej");
        }
        for (from, to, formula) in edges {
            builder = builder.edge_with(&name(from), &name(to), formula, None);
        }
        builder
            .build()
            .expect("the names are made here and fit together")
    }

    /// Whether an edge must lead to this target: to every state but the first, and to each terminal state that traces reach.
    pub(crate) fn is_entered(&self, target: usize) -> bool {
        match target {
            0 => false,
            to if to == self.accept() => self.reached[0],
            to if to == self.reject() => self.reached[1],
            _ => true,
        }
    }

    /// The number of targets that edges must lead to.
    pub(crate) fn entered(&self) -> usize {
        let targets = 0..self.states + 2;
        targets.filter(|to| self.is_entered(*to)).count()
    }

    /// Lower bound on the cost of machines that connect this number of pairs of states more than they must: each pair costs an edge and a
    /// literal, and all but one of the targets of a state need a negation to exclude each other.
    pub(crate) fn lowest_cost(&self, more: usize) -> usize {
        let connections = self.entered() + more;
        2 * connections + connections.saturating_sub(self.states)
    }

    /// Whether an observation that a stay has seen before causes no move (the lemma of [`cuts`](crate::cuts)).
    pub(crate) fn moves_at_new_observations(&self) -> bool {
        // A `once` beside another literal can turn true before it: then the other one moves, seen before or not.
        !self.options.windows() && (!self.options.first_order || self.options.forall_alone)
    }

    /// Whether the newest observation decides a move, or a `forall` that becomes complete: see [`cuts`](crate::cuts). Runs that may
    /// end anywhere are so only without cycles.
    pub(crate) fn has_tables(&self) -> bool {
        let ends = !self.soft || !self.options.cyclic;
        self.options.techniques.stays && self.moves_at_new_observations() && ends
    }

    /// Whether numbers of states are refuted by [pieces](crate::pieces) of traces.
    pub(crate) fn has_pieces(&self) -> bool {
        self.options.cyclic && self.options.techniques.pieces
    }

    /// Whether machines can be searched for skeleton by skeleton.
    pub(crate) fn has_skeletons(&self) -> bool {
        let techniques = &self.options.techniques;
        techniques.skeletons && techniques.relaxation && self.has_tables() && !self.options.cyclic
    }
}
