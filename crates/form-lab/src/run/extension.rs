//! More iterations for a run (`--resume --iterations N`).
//!
//! The number of iterations is only checked after each of them, so an extended run reaches the same result, byte by byte, as one that
//! had as many from the start. Killed at any moment, the folder holds the shorter run or the longer one.

use std::fs;

use anyhow::{Result, bail};

use super::folder::{FINAL, RunFolder};
use super::result::RunResult;
use crate::atomic_files::{cannot, write_atomically};
use crate::config::RunConfig;
use crate::display::counted;
use crate::train::{CheckpointMetadata, StopCause};

/// Refuses a run that more iterations would not change, and a number that is not larger.
pub(super) fn expect_use(
    folder: &RunFolder,
    metadata: &CheckpointMetadata,
    iterations: u64,
) -> Result<()> {
    let shown = folder.path().display();
    let result = RunResult::of_run(folder)?;
    let ended = (result.as_ref().map(|result| result.ending.as_str())).or(metadata
        .state
        .stop_cause
        .as_ref()
        .map(StopCause::as_str));
    if let Some(ending) = ended
        && ending != StopCause::OutOfIterations.as_str()
    {
        let message = result.as_ref().map_or(ending, |result| &result.message);
        bail!(
            "{shown}: more iterations would change nothing: the run stopped for another reason: {message}"
        );
    }
    let made = metadata.state.iteration;
    if iterations <= made {
        let made = counted(made, "iteration");
        bail!("{shown} has already made {made}: give --iterations a larger number");
    }
    Ok(())
}

/// Turns the folder into that of the longer run. The configuration comes last: until then, the folder holds the shorter run, which
/// would write the removed files again.
pub(super) fn extend(folder: &RunFolder, longer: &RunConfig) -> Result<()> {
    for file in [folder.result(), folder.report(), folder.checkpoint(FINAL)] {
        if file.exists() {
            fs::remove_file(&file).map_err(|error| cannot("remove", &file, error))?;
        }
    }
    write_atomically(&folder.config(), longer.to_toml()?.as_bytes())
}
