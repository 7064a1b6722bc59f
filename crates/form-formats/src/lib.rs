//! First-order reward machines in foreign formats.
//!
//! - **Text files**: the machines of the paper's reference code and of Toro Icarte et al. [`MachineFormat::detect`] tells
//!   formats apart by content, [`read_machine`] and [`write_machine`] read and write any of them, this project's own
//!   included. The errors are those of [`form_core`]: a mistake has its place in the text, and a machine that a format
//!   cannot express is [`form_core::Error::Inexpressible`].
//! - **Temporal logic**: [`read_ltlf`] makes the smallest machine of a formula of LTLf.
//! - **Event logs**: [`read_csv_log`] and [`read_xes_log`] turn the cases of a log into traces.
//! - **Answer set programs**: [`to_asp`], [`trace_to_asp`] and [`atom_to_asp`] write machines, traces and atoms in the
//!   vocabulary of the paper, for clingo and ILASP.

mod asp;
mod event_log;
mod format;
mod literal;
mod ltlf;
mod reference;
mod toro_icarte;

pub use asp::machine::{atom_to_asp, to_asp, trace_to_asp};
pub use event_log::{EventLog, EventLogOptions, read_csv_log, read_xes_log};
pub use format::{MachineFormat, read_machine, write_machine};
pub use ltlf::read_ltlf;
pub use reference::{read_reference, write_reference};
pub use toro_icarte::{ToroIcarteOptions, Unmatched, read_toro_icarte, write_toro_icarte};

/// A machine read from a file.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The machine.
    pub machine: form_core::Machine,
    /// Remarks for the user: defaults that differ, parts that were added or left out.
    pub notes: Vec<String>,
}
