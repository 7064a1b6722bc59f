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
    /// Whether the last episodes with this machine succeeded.
    pub(crate) recent: VecDeque<bool>,
    /// For how many iterations they have been good enough.
    pub(crate) streak: u64,
    /// The best success rate of the last episodes with this machine.
    pub(crate) best: f64,
}

impl Tally {
    /// The success rate: of the fresh episodes on which a run converged, else of the last ones with this machine, if any ended.
    pub fn success(&self) -> Option<f64> {
        if let Some(Ending::Converged {
            successes,
            episodes,
        }) = self.ending
        {
            return Some(successes as f64 / episodes as f64);
        }
        let successes = self.recent.iter().filter(|success| **success).count();
        (!self.recent.is_empty()).then(|| successes as f64 / self.recent.len() as f64)
    }

    /// Forgets how episodes with another machine went.
    pub(crate) fn start_over(&mut self) {
        self.recent.clear();
        self.streak = 0;
        self.best = 0.0;
    }
}

/// What the checkpoint of a run says beside what every checkpoint does.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Notes {
    pub(crate) tally: Tally,
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
    /// Why this was the last iteration, if it was.
    pub ending: Option<Ending>,
}
