//! First-order reward machines: the language, the machines with their buffer semantics, and the traces.
#![doc = ""]

mod error;
mod logic;
mod machine;
mod trace;

pub use error::{Error, Result, Snippet};
pub use logic::atom::{Atom, GroundAtom, Name, QuantifiedAtom, Quantifier, Term};
pub use logic::atom_set::{AtomId, AtomSet};
pub use logic::formula::{Formula, Node};
pub use logic::print::Notation;
pub use logic::signature::Signature;
pub use logic::truth::satisfies;
pub use machine::asp::{to_asp, trace_to_asp};
pub use machine::bound::BoundMachine;
pub use machine::check::{Findings, NeverFires, Overlap, check, first_overlap};
pub use machine::draw::{dot::to_dot, mermaid::to_mermaid, svg::to_svg, text::to_text};
pub use machine::equivalence::{
    CompareOptions, Comparison, Difference, Progress, Reaction, compare,
};
pub use machine::foreign::{
    Converted, ForeignFormat, ToroIcarteOptions, Undefined, detect, read_reference,
    read_toro_icarte, write_reference, write_toro_icarte,
};
pub use machine::ground::{GroundObservations, GroundOptions, ground};
pub use machine::machine::{Edge, EdgeId, Machine, MachineBuilder, StateId};
pub use machine::observations::Observations;
pub use machine::run::{Compressor, Monitor, Run, Step};
pub use machine::satisfy::Buffer;
pub use trace::dataset::{Contradiction, ContradictionReason, Dataset, Origin};
pub use trace::file::{TraceFile, read_signature};
pub use trace::recorder::Recorder;
pub use trace::replay::{Counterexample, ExplainedStep, Replay, explain};
pub use trace::trace::{Disagreement, Kind, Trace};
