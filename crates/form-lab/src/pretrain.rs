//! Training of the policy for sub-tasks in a folder: `form pretrain`.
//!
//! The folder has the configuration, one row per update in `metrics.csv`, a checkpoint to resume from, `policy.safetensors` and
//! `result.json`. Training takes seconds; what was killed resumes to the same bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use form_env::{Room, Task};
use form_rl::{
    Chooser, Imitation, ImitationConfig, PolicyOrigin, ReachAvoidPolicy, SubTaskOutcomes, SubTasks,
    evaluate_sub_tasks,
};
use serde::{Deserialize, Serialize};

use crate::atomic_files::{read_text, write_atomically};
use crate::metrics::{Row, Table};
use crate::run::{LATEST, RunFolder, TrainingLock};

/// Updates between two checkpoints.
const CHECKPOINT_EVERY: u64 = 25;

/// The name of the policy's file in its folder.
const POLICY: &str = "policy.safetensors";

/// The name of the paper's room.
const PAPER: &str = "paper";

/// The seed of all evaluations: policies of different seeds are measured on the same sub-tasks.
const EVALUATION_SEED: u64 = 2025;

/// Sides of the rooms, drawn at random, that a policy is measured in besides its own.
const SIDES: [usize; 3] = [9, 17, 25];

/// The configuration of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PretrainConfig {
    /// What the policy was made by.
    pub command: String,
    /// The room that half of the sub-tasks are in: `paper`, or the task that it is from.
    pub room: String,
    /// Its picture.
    pub rows: Vec<String>,
    /// Sub-tasks per evaluation.
    pub evaluation: u64,
    /// Hyperparameters.
    pub imitation: ImitationConfig,
}

impl PretrainConfig {
    /// A training in this room, a task or a task file [default: the paper's], with this number of updates [default: 900].
    pub fn new(room: Option<&str>, seed: u64, iterations: Option<u64>) -> Result<Self> {
        let rows = match room {
            Some(task) => Task::find(task)?.room().rows(),
            None => Room::paper().rows(),
        };
        let mut command = format!("form pretrain --seed {seed}");
        let mut imitation = ImitationConfig {
            seed,
            ..ImitationConfig::default()
        };
        if let Some(room) = room {
            command += &format!(" --room {room}");
        }
        if let Some(iterations) = iterations {
            command += &format!(" --iterations {iterations}");
            imitation = imitation.with_iterations(iterations);
        }
        Ok(Self {
            command,
            room: room.unwrap_or(PAPER).to_owned(),
            rows,
            evaluation: 1000,
            imitation,
        })
    }

    fn rooms(&self) -> Result<Vec<Room>> {
        Ok(vec![Room::from_rows(&self.rows)?])
    }
}

/// One update, a row of `metrics.csv`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PretrainRow {
    /// The number of the update.
    pub iteration: u64,
    /// The mean loss of the sub-tasks.
    pub loss: f32,
    /// The share of poses in which the greedy action is optimal.
    pub optimal: f32,
    /// The gradient norm before clipping.
    pub gradient: f32,
}

impl Row for PretrainRow {
    fn iteration(&self) -> u64 {
        self.iteration
    }
}

/// A policy measured in one family of rooms, on sub-tasks that no training draws; all that were started count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubTaskEvaluation {
    /// Which rooms.
    pub rooms: String,
    /// The most probable actions.
    pub greedy: SubTaskOutcomes,
    /// Actions drawn by the policy.
    pub sampled: SubTaskOutcomes,
    /// Actions drawn by the policy, with a shield.
    pub shielded: SubTaskOutcomes,
    /// Actions drawn at random.
    pub random: SubTaskOutcomes,
}

/// The result of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PretrainResult {
    /// What made the policy.
    pub origin: PolicyOrigin,
    /// Updates made.
    pub iterations: u64,
    /// How well it does.
    pub evaluations: Vec<SubTaskEvaluation>,
}

/// Measures a policy in its own room and in rooms of other sizes, with walls drawn at random.
pub fn evaluate_policy(
    policy: &ReachAvoidPolicy,
    own: (&str, &Room),
    count: u64,
) -> Result<Vec<SubTaskEvaluation>> {
    let own_rooms = SubTasks::of_room(own.1.clone());
    let mut families = vec![(own.0.to_owned(), own_rooms)];
    families.extend(SIDES.map(|side| (format!("{side} × {side}"), SubTasks::of_sides(side, side))));
    let shielded = policy.clone().with_shield(true);
    let measure = |(rooms, family): (String, SubTasks)| {
        let play = |chooser| evaluate_sub_tasks(&family, EVALUATION_SEED, count, chooser);
        Ok(SubTaskEvaluation {
            rooms,
            greedy: play(Chooser::Greedy(policy))?,
            sampled: play(Chooser::Sampled(policy))?,
            shielded: play(Chooser::Sampled(&shielded))?,
            random: play(Chooser::Random)?,
        })
    };
    families.into_iter().map(measure).collect()
}

