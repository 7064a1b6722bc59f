//! A training session: a run in its folder, from the start or from its last checkpoint.
//!
//! Every iteration is written to its files, then the checkpoint. A run that is killed at any moment resumes from its checkpoint and
//! reaches the same result, byte by byte; only times differ.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use form_core::Signature;
use form_rl::{AssignmentMode, Checkpoint};

use super::folder::{FINAL, LATEST, RunFolder, TASK, TrainingLock};
use super::result::RunResult;
use super::resume_check::RecordedRun;
use super::run_writer::{RunWriter, write_machine};
use super::{extension, progress_text};
use crate::atomic_files::{cannot, read_text, write_atomically};
use crate::config::RunConfig;
use crate::display::Display;
use crate::env_factory::{EnvFactory, GridEnvFactory};
use crate::play_callback::PlayCallback;
use crate::train::{CheckpointMetadata, Iteration, MAP_ORDER, StopCause, Trainer};

/// A run in its folder, which it has locked.
pub struct Session<A: EnvFactory> {
    trainer: Trainer<A>,
    folder: RunFolder,
    writer: RunWriter,
    signature: Signature,
    interrupt: Arc<AtomicBool>,
    _lock: TrainingLock,
}

/// A run that was resumed, or the result of one that is over.
pub enum Resumed<A: EnvFactory> {
    /// The run continues.
    Session(Box<Session<A>>),
    /// The run is over.
    Ended(Box<RunResult>),
}

/// Why a session ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Finish {
    /// The run is over.
    Ended(Box<RunResult>),
    /// It was interrupted and can be resumed.
    Interrupted {
        /// The last complete iteration.
        iteration: u64,
    },
}

impl Session<GridEnvFactory> {
    /// Resumes a run in a grid world from its last checkpoint.
    pub fn resume(path: &Path, interrupt: Arc<AtomicBool>) -> Result<Resumed<GridEnvFactory>> {
        Self::resume_in(path, GridEnvFactory::new, interrupt)
    }

    /// Resumes a run in a grid world with a larger number of iterations.
    pub fn extend(path: &Path, iterations: u64, interrupt: Arc<AtomicBool>) -> Result<Self> {
        Self::extend_in(path, iterations, GridEnvFactory::new, interrupt)
    }
}

