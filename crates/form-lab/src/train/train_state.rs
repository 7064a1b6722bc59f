//! How far a run has come and why it stopped: what its checkpoints keep beside the machine, the policies and the worlds.

use std::collections::VecDeque;
use std::path::Path;

use anyhow::{Context, Result, bail};
use form_env::Task;
use form_learn::StopReason;
use form_rl::Checkpoint;
use serde::{Deserialize, Serialize};

use crate::config::RunConfig;
use crate::evaluate::{EvaluationSummary, Failures};
use crate::explore::ExplorationState;

use super::tolerance::MisjudgedEpisodes;

/// How far a run has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainState {
    /// Completed iterations.
    pub iteration: u64,
    /// Environment steps in all worlds together.
    pub steps: u64,
    /// Training episodes that ended.
    pub episodes: u64,
    /// How many machines were learnt.
    pub relearnings: u64,
    /// Environment steps until the last of them, if there is one.
    #[serde(default)]
    pub steps_to_final_machine: Option<u64>,
    /// The iteration in which that machine was learnt; 0 if the run still has its first one.
    #[serde(default)]
    pub(crate) machine_since: u64,
    /// How many counterexamples were found.
    pub counterexamples: u64,
    /// How many traces are kept.
    pub traces: u64,
    /// How many agents were created with fresh weights; numbers the random streams of their weights.
    #[serde(rename = "hired")]
    pub(crate) agents_created: u64,
    /// Why the run stopped, if it has.
    #[serde(rename = "ending")]
    pub stop_cause: Option<StopCause>,
    /// The evaluations during training.
    #[serde(default, rename = "measured")]
    pub evaluations: EvaluationState,
    /// How many evaluations in a row, with the current machine, reached the success rate of `stop.success`.
    pub(crate) streak: u64,
    /// The best success rate of an evaluation with the current machine.
    pub(crate) best: f64,
    /// How far exploration has come, for the method `reach-avoid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) exploration: Option<ExplorationState>,
    /// What the machine has misjudged since it was learnt, with a tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) misjudged: Option<MisjudgedEpisodes>,
    /// Version 0.1 judged success by the last training episodes. They are read and ignored.
    #[serde(default, rename = "recent", skip_serializing)]
    _recent: VecDeque<bool>,
}

/// What is known of the evaluations of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationState {
    /// Environment steps of all evaluations, including those that confirm a decision to stop.
    pub steps: u64,
    /// Environment steps of training with policies. `evaluation.share` bounds `steps` by a share of them.
    pub training_steps: u64,
    /// The last evaluation.
    pub last: Option<EvaluationSummary>,
    /// Whether the machine or a policy has changed since then.
    pub(crate) changed: bool,
    /// How many evaluations in a row, with the current machine, did not improve on the best.
    pub(crate) without_progress: u64,
    /// Where episodes failed in those.
    pub(crate) failures: Failures,
}

impl TrainState {
    /// The last evaluation, if it was made after the last iteration.
    pub(crate) fn evaluation_of_this_iteration(&self) -> Option<&EvaluationSummary> {
        let last = self.evaluations.last.as_ref();
        last.filter(|last| last.iteration == self.iteration)
    }

    /// Whether the run has written anything: the evaluation before the first iteration counts.
    pub(crate) fn has_begun(&self) -> bool {
        self.iteration > 0 || self.evaluations.last.is_some()
    }

    /// Forgets how successful the policies were, because the machine has changed.
    pub(crate) fn forget_success(&mut self) {
        self.streak = 0;
        self.best = 0.0;
        self.evaluations.without_progress = 0;
        self.evaluations.failures = Failures::default();
    }
}

/// The current order in which worlds play maps.
pub(crate) const MAP_ORDER: u32 = 1;

/// What the checkpoint of a run holds beside the machine, the policies and the worlds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckpointMetadata {
    #[serde(rename = "tally")]
    pub(crate) state: TrainState,
    /// The order in which worlds play maps: 0 in version 0.1, where some worlds never played some maps.
    #[serde(default)]
    pub(crate) map_order: u32,
    /// The text of `config.toml`: the checkpoint belongs to this configuration only.
    pub(crate) config: String,
    /// The text of the task file, if the task has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
}

impl CheckpointMetadata {
    pub(crate) fn new(
        state: &TrainState,
        config: &RunConfig,
        task: Option<String>,
    ) -> Result<Self> {
        Ok(Self {
            state: state.clone(),
            map_order: MAP_ORDER,
            config: config.to_toml()?,
            task,
        })
    }

    pub(crate) fn of(checkpoint: &Checkpoint) -> Result<Self> {
        serde_json::from_str(&checkpoint.notes)
            .context("the checkpoint is not that of a training run")
    }

    /// Refuses a task file that differs from the task that the policies were trained in.
    pub(crate) fn expect_task(&self, path: &Path) -> Result<()> {
        // A file that is missing or cannot be read is reported where the task is needed.
        let (Some(before), Ok(now)) = (&self.task, Task::open(path)) else {
            return Ok(());
        };
        if now.to_toml() != *before {
            bail!(
                "{}: the task was changed since the checkpoint was written: restore it, or train a new run in the changed task",
                path.display()
            );
        }
        Ok(())
    }
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopCause {
    /// It converged, which fresh episodes confirmed.
    Converged {
        /// How many of the fresh episodes succeeded.
        successes: u64,
        /// How many fresh episodes were played.
        episodes: u64,
    },
    /// The success rate fell (Appendix C).
    Fell,
    /// It made all iterations.
    OutOfIterations,
    /// No machine could be learnt within the limits.
    NoMachine(#[serde(with = "StopReasonName")] StopReason),
}

/// The serialised names of the reasons.
#[derive(Serialize, Deserialize)]
#[serde(remote = "StopReason", rename_all = "kebab-case")]
enum StopReasonName {
    Time,
    Work,
    States,
    Memory,
    Interrupted,
}

impl StopCause {
    /// The name in `result.json`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Converged { .. } => "converged",
            Self::Fell => "fell",
            Self::OutOfIterations => "out-of-iterations",
            Self::NoMachine(_) => "no-machine",
        }
    }
}

impl std::fmt::Display for StopCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Converged {
                successes,
                episodes,
            } => write!(
                f,
                "converged: {successes} of {episodes} fresh episodes succeeded"
            ),
            Self::Fell => f.write_str("stopped early: the success rate fell (stop.fall)"),
            Self::OutOfIterations => {
                f.write_str("all iterations were made before the run converged")
            }
            Self::NoMachine(reason) => {
                let why = match reason {
                    StopReason::Time => "in the time allowed (learning.time_limit)",
                    StopReason::Work => "with the work allowed (exploration.work_limit)",
                    StopReason::States => "with the states allowed (learning.max_states)",
                    StopReason::Memory => "in the memory allowed (learning.max_states)",
                    StopReason::Interrupted => "before the search was interrupted",
                };
                write!(f, "no machine was found that agrees with all traces {why}")
            }
        }
    }
}
