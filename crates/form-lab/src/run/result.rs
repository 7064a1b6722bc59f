//! The result of a run, `result.json`.

use std::path::Path;

use anyhow::{Context, Result};
use form_env::Worlds;
use form_rl::AssignmentMode;
use serde::{Deserialize, Serialize};

use super::folder::RunFolder;
use super::run_writer::RunWriter;
use crate::atomic_files::{read_text, write_atomically};
use crate::config::{Method, Preset};
use crate::env_factory::EnvFactory;
use crate::evaluate::Evaluation;
use crate::ground_truth::{difference_remark, no_machine_hint};
use crate::train::{StopCause, Trainer};

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Why it stopped: `converged`, `fell`, `out-of-iterations` or `no-machine`.
    pub ending: String,
    /// The same as a sentence.
    pub message: String,
    /// The name of the task.
    pub task: String,
    /// The method.
    pub method: Method,
    /// The preset.
    pub preset: Preset,
    /// The seed.
    pub seed: u64,
    /// The success rate of the final evaluation, over all its episodes. None for runs of version 0.1 that did not converge: that
    /// version counted training episodes.
    pub success: Option<f64>,
    /// Completed iterations.
    pub iterations: u64,
    /// Environment steps.
    pub steps: u64,
    /// Training episodes that ended.
    pub episodes: u64,
    /// Seconds of training, including those before it was resumed.
    pub seconds: f64,
    /// The machine as text; none for methods without one.
    pub machine: Option<String>,
    /// The number of its states, terminal states included.
    pub states: usize,
    /// The number of its edges.
    pub edges: usize,
    /// Machines learnt.
    pub relearnings: u64,
    /// Environment steps until the last of them; none if there is none, or in results of version 0.1.
    #[serde(default)]
    pub steps_to_final_machine: Option<u64>,
    /// Counterexamples found.
    pub counterexamples: u64,
    /// Traces kept.
    pub traces: u64,
    /// Seconds of the machine learner.
    pub learning_seconds: f64,
    /// Seconds of the learner for the last machine.
    pub last_learning_seconds: Option<f64>,
    /// Whether the learnt machine and that of the task agree on what can be observed; none if that is not known.
    #[serde(default)]
    pub equivalent: Option<bool>,
    /// If they do not: where they part, and the settings that the task's machine needs.
    #[serde(default)]
    pub difference: Option<String>,
    /// The final evaluation; none in results of version 0.1.
    #[serde(default)]
    pub evaluation: Option<Evaluation>,
    /// The program version.
    pub version: String,
}

impl RunResult {
    /// The result of a finished run.
    pub(super) fn new<A: EnvFactory>(
        trainer: &Trainer<A>,
        cause: &StopCause,
        evaluation: &Evaluation,
        writer: &RunWriter,
    ) -> Self {
        let (config, state, machine) = (trainer.config(), trainer.state(), trainer.machine());
        let knows_one = config.method.assignment_mode() != AssignmentMode::Unaided;
        let (truth, varied) = (
            trainer.envs().truth(),
            trainer.game().worlds().shared_signature().is_some(),
        );
        let has_learnt = config.method.learns_machine() && state.relearnings > 0;
        let parts = (has_learnt.then(|| trainer.envs().difference(machine))).flatten();
        let trace = (parts.as_ref()).filter(|trace| !trace.is_empty());
        let difference =
            trace.map(|trace| difference_remark(config, truth, varied, &trace.join("; ")));
        let has_none = matches!(cause, StopCause::NoMachine(_));
        let hint = has_none
            .then(|| no_machine_hint(config, truth, varied))
            .flatten();
        Self {
            ending: cause.as_str().to_owned(),
            message: hint.map_or_else(|| cause.to_string(), |hint| format!("{cause}; {hint}")),
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
            steps_to_final_machine: state.steps_to_final_machine,
            counterexamples: state.counterexamples,
            traces: state.traces,
            learning_seconds: writer.learning_seconds(),
            last_learning_seconds: writer.last_learning_seconds(),
            equivalent: parts.map(|trace| trace.is_empty()),
            // A run without a machine has said what the task needs.
            difference: difference.filter(|_| !has_none),
            evaluation: Some(evaluation.clone()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Reads the result from a run's folder; none while the run is unfinished.
    pub fn of_run(folder: &RunFolder) -> Result<Option<Self>> {
        let path = folder.result();
        if !path.exists() {
            return Ok(None);
        }
        let text = read_text(&path)?;
        let result = serde_json::from_str(&text);
        let advice = "damaged: remove it and resume the run, which writes it again";
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
