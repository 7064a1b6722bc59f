//! What a run has come to, and why it is over: what its checkpoints say beside the machine, the policies and the worlds.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use form_core::{Machine, Trace};
use form_env::Task;
use form_learn::StopReason;
use form_rl::Checkpoint;
use serde::{Deserialize, Serialize};

use crate::config::RunConfig;
use crate::evaluation::Failures;
use crate::metrics::{MetricsRow, PoliciesRow, TimingsRow};
use crate::run_folder::RunFolder;
use crate::staff::Staffing;

/// What a run has come to, apart from its machine, policies and worlds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Iterations made.
    pub iteration: u64,
    /// Steps taken in all worlds together.
    pub steps: u64,
    /// Episodes that ended.
    pub episodes: u64,
    /// How often a machine was learnt.
    pub relearnings: u64,
    /// How many counterexamples were found.
    pub counterexamples: u64,
    /// How many traces are kept.
    pub traces: u64,
    /// How many fresh agents there were.
    pub hired: u64,
    /// Why it is over, if it is.
    pub ending: Option<Ending>,
    /// What is known of its success.
    #[serde(default)]
    pub measured: Measured,
    /// For how many evaluations with this machine its success has been good enough.
    pub(crate) streak: u64,
    /// The best success rate of an evaluation with this machine.
    pub(crate) best: f64,
    /// Version 0.1 judged success by the last episodes that had ended. They are read and not used.
    #[serde(default, rename = "recent", skip_serializing)]
    _ended: VecDeque<bool>,
}

/// What is known of the success of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Steps that evaluations have taken, those that confirm what they say included.
    pub steps: u64,
    /// Steps of training with policies, which are what evaluations are allowed a share of.
    pub training_steps: u64,
    /// The last evaluation.
    pub last: Option<LastEvaluation>,
    /// Whether the machine or a policy has changed since.
    pub(crate) changed: bool,
    /// How many evaluations with this machine were no better than the best.
    pub(crate) without_progress: u64,
    /// Where episodes failed in those.
    pub(crate) failures: Failures,
}

/// The numbers of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastEvaluation {
    /// After which iteration it was made.
    pub iteration: u64,
    /// How many episodes were started.
    pub episodes: u64,
    /// How many of them completed the task.
    pub successes: u64,
    /// How many steps they took in all.
    pub steps: u64,
}

impl LastEvaluation {
    /// The success rate.
    pub fn success(&self) -> f64 {
        self.successes as f64 / self.episodes.max(1) as f64
    }

    /// The mean number of steps of an episode.
    pub fn length(&self) -> f64 {
        self.steps as f64 / self.episodes.max(1) as f64
    }
}

impl Tally {
    /// The last evaluation, if it was made after the last iteration.
    pub(crate) fn present(&self) -> Option<&LastEvaluation> {
        let last = self.measured.last.as_ref();
        last.filter(|last| last.iteration == self.iteration)
    }

    /// Whether anything was written down: an evaluation before the first iteration is.
    pub(crate) fn has_begun(&self) -> bool {
        self.iteration > 0 || self.measured.last.is_some()
    }

    /// Forgets how good policies were with another machine.
    pub(crate) fn start_over(&mut self) {
        self.streak = 0;
        self.best = 0.0;
        self.measured.without_progress = 0;
        self.measured.failures = Failures::default();
    }
}

/// The order in which worlds play maps now.
pub(crate) const MAP_ORDER: u32 = 1;

/// What the checkpoint of a run says beside what every checkpoint does.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Notes {
    pub(crate) tally: Tally,
    /// Which maps an episode of a world is played on: 0 in version 0.1, where not every world met every map.
    #[serde(default)]
    pub(crate) map_order: u32,
    /// The configuration, as a file: the checkpoint belongs to no other.
    pub(crate) config: String,
    /// The task's file, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
}

