//! The errors of the crate: what is wrong, where, and what was expected instead.

use std::path::PathBuf;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The errors of the crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A network whose layers do not fit together.
    #[error("{layer}: {problem}")]
    Layer {
        /// Where, for instance `image.2 (conv)`.
        layer: String,
        /// What does not fit.
        problem: String,
    },

    /// Data whose size is not what the network or the algorithm needs.
    #[error("{what}: {found} given, {expected} needed")]
    Size {
        /// Which data.
        what: &'static str,
        /// How much there was.
        found: usize,
        /// How much there should be.
        expected: usize,
    },

    /// A setting with an invalid value.
    #[error("{name} = {value}: {problem}")]
    Setting {
        /// Its name in the configuration.
        name: &'static str,
        /// What it was set to.
        value: String,
        /// Why it is invalid.
        problem: &'static str,
    },

    /// A loss or gradient that is infinite or not a number. The weights are those of before the step.
    #[error("training diverged: the {what} is {value}")]
    NonFinite {
        /// What was computed.
        what: &'static str,
        /// What came out.
        value: f32,
    },

    /// An error of `form-core`, for instance a machine that does not fit its signature.
    #[error(transparent)]
    Core(#[from] form_core::Error),

    /// An error of an environment.
    #[error(transparent)]
    World(#[from] form_env::Error),

    /// An input or output error on a weights file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },

    /// A weights file that is damaged, or not one at all.
    #[error("{}: not a weights file: {}", path.display(), in_words(source))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: safetensors::SafeTensorError,
    },

    /// A weights file that belongs to another network.
    #[error("{}: {problem}", path.display())]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// Which tensor differs, and how.
        problem: String,
    },
}

/// What is wrong with a weights file.
fn in_words(damage: &safetensors::SafeTensorError) -> String {
    use safetensors::SafeTensorError::{
        HeaderTooLarge, HeaderTooSmall, InvalidHeaderLength, MetadataIncompleteBuffer,
    };
    match damage {
        HeaderTooSmall => "it is empty or cut short".to_owned(),
        HeaderTooLarge => "it does not begin with the length of its header".to_owned(),
        InvalidHeaderLength | MetadataIncompleteBuffer => {
            "its length is not what its header says: it may be cut short".to_owned()
        }
        other => other.to_string(),
    }
}

/// Rejects data of the wrong size.
pub(crate) fn size(what: &'static str, found: usize, expected: usize) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::Size {
            what,
            found,
            expected,
        }),
    }
}
