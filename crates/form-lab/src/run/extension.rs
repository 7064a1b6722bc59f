//! More iterations for a run than it was given at first.
//!
//! How many iterations a run may have is asked after each of them and nowhere else, so a run that is given more comes to the result
//! of one that had as many from the beginning, to the byte. Killed at whatever moment, it is the run that it was or the longer one.

use std::fs;

use anyhow::{Result, bail};

use super::folder::{FINAL, RunFolder};
use super::result::RunResult;
use crate::atomic_files::{cannot, write_atomically};
use crate::config::RunConfig;
use crate::display::counted;
use crate::train::{CheckpointMetadata, StopCause};

/// Refuses a run that more iterations would not change, or that has made as many already.
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
            "{shown}: more iterations would change nothing, it is not for want of them that the run is over: {message}"
        );
    }
    let made = metadata.state.iteration;
    if iterations <= made {
        let made = counted(made, "iteration");
        bail!("{shown} has made {made} already: give a larger number to --iterations");
    }
    Ok(())
}

/// Makes the folder that of the longer run. Its configuration comes last: before that, the last checkpoint is the end of the shorter
/// one, which comes to the same files when it goes on.
pub(super) fn give(folder: &RunFolder, longer: &RunConfig) -> Result<()> {
    for file in [folder.result(), folder.report(), folder.checkpoint(FINAL)] {
        if file.exists() {
            fs::remove_file(&file).map_err(|error| cannot("remove", &file, error))?;
        }
    }
    write_atomically(&folder.config(), longer.to_toml()?.as_bytes())
}
