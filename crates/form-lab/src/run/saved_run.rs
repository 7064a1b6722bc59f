//! A run as whoever uses it sees it: its configuration and the last checkpoint, whether it is over or still goes on.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use form_rl::{Agent, Checkpoint};

use super::folder::{FINAL, LATEST, RunFolder};
use crate::atomic_files::read_bytes;
use crate::config::RunConfig;
use crate::train::{CheckpointMetadata, TrainState};

/// A run to be evaluated, or to be transferred. Nothing is written, so it may be training meanwhile.
#[derive(Debug)]
pub struct SavedRun {
    /// Its folder.
    pub folder: RunFolder,
    /// Its configuration, with the places of files that it names.
    pub config: RunConfig,
    /// Its machine and its policies.
    pub checkpoint: Checkpoint,
    /// What it had come to.
    pub state: TrainState,
    file: PathBuf,
    bytes: Vec<u8>,
}

impl SavedRun {
    /// Reads a run from its folder: as it was when it was over, else as it is at present.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = RunFolder::open(path)?;
        let config = RunConfig::open(&folder.config())?;
        let checkpoints = [FINAL, LATEST].map(|name| folder.checkpoint(name));
        let Some(file) = checkpoints.into_iter().find(|file| file.exists()) else {
            let shown = path.display();
            match folder.result().exists() {
                true => bail!(
                    "{shown} has no checkpoint any more, and the run is over: make it anew with `form train --config {} --out FOLDER`",
                    folder.config().display()
                ),
                false => bail!(
                    "{shown} has no checkpoint: make the run anew with `form train --config {} --out FOLDER`",
                    folder.config().display()
                ),
            }
        };
        let (checkpoint, bytes) = read_checkpoint(&file)?;
        let metadata =
            CheckpointMetadata::of(&checkpoint).with_context(|| format!("{}", file.display()))?;
        metadata.expect_task(&folder.task())?;
        Ok(Self {
            folder,
            config,
            checkpoint,
            state: metadata.state,
            file,
            bytes,
        })
    }

    /// The checkpoint's file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What was in it.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The name of its task.
    pub fn task_name(&self) -> Result<String> {
        let written = RunConfig::from_toml(&self.folder.read_config()?, &self.folder.config())?;
        Ok(self.folder.task_name(&written.task))
    }

    /// Its agents.
    pub fn agents(&self) -> Result<Vec<Agent>> {
        Ok(self.checkpoint.agents(&self.config.ppo)?)
    }
}

/// A checkpoint, and what was in its file.
pub(crate) fn read_checkpoint(file: &Path) -> Result<(Checkpoint, Vec<u8>)> {
    loop {
        let bytes = read_bytes(file)?;
        let checkpoint = Checkpoint::load(file).context("the checkpoint cannot be read")?;
        // One that a run replaced meanwhile is read again.
        if read_bytes(file)? == bytes {
            return Ok((checkpoint, bytes));
        }
    }
}
