//! First-order reward machines: the language, the machines with their buffer semantics, and the traces.
#![doc = ""]

mod error;
mod logic;
mod machine;

pub use error::{Error, Result, Snippet};
pub use logic::atom::{Atom, GroundAtom, Name, QuantifiedAtom, Quantifier, Term};
pub use logic::atom_set::{AtomId, AtomSet};
pub use logic::formula::{Formula, Node};
pub use logic::print::Notation;
pub use logic::signature::Signature;
pub use logic::truth::satisfies;
pub use machine::asp::{to_asp, trace_to_asp};
pub use machine::bound::BoundMachine;
pub use machine::draw::{dot::to_dot, mermaid::to_mermaid, svg::to_svg, text::to_text};
pub use machine::machine::{Edge, EdgeId, Machine, MachineBuilder, StateId};
pub use machine::run::{Compressor, Monitor, Run, Step};
