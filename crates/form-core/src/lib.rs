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
pub use machine::bound::BoundMachine;
pub use machine::foreign::{
    Converted, ForeignFormat, ToroIcarteOptions, Undefined, detect, read_reference,
    read_toro_icarte, write_reference, write_toro_icarte,
};
pub use machine::machine::{Edge, EdgeId, Machine, MachineBuilder, StateId};
pub use machine::run::{Compressor, Monitor, Run, Step};
