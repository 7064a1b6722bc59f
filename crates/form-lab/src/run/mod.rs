//! A run in its folder: created, written to while it trains, resumed after a stop, and read by everything that uses it.
//!
//! `folder` says which file is where and who may write; `session` trains; `run_writer` writes each iteration, with `events` for
//! TensorBoard; `resume_check` reads a folder before a run resumes; `extension` adds iterations; `result` is `result.json`;
//! `saved_run` is a run as evaluation, transfer and the report see it.

mod events;
mod extension;
mod folder;
mod progress_text;
mod result;
mod resume_check;
mod run_writer;
mod saved_run;
mod session;

pub use self::folder::RunFolder;
pub(crate) use self::folder::{LATEST, TrainingLock};
pub use self::result::RunResult;
pub use self::saved_run::SavedRun;
pub(crate) use self::saved_run::read_checkpoint;
pub use self::session::{Finish, Resumed, Session};
