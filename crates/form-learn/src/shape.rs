//! The shape of the machines that one encoding is about: the number of states, and which edges are possible.

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
}
