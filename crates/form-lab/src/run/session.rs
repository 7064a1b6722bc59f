//! A training session: a run in its folder, from the beginning or from its last checkpoint.
//!
//! After every iteration all that it brought is written down, and then the checkpoint. A run that was killed, at whatever
//! moment, goes on from there to the same result, to the byte; only what depends on the clock differs.

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

/// A run in its folder. Nobody else writes there meanwhile.
pub struct Session<A: EnvFactory> {
    trainer: Trainer<A>,
    folder: RunFolder,
    writer: RunWriter,
    signature: Signature,
    interrupt: Arc<AtomicBool>,
    _lock: TrainingLock,
}

/// What came of looking for a run to go on with.
pub enum Resumed<A: EnvFactory> {
    /// It goes on.
    Session(Box<Session<A>>),
    /// It is over.
    Ended(Box<RunResult>),
}

/// Why a session is over.
#[derive(Clone, Debug, PartialEq)]
pub enum Finish {
    /// The run is.
    Ended(Box<RunResult>),
    /// Somebody wanted it to stop; it can go on after this iteration.
    Interrupted {
        /// The last iteration that was completed.
        iteration: u64,
    },
}

impl Session<GridEnvFactory> {
    /// A run in a grid world, where its last checkpoint left it.
    pub fn resume(path: &Path, interrupt: Arc<AtomicBool>) -> Result<Resumed<GridEnvFactory>> {
        Self::resume_in(path, GridEnvFactory::new, interrupt)
    }

    /// A run in a grid world that was stopped, or has used its iterations up, with so many of them in all.
    pub fn extend(path: &Path, iterations: u64, interrupt: Arc<AtomicBool>) -> Result<Self> {
        Self::extend_in(path, iterations, GridEnvFactory::new, interrupt)
    }
}

impl<A: EnvFactory> Session<A> {
    /// A new run in a new folder.
    pub fn begin(
        config: RunConfig,
        envs: A,
        path: &Path,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self> {
        Self::begin_prepared(config, envs, path, interrupt, |_| Ok(()))
    }

    /// A new run in a new folder whose agents are prepared first: they are given policies, or frozen.
    pub fn begin_prepared(
        config: RunConfig,
        envs: A,
        path: &Path,
        interrupt: Arc<AtomicBool>,
        prepare: impl FnOnce(&mut Trainer<A>) -> Result<()>,
    ) -> Result<Self> {
        Self::begin_keeping(config, envs, path, interrupt, prepare, |_| Ok(()))
    }

    /// The same, with more to be written before the folder becomes a run's.
    pub(crate) fn begin_keeping(
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
        // Before there is a folder: what cannot be trained leaves none behind.
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

    /// A run where its last checkpoint left it; its envs is made from its configuration.
    pub fn resume_in(
        path: &Path,
        envs: impl FnOnce(&RunConfig) -> Result<A>,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Resumed<A>> {
        if let Some(result) = RunResult::of_run(&RunFolder::open(path)?)? {
            return Ok(Resumed::Ended(Box::new(result)));
        }
        let session = Self::go_on(path, None, envs, interrupt)?;
        Ok(Resumed::Session(Box::new(session)))
    }

    /// A run that was stopped, or has used its iterations up, with so many of them in all.
    pub fn extend_in(
        path: &Path,
        iterations: u64,
        envs: impl FnOnce(&RunConfig) -> Result<A>,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self> {
        Self::go_on(path, Some(iterations), envs, interrupt)
    }

    fn go_on(
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
                "cannot go on: the checkpoint cannot be read, and without it the run has to be made anew, with `form train --config {}{more} --out FOLDER`",
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
        // Only now, when all is known to be good, anything is changed.
        let mut resumed = format!("resumed after iteration {}", metadata.state.iteration);
        if metadata.map_order != MAP_ORDER {
            resumed += ", which an earlier version made: all worlds begin new episodes";
        }
        if let Some(iterations) = iterations {
            extension::give(&folder, trainer.config())?;
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

    /// Where it is.
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Trains until the run is over or somebody wants it to stop. What could not be finished is not written: the last checkpoint
    /// counts.
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

    /// The evaluation before anything is learnt, and then one iteration after the other.
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

    /// Writes an iteration down, and shows it.
    fn record(&mut self, iteration: &Iteration, display: &mut Display) -> Result<()> {
        let mut remarks = Vec::new();
        if let Some(learnt) = &iteration.relearnt {
            remarks.push(progress_text::machine(&self.trainer, learnt));
        }
        if let Some(stalled) = &iteration.stalled {
            remarks.push(progress_text::stalled(iteration.metrics.iteration, stalled));
        }
        self.writer.enter(
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

    /// Measures how good the run is that is over, and writes what remains to be written; nothing if it was interrupted.
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
        // Last: from now on the run is over.
        result.write(&self.folder.result())?;
        Ok(Some(Finish::Ended(Box::new(result))))
    }
}

/// Writes a checkpoint; an error of the system says what helps.
fn save<A: EnvFactory>(trainer: &Trainer<A>, folder: &RunFolder, name: &str) -> Result<()> {
    let saved = trainer.save(&folder.checkpoint(name));
    saved.map_err(|error| match error.downcast() {
        Ok(form_rl::Error::Io { path, source }) => cannot("write", &path, source),
        Ok(other) => other.into(),
        Err(error) => error,
    })
}

/// Keeps a task beside the configuration. Another one that is there is somebody's own.
fn keep_task(path: &Path, task: &str) -> Result<()> {
    if path.exists() && read_text(path)? != task {
        bail!(
            "{} is another task: name another folder with --out",
            path.display()
        );
    }
    write_atomically(path, task.as_bytes())
}

/// Refuses a configuration that is not the one which the checkpoint was made with.
fn expect_config(
    folder: &RunFolder,
    config: &RunConfig,
    metadata: &CheckpointMetadata,
) -> Result<()> {
    let path = folder.config();
    let before = RunConfig::from_toml(&metadata.config, &path)?;
    let mut differences = config.differences(&before)?;
    // How many there are at most is asked after every one of them, and nowhere else: more of them do not change those made.
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
        "{}: it was changed since the checkpoint was written: {}: put it back, or make another run with `form train --config`",
        path.display(),
        list.join(", ")
    );
}