impl<A: EnvFactory> Session<A> {
    /// Begins a run in a new folder.
    pub fn begin(
        config: RunConfig,
        envs: A,
        path: &Path,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self> {
        Self::begin_with(config, envs, path, interrupt, |_| Ok(()), |_| Ok(()))
    }

    /// As [`begin`](Self::begin); `prepare` can load policies into agents or freeze them, `keep` writes files that the run needs.
    pub(crate) fn begin_with(
        mut config: RunConfig,
        envs: A,
        path: &Path,
        interrupt: Arc<AtomicBool>,
        prepare: impl FnOnce(&mut Trainer<A>) -> Result<()>,
        keep: impl FnOnce(&RunFolder) -> Result<()>,
    ) -> Result<Self> {
        let task = envs.task_file();
        if task.is_some() {
            TASK.clone_into(&mut config.task);
        }
        // Before the folder is created: a run that cannot train leaves none behind.
        let mut trainer = Trainer::new(config, envs, interrupt.clone())?;
        prepare(&mut trainer)?;
        let text = trainer.config().to_toml()?;
        let (folder, lock) = RunFolder::create_with(path, &text, |folder| {
            if let Some(task) = &task {
                keep_task(&folder.task(), task)?;
            }
            if trainer.config().method.assignment_mode() != AssignmentMode::Unaided {
                write_machine(folder, 0, trainer.machine())?;
            }
            keep(folder)?;
            save(&trainer, folder, LATEST)
        })?;
        let config = trainer.config();
        let begun = format!(
            "form {}: {} by {} (preset {:?}), seed {}",
            env!("CARGO_PKG_VERSION"),
            folder.task_name(&config.task),
            config.method,
            config.preset,
            config.seed
        );
        Self::with(trainer, folder, lock, interrupt, &begun)
    }

    /// Resumes a run from its last checkpoint; `envs` makes the factory from its configuration.
    pub fn resume_in(
        path: &Path,
        envs: impl FnOnce(&RunConfig) -> Result<A>,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Resumed<A>> {
        if let Some(result) = RunResult::of_run(&RunFolder::open(path)?)? {
            return Ok(Resumed::Ended(Box::new(result)));
        }
        let session = Self::resume_from_checkpoint(path, None, envs, interrupt)?;
        Ok(Resumed::Session(Box::new(session)))
    }

    /// Resumes a run with a larger number of iterations.
    pub fn extend_in(
        path: &Path,
        iterations: u64,
        envs: impl FnOnce(&RunConfig) -> Result<A>,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self> {
        Self::resume_from_checkpoint(path, Some(iterations), envs, interrupt)
    }

    fn resume_from_checkpoint(
        path: &Path,
        iterations: Option<u64>,
        envs: impl FnOnce(&RunConfig) -> Result<A>,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self> {
        let (folder, lock) = RunFolder::resume(path)?;
        let mut config = RunConfig::from_toml(&folder.read_config()?, &folder.config())?;
        let latest = folder.checkpoint(LATEST);
        let checkpoint = Checkpoint::load(&latest).with_context(|| {
            let more = iterations.map_or_else(String::new, |n| format!(" --iterations {n}"));
            format!(
                "cannot resume: the checkpoint cannot be read; repeat the run with `form train --config {}{more} --out FOLDER`",
                folder.config().display()
            )
        })?;
        let place = || format!("{}", latest.display());
        let metadata = CheckpointMetadata::of(&checkpoint).with_context(place)?;
        expect_config(&folder, &config, &metadata)?;
        metadata.expect_task(&folder.task())?;
        if let Some(iterations) = iterations {
            extension::expect_use(&folder, &metadata, iterations)?;
            config.iterations = iterations;
        }
        let envs = envs(&RunConfig::open(&folder.config())?)?;
        let machine = (config.method.assignment_mode() != AssignmentMode::Unaided)
            .then_some(&checkpoint.machine);
        let recorded = RecordedRun::read(&folder, &metadata.state, &checkpoint.signature, machine)?;
        let trainer = Trainer::resume(
            config,
            envs,
            interrupt.clone(),
            &checkpoint,
            recorded.traces.clone(),
            recorded.seconds(),
        )
        .with_context(place)?;
        // Everything has been checked: only now are files changed.
        let mut resumed = format!("resumed after iteration {}", metadata.state.iteration);
        if metadata.map_order != MAP_ORDER {
            resumed += ", made by an earlier version: all worlds begin new episodes";
        }
        if let Some(iterations) = iterations {
            extension::extend(&folder, trainer.config())?;
            resumed += &format!(", with {iterations} iterations in all");
        }
        Self::with_recorded(trainer, folder, lock, interrupt, &recorded, &resumed)
    }

    fn with(
        trainer: Trainer<A>,
        folder: RunFolder,
        lock: TrainingLock,
        interrupt: Arc<AtomicBool>,
        remark: &str,
    ) -> Result<Self> {
        let signature = trainer
            .game()
            .assignment()
            .bound_machine()
            .signature()
            .clone();
        let recorded = RecordedRun::read(&folder, trainer.state(), &signature, None)?;
        Self::with_recorded(trainer, folder, lock, interrupt, &recorded, remark)
    }

    fn with_recorded(
        trainer: Trainer<A>,
        folder: RunFolder,
        lock: TrainingLock,
        interrupt: Arc<AtomicBool>,
        recorded: &RecordedRun,
        remark: &str,
    ) -> Result<Self> {
        let signature = trainer
            .game()
            .assignment()
            .bound_machine()
            .signature()
            .clone();
        let mut writer = RunWriter::open(&folder, trainer.state(), &signature, recorded)?;
        writer.log(remark)?;
        Ok(Self {
            trainer,
            folder,
            writer,
            signature,
            interrupt,
            _lock: lock,
        })
    }

    /// The run.
    pub fn trainer(&self) -> &Trainer<A> {
        &self.trainer
    }

    /// Its folder.
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Trains until the run is over or interrupted. An interrupted iteration is discarded: the last checkpoint counts.
    pub fn run(&mut self, display: &mut Display) -> Result<Finish> {
        let finish = loop {
            let before = self.trainer.state().iteration;
            if let Some(cause) = self.trainer.state().stop_cause.clone() {
                match self.conclude(&cause, display)? {
                    Some(finish) => break finish,
                    None => break self.interrupted(before)?,
                }
            }
            let stopped = self.interrupt.load(Ordering::Relaxed);
            let iteration = match stopped {
                true => None,
                false => self.next().with_context(|| {
                    format!(
                        "iteration {}: training stopped; {} holds the run up to iteration {before}",
                        before + 1,
                        self.folder.checkpoint(LATEST).display()
                    )
                })?,
            };
            let Some(iteration) = iteration else {
                break self.interrupted(before)?;
            };
            self.record(&iteration, display)?;
        };
        display.finish();
        Ok(finish)
    }

    /// The evaluation before training, then one iteration per call.
    fn next(&mut self) -> Result<Option<Iteration>> {
        match self.trainer.state().has_begun() {
            true => self.trainer.iterate(),
            false => self.trainer.first_evaluation(),
        }
    }

    fn interrupted(&mut self, iteration: u64) -> Result<Finish> {
        (self.writer).log(&format!("interrupted after iteration {iteration}"))?;
        Ok(Finish::Interrupted { iteration })
    }

    /// Writes an iteration and shows it.
    fn record(&mut self, iteration: &Iteration, display: &mut Display) -> Result<()> {
        let mut remarks = Vec::new();
        if let Some(learnt) = &iteration.relearnt {
            remarks.push(progress_text::machine(&self.trainer, learnt));
        }
        if let Some(stalled) = &iteration.stalled {
            remarks.push(progress_text::stalled(iteration.metrics.iteration, stalled));
        }
        self.writer.write(
            iteration,
            self.trainer.state(),
            self.trainer.traces(),
            &self.signature,
            &remarks,
        )?;
        save(&self.trainer, &self.folder, LATEST)?;
        for remark in remarks {
            display.remark(&remark);
        }
        display.show(&progress_text::snapshot(&mut self.trainer, iteration)?);
        Ok(())
    }

    /// Evaluates the finished run and writes its result; nothing if it was interrupted.
    fn conclude(&mut self, cause: &StopCause, display: &mut Display) -> Result<Option<Finish>> {
        let interrupt = self.interrupt.clone();
        let episodes = self.trainer.config().evaluation.final_episodes as u64;
        let report = display.evaluating(episodes);
        let callback = PlayCallback::none()
            .interrupted_by(&interrupt)
            .reporting_to(&report);
        let Some(evaluation) = self.trainer.final_evaluation(callback)? else {
            return Ok(None);
        };
        save(&self.trainer, &self.folder, FINAL)?;
        let iteration = self.trainer.state().iteration;
        self.writer.conclude(iteration, &evaluation)?;
        let result = RunResult::new(&self.trainer, cause, &evaluation, &self.writer);
        self.writer.log(&result.message)?;
        // Last: this file marks the run as over.
        result.write(&self.folder.result())?;
        Ok(Some(Finish::Ended(Box::new(result))))
    }
}

/// Writes a checkpoint; file-system errors come with advice.
fn save<A: EnvFactory>(trainer: &Trainer<A>, folder: &RunFolder, name: &str) -> Result<()> {
    let saved = trainer.save(&folder.checkpoint(name));
    saved.map_err(|error| match error.downcast() {
        Ok(form_rl::Error::Io { path, source }) => cannot("write", &path, source),
        Ok(other) => other.into(),
        Err(error) => error,
    })
}

/// Copies the task file into the folder, and refuses to replace another one.
fn keep_task(path: &Path, task: &str) -> Result<()> {
    if path.exists() && read_text(path)? != task {
        bail!(
            "{} is the file of another task: name another folder with --out",
            path.display()
        );
    }
    write_atomically(path, task.as_bytes())
}

/// Refuses a configuration that differs from that of the checkpoint.
fn expect_config(
    folder: &RunFolder,
    config: &RunConfig,
    metadata: &CheckpointMetadata,
) -> Result<()> {
    let path = folder.config();
    let before = RunConfig::from_toml(&metadata.config, &path)?;
    let mut differences = config.differences(&before)?;
    // The number of iterations is only checked after each of them: a larger one does not change those made.
    if config.iterations > metadata.state.iteration {
        differences.retain(|(name, ..)| name != "iterations");
    }
    if differences.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = (differences.iter())
        .map(|(name, now, before)| format!("{name} is {now} and was {before}"))
        .collect();
    bail!(
        "{}: it was changed since the checkpoint was written: {}: restore it, or start a new run with `form train --config`",
        path.display(),
        list.join(", ")
    );
}
