//! The traces: recording, reading and writing, replaying a machine, and data sets.

pub(crate) mod archive;
pub(crate) mod block;
pub(crate) mod dataset;
pub(crate) mod file;
pub(crate) mod line;
pub(crate) mod recorder;
pub(crate) mod replay;
pub(crate) mod signature_file;
pub(crate) mod sink;
#[expect(clippy::module_inception, reason = "the folder's main piece")]
pub(crate) mod trace;