/// A training in its folder, which it has locked.
pub struct Pretraining {
    config: PretrainConfig,
    imitation: Imitation,
    folder: RunFolder,
    metrics: Table<PretrainRow>,
    interrupt: Arc<AtomicBool>,
    _lock: TrainingLock,
}

impl Pretraining {
    /// Begins a training in a new folder.
    pub fn begin(config: PretrainConfig, path: &Path, interrupt: Arc<AtomicBool>) -> Result<Self> {
        let imitation = Imitation::new(config.imitation.clone(), config.rooms()?);
        let text = toml::to_string(&config)?;
        let (folder, lock) = RunFolder::create_with(path, &text, |folder| {
            Ok(imitation.save(&folder.checkpoint(LATEST))?)
        })?;
        let metrics = Table::create(&folder.metrics())?;
        Ok(Self {
            config,
            imitation,
            folder,
            metrics,
            interrupt,
            _lock: lock,
        })
    }

    /// Resumes a training from its last checkpoint.
    pub fn resume(path: &Path, interrupt: Arc<AtomicBool>) -> Result<Self> {
        let (folder, lock) = RunFolder::resume(path)?;
        let text = read_text(&folder.config())?;
        let config: PretrainConfig = toml::from_str(&text).with_context(|| {
            let path = folder.config();
            format!("{}: not a configuration of `form pretrain`", path.display())
        })?;
        let latest = folder.checkpoint(LATEST);
        let imitation = Imitation::resume(&latest, config.imitation.clone(), config.rooms()?)
            .context("cannot resume: remove the folder and begin again")?;
        let last = imitation.iteration().checked_sub(1);
        let metrics = match folder.metrics().exists() {
            true => Table::resume(&folder.metrics(), last)?,
            false if last.is_none() => Table::create(&folder.metrics())?,
            false => bail!("{} is missing", folder.metrics().display()),
        };
        Ok(Self {
            config,
            imitation,
            folder,
            metrics,
            interrupt,
            _lock: lock,
        })
    }

    /// The folder.
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// The configuration.
    pub fn config(&self) -> &PretrainConfig {
        &self.config
    }

    /// Updates made, and updates in all.
    pub fn progress(&self) -> (u64, u64) {
        (self.imitation.iteration(), self.imitation.iterations())
    }

    /// The policy's file.
    pub fn policy_file(&self) -> PathBuf {
        self.folder.path().join(POLICY)
    }

    /// Trains until all updates are made, measures the policy and writes the result; `None` if it was interrupted. `show` is called after each
    /// update.
    pub fn run(
        &mut self,
        mut show: impl FnMut(&Self, &PretrainRow),
    ) -> Result<Option<PretrainResult>> {
        while self.imitation.iteration() < self.imitation.iterations() {
            if self.interrupt.load(Ordering::Relaxed) {
                self.checkpoint()?;
                return Ok(None);
            }
            let iteration = self.imitation.iteration();
            let report = self
                .imitation
                .step()
                .with_context(|| format!("update {iteration}: training stopped"))?;
            let row = PretrainRow {
                iteration,
                loss: report.loss,
                optimal: report.optimal,
                gradient: report.gradient_norm,
            };
            self.metrics.append(&row)?;
            let (made, all) = self.progress();
            if made % CHECKPOINT_EVERY == 0 || made == all {
                self.checkpoint()?;
            }
            show(self, &row);
        }
        self.conclude().map(Some)
    }

    fn checkpoint(&self) -> Result<()> {
        self.metrics.sync()?;
        Ok(self.imitation.save(&self.folder.checkpoint(LATEST))?)
    }

    fn conclude(&self) -> Result<PretrainResult> {
        let config = &self.config;
        let origin = PolicyOrigin {
            command: config.command.clone(),
            seed: config.imitation.seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let policy = self.imitation.policy(origin.clone());
        policy.save(&self.policy_file())?;
        let rooms = config.rooms()?;
        let name = match config.room == PAPER {
            true => "the paper's".to_owned(),
            false => config.room.clone(),
        };
        let result = PretrainResult {
            origin,
            iterations: self.imitation.iteration(),
            evaluations: evaluate_policy(&policy, (&name, &rooms[0]), config.evaluation)?,
        };
        // Last: this file marks the training as over.
        let text = serde_json::to_string_pretty(&result)? + "\n";
        write_atomically(&self.folder.result(), text.as_bytes())?;
        Ok(result)
    }
}
