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

/// The result of one iteration. An empty field has no value, for instance because no evaluation was made. The row of iteration 0 has
/// the evaluation before training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricsRow {
    /// The iteration.
    pub iteration: u64,
    /// Environment steps since the start of the run.
    pub steps: u64,
    /// The number of evaluation episodes, if an evaluation was made after the iteration.
    pub evaluated: Option<u64>,
    /// Their success rate.
    pub success: Option<f64>,
    /// Their mean return without shaping.
    #[serde(rename = "return")]
    pub return_: Option<f64>,
    /// Their mean length in steps.
    pub length: Option<f64>,
    /// Training episodes that ended in the iteration. Failures take longest, so successes are over-represented.
    pub episodes: u64,
    /// The share of those that completed the task; not a success rate of the policies.
    pub ended_success: Option<f64>,
    /// Their mean length in steps.
    pub ended_length: Option<f64>,
    /// Their mean return with shaping.
    pub shaped_return: Option<f64>,
    /// The number of states of the machine after the iteration, terminal states included.
    pub states: u64,
    /// The number of its edges.
    pub edges: u64,
    /// Machines learnt since the start of the run.
    pub relearnings: u64,
    /// Counterexamples found since the start of the run.
    pub counterexamples: u64,
    /// Traces kept for the machine learner.
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

/// The times of one iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingsRow {
    /// The iteration.
    pub iteration: u64,
    /// Seconds of training since the start of the run, including those before it was resumed.
    pub seconds: f64,
    /// Environment steps per second in the iteration.
    pub steps_per_second: f64,
    /// Seconds spent on rollouts.
    pub rollout_seconds: f64,
    /// Seconds spent on policy updates.
    pub update_seconds: f64,
    /// Seconds spent on learning machines.
    pub learning_seconds: f64,
    /// Seconds spent on evaluations.
    #[serde(default)]
    pub evaluation_seconds: f64,
}

/// The update of one policy. An empty field has no value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoliciesRow {
    /// The iteration.
    pub iteration: u64,
    /// The machine state whose policy it is.
    pub state: String,
    /// The number of samples.
    pub samples: u64,
    /// The policy loss.
    pub policy_loss: Option<f64>,
    /// The value loss.
    pub value_loss: Option<f64>,
    /// The mean entropy of the policy in nats.
    pub entropy: Option<f64>,
    /// The estimated Kullback–Leibler divergence from the policy before the update.
    pub kl: Option<f64>,
    /// The share of samples outside the clip range.
    pub clipped: Option<f64>,
    /// The gradient norm before clipping.
    pub gradient: Option<f64>,
}

/// A row of one of the tables.
pub trait Row: Serialize + DeserializeOwned + Default {
    /// The headers of earlier versions, each with the current names of its columns; `-` for a column that no longer exists.
    const EARLIER: &[(&str, &str)] = &[];

    /// The iteration.
    fn iteration(&self) -> u64;
}

impl Row for MetricsRow {
    // Version 0.1 only had training episodes.
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
