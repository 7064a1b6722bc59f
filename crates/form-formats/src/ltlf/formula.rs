//! Formulae of linear temporal logic over finite traces (De Giacomo and Vardi 2013), stored flat, in postfix order.

use form_core::Atom;
use form_core::syntax::Span;

/// A node of a formula; its operands come before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    True,
    False,
    /// Something observed in the present step.
    Atom(Atom),
    Not,
    And,
    Or,
    Implies,
    Iff,
    /// There is a next step, and the operand holds there.
    Next,
    /// If there is a next step, the operand holds there.
    WeakNext,
    Until,
    Release,
    Finally,
    Globally,
    /// There is a step before, and the operand held there.
    Yesterday,
    Since,
    Once,
    Historically,
}

/// What the operator of a node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tense {
    Present,
    Future,
    Past,
}

impl Node {
    /// The number of operands.
    pub(super) fn operands(&self) -> usize {
        match self {
            Self::True | Self::False | Self::Atom(_) => 0,
            Self::And
            | Self::Or
            | Self::Implies
            | Self::Iff
            | Self::Until
            | Self::Release
            | Self::Since => 2,
            _ => 1,
        }
    }

    pub(super) fn tense(&self) -> Tense {
        match self {
            Self::Next
            | Self::WeakNext
            | Self::Until
            | Self::Release
            | Self::Finally
            | Self::Globally => Tense::Future,
            Self::Yesterday | Self::Since | Self::Once | Self::Historically => Tense::Past,
            _ => Tense::Present,
        }
    }
}

/// A formula: its nodes in postfix order, each with its place in the text.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    pub(super) nodes: Vec<(Node, Span)>,
}

impl Formula {
    /// Whether it has past operators and no future ones: then it is about the newest step, as in PLTLf.
    pub(super) fn is_about_the_past(&self) -> bool {
        let has = |tense| self.nodes.iter().any(|(node, _)| node.tense() == tense);
        has(Tense::Past) && !has(Tense::Future)
    }
}
