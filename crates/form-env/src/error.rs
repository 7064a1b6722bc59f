//! The errors of the crate: what is wrong, where, and what to do about it.

use std::error::Error as StdError;
use std::io;

use form_core::Snippet;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The errors of the crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A task file that does not say what it should, with the place and a picture of it.
    #[error("{0}")]
    Syntax(Box<Snippet>),

    /// The text of a task's machine is broken.
    #[error("{source}")]
    Machine {
        /// What is wrong with it, and where.
        source: form_core::Error,
    },

    /// An invalid task.
    #[error("task `{task}`: {problem}")]
    Task {
        /// The task.
        task: String,
        /// What is wrong with it.
        problem: String,
    },

    /// An invalid room.
    #[error("{0}")]
    Room(String),

    /// A map of letters that cannot be read or drawn.
    #[error("map: {0}")]
    Map(String),

    /// A table that is not a labelled MDP.
    #[error("{0}")]
    Table(String),

    /// No built-in task has this name.
    #[error("no task `{name}`: {}there are {known}; a file of your own ends in .toml", meant(.nearest.as_deref()))]
    UnknownTask {
        /// The name that was given.
        name: String,
        /// The name that is likely to be meant.
        nearest: Option<String>,
        /// The names of all built-in tasks.
        known: String,
    },

    /// No valid map was found among random draws.
    #[error("task `{task}`: none of {draws} maps drawn {wanted}")]
    NoMap {
        /// The task.
        task: String,
        /// How many were drawn.
        draws: usize,
        /// What was asked of them.
        wanted: &'static str,
    },

    /// An action out of range.
    #[error("no action {action}: there are {actions}, counted from 0")]
    NoSuchAction {
        /// The action that was given.
        action: usize,
        /// The number of actions.
        actions: usize,
    },

    /// Too few or too many of something.
    #[error("expected {expected} {what}, got {given}")]
    WrongNumber {
        /// Of what.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there were.
        given: usize,
    },

    /// Nothing where there must be something.
    #[error("no {what}: at least one is needed")]
    None {
        /// Of what.
        what: &'static str,
    },

    /// An atom whose cells an environment does not know.
    #[error(
        "the environment cannot say in which cells `{atom}` is observed (`Environment::cells_of`): reach-avoid policies need a map of all atoms"
    )]
    Unplaceable {
        /// The atom.
        atom: String,
    },

    /// A machine that observes every step, for which walking is not free.
    #[error(
        "the machine {machine} has `steps all`: the planner of reach-avoid policies needs one with `steps changes`, for which steps \
         without labels change nothing; train policies for it instead"
    )]
    EveryStep {
        /// Its name.
        machine: String,
    },

    /// A file that cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },

    /// A picture that cannot be drawn or written.
    #[error("cannot draw the picture: {0}")]
    Picture(String),

    /// An error of an environment outside this crate.
    #[error("the environment failed: {0}")]
    Environment(#[source] Box<dyn StdError + Send + Sync>),
}

impl Error {
    /// Names the file the error is in, where it has a place but no file yet.
    #[must_use]
    pub fn in_file(self, name: &str) -> Self {
        match self {
            Self::Syntax(snippet) => Self::Syntax(Box::new(snippet.in_file(name))),
            Self::Machine { source } => Self::Machine {
                source: source.in_file(name),
            },
            other => other,
        }
    }

    /// The file that the error is in, where it is known.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Syntax(snippet) => snippet.file(),
            Self::Machine { source } => source.file(),
            Self::Io { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The line and column of the error, from 1, where it has them.
    pub fn position(&self) -> Option<(usize, usize)> {
        match self {
            Self::Syntax(snippet) => Some(snippet.position()),
            Self::Machine { source } => source.position(),
            _ => None,
        }
    }
}

/// The question whether a name is meant.
fn meant(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("is `{name}` meant? "))
}
