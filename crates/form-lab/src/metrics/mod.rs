//! The tables that a run writes: one row per iteration in `metrics.csv` and `timings.csv`, one row per policy update in
//! `policies.csv`.
//!
//! `metrics.csv` depends on the configuration alone, so that two runs can be compared byte by byte; everything that depends on the
//! clock is in `timings.csv`.

mod table;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub(crate) use self::table::read_good_rows;
pub use self::table::{Table, read_rows};

use crate::evaluate::EvaluationSummary;

/// What an iteration achieved. An empty field is no value: no evaluation was made after it, for instance. The row of iteration 0
/// tells of the evaluation before anything was learnt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricsRow {
    /// The number of the iteration.
    pub iteration: u64,
    /// Environment steps since the beginning of the run.
    pub steps: u64,
    /// How many episodes the evaluation after the iteration started, if one was made.
    pub evaluated: Option<u64>,
    /// The share of them that completed the task.
    pub success: Option<f64>,
    /// Their mean return, without shaping.
    #[serde(rename = "return")]
    pub return_: Option<f64>,
    /// Their mean length in steps.
    pub length: Option<f64>,
    /// Episodes of the training that ended in the iteration. Those that fail take longest, so most of the first to end succeed.
    pub episodes: u64,
    /// The share of those that completed the task: no success rate of the policies.
    pub ended_success: Option<f64>,
    /// Their mean length in steps.
    pub ended_length: Option<f64>,
    /// Their mean return with shaping.
    pub shaped_return: Option<f64>,
    /// States of the machine at the end of the iteration.
    pub states: u64,
    /// Its edges.
    pub edges: u64,
    /// How often a machine was learnt since the beginning of the run.
    pub relearnings: u64,
    /// Counterexamples found since the beginning of the run.
    pub counterexamples: u64,
    /// Traces kept for learning machines.
    pub traces: u64,
}

impl MetricsRow {
    /// Sets the columns of the evaluation, or empties them.
    pub(crate) fn set_evaluation(&mut self, last: Option<&EvaluationSummary>) {
        self.evaluated = last.map(|last| last.episodes);
        self.success = last.map(EvaluationSummary::success);
        self.return_ = self.success;
        self.length = last.map(EvaluationSummary::length);
    }
}

/// Where the time of an iteration went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingsRow {
    /// The number of the iteration.
    pub iteration: u64,
    /// Seconds of training since the beginning of the run, those before it was resumed included.
    pub seconds: f64,
    /// Environment steps a second in the iteration.
    pub steps_per_second: f64,
    /// Seconds spent acting.
    pub rollout_seconds: f64,
    /// Seconds spent on updates of policies.
    pub update_seconds: f64,
    /// Seconds spent on learning machines.
    pub learning_seconds: f64,
    /// Seconds spent on evaluations.
    #[serde(default)]
    pub evaluation_seconds: f64,
}

/// How the update of one policy went. An empty field is no value: too few samples for an update, for instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoliciesRow {
    /// The number of the iteration.
    pub iteration: u64,
    /// The machine state whose policy it is.
    pub state: String,
    /// Samples it was trained with.
    pub samples: u64,
    /// The loss of the policy.
    pub policy_loss: Option<f64>,
    /// The loss of the value estimates.
    pub value_loss: Option<f64>,
    /// The mean entropy of its choices, in nats.
    pub entropy: Option<f64>,
    /// How far the policy moved: the estimated Kullback–Leibler divergence.
    pub kl: Option<f64>,
    /// The share of samples whose gradient was clipped away.
    pub clipped: Option<f64>,
    /// The norm of the gradient before it was clipped.
    pub gradient: Option<f64>,
}

/// A row of one of the tables.
pub trait Row: Serialize + DeserializeOwned + Default {
    /// The columns of earlier versions, and what they are called now; those that no longer exist have a name that nothing has.
    const EARLIER: &[(&str, &str)] = &[];

    /// The iteration it tells of.
    fn iteration(&self) -> u64;
}

impl Row for MetricsRow {
    // Version 0.1 knew only episodes that had ended.
    const EARLIER: &[(&str, &str)] = &[(
        "iteration,steps,episodes,success,return,length,shaped_return,states,edges,relearnings,counterexamples,traces",
        "iteration,steps,episodes,ended_success,-,ended_length,shaped_return,states,edges,relearnings,counterexamples,traces",
    )];

    fn iteration(&self) -> u64 {
        self.iteration
    }
}

impl Row for TimingsRow {
    const EARLIER: &[(&str, &str)] = &[(
        "iteration,seconds,steps_per_second,rollout_seconds,update_seconds,learning_seconds",
        "iteration,seconds,steps_per_second,rollout_seconds,update_seconds,learning_seconds",
    )];

    fn iteration(&self) -> u64 {
        self.iteration
    }
}

impl Row for PoliciesRow {
    fn iteration(&self) -> u64 {
        self.iteration
    }
}

#[cfg(test)]
mod tests;
