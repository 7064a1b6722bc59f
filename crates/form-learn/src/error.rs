//! The errors of the crate: what is wrong, and what to do about it.

use std::path::PathBuf;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An external solver that is not installed.
    #[error("cannot find the program `{}`: {hint}", program.display())]
    MissingProgram {
        /// The program.
        program: PathBuf,
        /// How to get it.
        hint: &'static str,
    },

    /// An external solver that the system could not start or write to.
    #[error("cannot run `{}`: {source}", program.display())]
    Io {
        /// The program.
        program: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },

    /// An external solver that ended without an answer: it crashed, ran out of memory or refused its input.
    #[error("`{}` failed ({status}): {message}", program.display())]
    ProgramFailed {
        /// The program.
        program: PathBuf,
        /// Its exit status.
        status: String,
        /// The end of its output.
        message: String,
    },

    /// An external solver with output of an unexpected form.
    #[error("cannot read the answer of `{}`: {problem}", program.display())]
    BadAnswer {
        /// The program.
        program: PathBuf,
        /// The mistake in the output.
        problem: String,
    },

    /// A predicate whose name lifting uses itself.
    #[error(
        "the atom `{atom}`: names that begin with `{prefix}` are reserved for lifted learning: rename it"
    )]
    ReservedName {
        /// The atom.
        atom: String,
        /// The reserved beginning.
        prefix: &'static str,
    },

    /// A signature with too many atoms, quantified ones included.
    #[error(
        "the {atoms} atoms of the signature make more than {limit} atoms for edges, quantified ones included: remove atoms that no edge \
         needs, or give them fewer arguments"
    )]
    Vocabulary {
        /// The number of atoms of the signature.
        atoms: usize,
        /// The maximum size of the vocabulary.
        limit: usize,
    },

    /// A machine that an independent check refutes: it contradicts a trace or is not deterministic. Always a defect of the
    /// solver or of the encoding.
    #[error("the learnt machine is wrong, please report it: {problem}")]
    Refuted {
        /// The finding of the check.
        problem: String,
    },

    /// No machine has been learnt and proven minimal yet.
    #[error("there is no minimal machine to explain: learn one from the traces first")]
    NothingToExplain,

    /// A tolerance that no traces can exceed.
    #[error(
        "cannot tolerate {tolerated} misjudged traces of {traces}: a machine without edges would do; give a smaller number"
    )]
    Tolerance {
        /// The number of traces that may be misjudged.
        tolerated: u64,
        /// The number of traces, duplicates counted.
        traces: u64,
    },

    /// Weights of traces whose sum is beyond the range of 64 bits.
    #[error(
        "the weights of the traces add up to more than {}: give smaller weights",
        u64::MAX
    )]
    Weights,

    /// An error of the language, the machines or the traces.
    #[error(transparent)]
    Core(#[from] form_core::Error),
}