impl Notes {
    pub(crate) fn new(tally: &Tally, config: &RunConfig, task: Option<String>) -> Result<Self> {
        Ok(Self {
            tally: tally.clone(),
            map_order: MAP_ORDER,
            config: config.to_toml()?,
            task,
        })
    }

    pub(crate) fn of(checkpoint: &Checkpoint) -> Result<Self> {
        serde_json::from_str(&checkpoint.notes)
            .context("the checkpoint's notes are not those of a run")
    }

    /// Refuses a run whose task is not the one that its policies were trained in.
    pub(crate) fn expect_task(&self, folder: &RunFolder) -> Result<()> {
        let path = folder.task();
        // One that is missing or cannot be read is an error of whoever needs it.
        let (Some(before), Ok(now)) = (&self.task, Task::open(&path)) else {
            return Ok(());
        };
        if now.to_toml() != *before {
            bail!(
                "{}: the task was changed since the checkpoint was written: put it back, or train a run of its own in the changed one",
                path.display()
            );
        }
        Ok(())
    }
}

/// Why a run is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// It has converged: so many of so many fresh episodes succeeded.
    Converged {
        /// How many succeeded.
        successes: u64,
        /// How many there were.
        episodes: u64,
    },
    /// The success rate fell (Appendix C).
    Fell,
    /// That was the last iteration.
    OutOfIterations,
    /// No machine could be learnt within the limits.
    NoMachine(#[serde(with = "StopReasonName")] StopReason),
}

/// The reasons as they are written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "StopReason", rename_all = "kebab-case")]
enum StopReasonName {
    Time,
    States,
    Memory,
    Interrupted,
}

impl Ending {
    /// Its name for scripts.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Converged { .. } => "converged",
            Self::Fell => "fell",
            Self::OutOfIterations => "out-of-iterations",
            Self::NoMachine(_) => "no-machine",
        }
    }
}

impl std::fmt::Display for Ending {
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
                f.write_str("the iterations are used up before the run converged")
            }
            Self::NoMachine(reason) => {
                let (why, setting) = match reason {
                    StopReason::Time => ("in the time allowed", "learning.time_limit"),
                    StopReason::States => ("with the states allowed", "learning.max_states"),
                    StopReason::Memory => ("in the memory there is", "learning.max_states"),
                    StopReason::Interrupted => ("before it was interrupted", "learning.time_limit"),
                };
                write!(
                    f,
                    "no machine was found that agrees with all traces {why} ({setting})"
                )
            }
        }
    }
}

/// A machine that was learnt.
#[derive(Clone, Debug)]
pub struct Relearnt {
    /// The machine.
    pub machine: Machine,
    /// Whether it is proven to be the smallest.
    pub minimal: bool,
    /// The counterexamples that were new.
    pub counterexamples: Vec<Trace>,
    /// How long that took.
    pub time: Duration,
    /// What became of the policies.
    pub staffing: Vec<Staffing>,
}

/// A run whose evaluations have not been getting better.
#[derive(Clone, Debug, PartialEq)]
pub struct Stalled {
    /// The best success rate with this machine.
    pub best: f64,
    /// How many evaluations in a row were no better.
    pub evaluations: u64,
    /// The maps on which most episodes fail, and the states in which they do.
    pub maps: Vec<String>,
    /// What is likely to be the reason, where that can be known.
    pub reasons: Vec<String>,
}

/// One iteration.
#[derive(Clone, Debug)]
pub struct Iteration {
    /// For `metrics.csv`.
    pub metrics: MetricsRow,
    /// For `timings.csv`.
    pub timings: TimingsRow,
    /// For `policies.csv`.
    pub policies: Vec<PoliciesRow>,
    /// The machine that was learnt, if one was.
    pub relearnt: Option<Relearnt>,
    /// What is known of the reasons, if evaluations have not been getting better.
    pub stalled: Option<Stalled>,
    /// Why this was the last iteration, if it was.
    pub ending: Option<Ending>,
}
