//! The errors of the crate: what is wrong and what to do about it.

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
        /// What was to be run.
        program: PathBuf,
        /// How to get it.
        hint: &'static str,
    },

    /// An external solver that could not be started or fed, for a reason of the system.
    #[error("cannot run `{}`: {source}", program.display())]
    Io {
        /// What was to be run.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// An external solver that ended without an answer: it crashed, ran out of memory or refused its input.
    #[error("`{}` failed ({status}): {message}", program.display())]
    ProgramFailed {
        /// What was run.
        program: PathBuf,
        /// How it ended.
        status: String,
        /// What it printed about it.
        message: String,
    },

    /// An external solver whose answer is not of the expected form.
    #[error("cannot read the answer of `{}`: {problem}", program.display())]
    BadAnswer {
        /// What was run.
        program: PathBuf,
        /// What is wrong with the answer.
        problem: String,
    },

    /// A signature whose atoms, alone and quantified, are too many to make edges of.
    #[error(
        "the {atoms} atoms of the signature make more than {limit} that could stand on an edge, quantified ones included: leave out those \
         that no edge needs, or give them fewer arguments"
    )]
    Vocabulary {
        /// The atoms of the signature.
        atoms: usize,
        /// The most there may be, with the quantified ones.
        limit: usize,
    },

    /// A machine that an independent check refutes: it contradicts a trace or is not deterministic. Always a defect of
    /// the solver or of the encoding.
    #[error("the machine that was found is wrong, please report it: {problem}")]
    Refuted {
        /// What the check found.
        problem: String,
    },

    /// Walks that cannot be recorded as they were asked for.
    #[error("cannot record the walks: {problem}")]
    Walks {
        /// What stands against it.
        problem: String,
    },

    /// No machine has been learnt and proven minimal that could be explained.
    #[error("there is no minimal machine to explain: learn one from the traces first")]
    NothingToExplain,

    /// An error of the language, the machines or the traces.
    #[error(transparent)]
    Core(#[from] form_core::Error),
}
