//! The language of edges: atoms, signatures, observations and formulae (paper, Section 3.1).

pub(crate) mod atom;
pub(crate) mod atom_set;
pub(crate) mod dnf;
pub(crate) mod formula;
pub(crate) mod identifier;
pub(crate) mod lexer;
pub(crate) mod names;
pub(crate) mod parse;
pub(crate) mod print;
pub(crate) mod signature;
pub(crate) mod truth;
