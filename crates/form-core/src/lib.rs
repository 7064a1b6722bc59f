//! First-order reward machines: the language, the machines with their buffer semantics, and the traces.
//!
//! A reward machine is an automaton over high-level events that tells an agent what to do next and when it is done. Its
//! edges carry first-order formulae, so that "visit all yellow checkpoints, then the goal" has two edges whatever the
//! number of checkpoints:
//!
//! ```
#![doc = include_str!("../examples/all_yellow.rs")]
//! ```
//!
//! - **The language**: [`Formula`]s over [`Atom`]s, read with `parse` and printed by `Display`; a [`Signature`] lists the
//!   ground atoms that can be observed, an [`AtomSet`] is an observation. [`satisfies`] is the definition of truth.
//! - **The machines**: a [`Machine`] is validated and lifted; [bound](Machine::bind) to a signature it becomes a
//!   [`BoundMachine`], which a [`Run`] or a [`Monitor`] steps. [`check`] finds what is wrong with it, [`ground`] removes
//!   its quantifiers, [`compare`] tells two apart, [`to_svg`] draws it.
//! - **The traces**: a [`Recorder`] makes [`Trace`]s, a [`TraceFile`] streams them, a [`Replay`] puts a machine to the
//!   test, a [`Dataset`] finds duplicates and contradictions.
//!
//! [`syntax`] is for crates that read and write other formats.

mod error;
mod logic;
mod machine;
pub mod speed;
pub mod syntax;
mod trace;

pub use error::{Error, Result, Snippet};
pub use logic::atom::{Atom, GroundAtom, Literal, QuantifiedAtom, Quantifier, Term};
pub use logic::atom_set::{AtomId, AtomSet};
pub use logic::dnf::{Cube, absorb, dnf};
pub use logic::formula::{Formula, Node};
pub use logic::identifier::Name;
pub use logic::print::Notation;
pub use logic::signature::Signature;
pub use logic::truth::satisfies;
pub use machine::bound::BoundMachine;
pub use machine::builder::MachineBuilder;
pub use machine::check::{Findings, NeverFires, Overlap, Undecided, check, overlaps};
pub use machine::draw::{dot::to_dot, mermaid::to_mermaid, svg::to_svg, text::to_text};
pub use machine::equivalence::{CompareOptions, Comparison, Difference, Reaction, compare};
pub use machine::ground::{GroundObservations, GroundOptions, ground};
pub use machine::machine::{Edge, EdgeId, Machine, MachineStatus, StateId};
pub use machine::observations::Observations;
pub use machine::run::{Monitor, Run, Step};
pub use machine::satisfy::Buffer;
pub use machine::step_mode::{Compressor, StepMode};
pub use trace::dataset::{Contradiction, ContradictionReason, Dataset, Origin};
pub use trace::file::TraceFile;
pub use trace::recorder::Recorder;
pub use trace::replay::{Counterexample, ExplainedStep, Misjudged, Replay, explain};
pub use trace::signature_file::read_signature;
pub use trace::sink::Dropped;
pub use trace::trace::{Disagreement, Kind, Trace, trace_header};
