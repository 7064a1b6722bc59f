//! More iterations for a run than it was given at first.
//!
//! How many iterations a run may have is asked after each of them and nowhere else, so a run that is given more comes to the result
//! of one that had as many from the beginning, to the byte. Killed at whatever moment, it is the run that it was or the longer one.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use form_rl::Checkpoint;

use super::{FINAL, LATEST, RunResult, expect_config};
use crate::atomic::{cannot, write_atomically};
use crate::config::RunConfig;
use crate::display::counted;
use crate::run_folder::RunFolder;
use crate::tally::{Ending, Notes};

/// Gives a run that was stopped, or has used its iterations up, so many of them in all. Then it can go on.
pub fn extend(path: &Path, iterations: u64) -> Result<()> {
    let (folder, _lock) = RunFolder::resume(path)?;
    let shown = path.display();
    if let Some(result) = RunResult::of_run(&folder)?
        && result.ending != Ending::OutOfIterations.as_str()
    {
        bail!(
            "{shown}: more iterations would change nothing, it is not for want of them that the run is over: {}",
            result.message
        );
    }
    let mut config = RunConfig::from_toml(&folder.read_config()?, &folder.config())?;
    let latest = folder.checkpoint(LATEST);
    let checkpoint = Checkpoint::load(&latest).with_context(|| {
        format!(
            "{shown} cannot go on, its checkpoint cannot be read: make the longer run with `form train --config {} --iterations {iterations} --out FOLDER`",
            folder.config().display()
        )
    })?;
    let notes = Notes::of(&checkpoint).with_context(|| format!("{}", latest.display()))?;
    expect_config(&folder, &config, &notes)?;
    let made = notes.tally.iteration;
    if iterations <= made {
        let made = counted(made, "iteration");
        bail!("{shown} has made {made} already: give a larger number to --iterations");
    }
    config.iterations = iterations;
    // In this order: the run is over until the last file is gone, and whoever asks for it meanwhile finds its last checkpoint.
    write_atomically(&folder.config(), config.to_toml()?.as_bytes())?;
    for file in [folder.checkpoint(FINAL), folder.result()] {
        if file.exists() {
            fs::remove_file(&file).map_err(|error| cannot("remove", &file, error))?;
        }
    }
    Ok(())
}
