//! What a run came to, as `result.json` says it to scripts.

use std::path::Path;

use anyhow::{Context, Result};
use form_rl::AssignmentMode;
use serde::{Deserialize, Serialize};

use super::folder::RunFolder;
use super::run_writer::RunWriter;
use crate::atomic_files::{read_text, write_atomically};
use crate::config::{Method, Preset};
use crate::env_factory::EnvFactory;
use crate::evaluate::Evaluation;
use crate::train::{StopCause, Trainer};

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Why it ended: `converged`, `fell`, `out-of-iterations` or `no-machine`.
    pub ending: String,
    /// The same for people.
    pub message: String,
    /// The task's name.
    pub task: String,
    /// How it was learnt.
    pub method: Method,
    /// What its settings started from.
    pub preset: Preset,
    /// Its seed.
    pub seed: u64,
    /// The success rate of its policies when it was over: of all episodes of its last evaluation. None if it was made by version 0.1
    /// and did not converge: that version counted the episodes that had ended.
    pub success: Option<f64>,
    /// Iterations made.
    pub iterations: u64,
    /// Environment steps taken.
    pub steps: u64,
    /// Episodes that ended.
    pub episodes: u64,
    /// Seconds of training, over all parts of the run.
    pub seconds: f64,
    /// The machine as text; none for methods that know of none.
    pub machine: Option<String>,
    /// Its states.
    pub states: usize,
    /// Its edges.
    pub edges: usize,
    /// How often a machine was learnt.
    pub relearnings: u64,
    /// How many counterexamples were found.
    pub counterexamples: u64,
    /// How many traces were kept of them.
    pub traces: u64,
    /// Seconds spent on learning machines.
    pub learning_seconds: f64,
    /// Seconds that the last machine took of them.
    pub last_learning_seconds: Option<f64>,
    /// The last evaluation, which `success` comes from; none in results of version 0.1.
    #[serde(default)]
    pub evaluation: Option<Evaluation>,
    /// The version of the program.
    pub version: String,
}

impl RunResult {
    /// What a run that is over came to, by its last evaluation.
    pub(super) fn new<A: EnvFactory>(
        trainer: &Trainer<A>,
        cause: &StopCause,
        evaluation: &Evaluation,
        writer: &RunWriter,
    ) -> Self {
        let (config, state, machine) = (trainer.config(), trainer.state(), trainer.machine());
        let knows_one = config.method.assignment_mode() != AssignmentMode::Unaided;
        Self {
            ending: cause.as_str().to_owned(),
            message: cause.to_string(),
            task: writer.folder().task_name(&config.task),
            method: config.method,
            preset: config.preset,
            seed: config.seed,
            success: Some(evaluation.success),
            iterations: state.iteration,
            steps: state.steps,
            episodes: state.episodes,
            seconds: writer.seconds(),
            machine: knows_one.then(|| machine.to_string()),
            states: machine.states().len(),
            edges: machine.edges().len(),
            relearnings: state.relearnings,
            counterexamples: state.counterexamples,
            traces: state.traces,
            learning_seconds: writer.learning_seconds(),
            last_learning_seconds: writer.last_learning_seconds(),
            evaluation: Some(evaluation.clone()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// The result in a run's folder; none as long as the run goes on.
    pub fn of_run(folder: &RunFolder) -> Result<Option<Self>> {
        let path = folder.result();
        if !path.exists() {
            return Ok(None);
        }
        let text = read_text(&path)?;
        let result = serde_json::from_str(&text);
        let advice = "damaged: remove it and resume the run, which writes it anew";
        let mut result: Self = result.with_context(|| format!("{}: {advice}", path.display()))?;
        if result.evaluation.is_none() && result.ending != "converged" {
            result.success = None;
        }
        Ok(Some(result))
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        write_atomically(path, text.as_bytes())
    }
}
