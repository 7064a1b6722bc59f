//! A saved run, finished or not: its configuration and its last checkpoint, for evaluation, transfer and reports.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use form_env::Worlds;
use form_rl::{Agent, Checkpoint, Player};

use super::folder::{FINAL, LATEST, RunFolder};
use crate::atomic_files::read_bytes;
use crate::config::RunConfig;
use crate::game_setup::{assignment, game_config, hidden_size};
use crate::train::{CheckpointMetadata, TrainState};

/// A run, read from its folder. Reading changes nothing, so the run may be training meanwhile.
#[derive(Debug)]
pub struct SavedRun {
    /// Its folder.
    pub folder: RunFolder,
    /// Its configuration, with the paths of the files that it names.
    pub config: RunConfig,
    /// Its machine and its policies.
    pub checkpoint: Checkpoint,
    /// How far it had come.
    pub state: TrainState,
    file: PathBuf,
    bytes: Vec<u8>,
}

impl SavedRun {
    /// Reads a run: its final checkpoint, otherwise its latest.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = RunFolder::open(path)?;
        let config = RunConfig::open(&folder.config())?;
        let checkpoints = [FINAL, LATEST].map(|name| folder.checkpoint(name));
        let Some(file) = checkpoints.into_iter().find(|file| file.exists()) else {
            let shown = path.display();
            match folder.result().exists() {
                true => bail!(
                    "{shown}: the run is over, but its checkpoint is gone: repeat the run with `form train --config {} --out FOLDER`",
                    folder.config().display()
                ),
                false => bail!(
                    "{shown} has no checkpoint: repeat the run with `form train --config {} --out FOLDER`",
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

    /// The file of the checkpoint.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The bytes of the checkpoint.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The name of the task.
    pub fn task_name(&self) -> Result<String> {
        let written = RunConfig::from_toml(&self.folder.read_config()?, &self.folder.config())?;
        Ok(self.folder.task_name(&written.task))
    }

    /// Its agents.
    pub fn agents(&self) -> Result<Vec<Agent>> {
        Ok(self.checkpoint.agents(&self.config.ppo)?)
    }

    /// Its policies, to be asked step by step in the first of these worlds.
    pub fn player<W: Worlds + Clone>(&self, worlds: &W) -> Result<Player> {
        let config = &self.config;
        let assignment = assignment(config, worlds, &self.checkpoint.machine)?;
        let (game, hidden) = (game_config(config), hidden_size(config));
        Ok(Player::new(
            worlds,
            assignment,
            game,
            self.agents()?,
            hidden,
        )?)
    }
}

/// Reads a checkpoint and its bytes.
pub(crate) fn read_checkpoint(file: &Path) -> Result<(Checkpoint, Vec<u8>)> {
    loop {
        let bytes = read_bytes(file)?;
        let checkpoint = Checkpoint::load(file).context("the checkpoint cannot be read")?;
        // A run may have replaced the file meanwhile.
        if read_bytes(file)? == bytes {
            return Ok((checkpoint, bytes));
        }
    }
}
