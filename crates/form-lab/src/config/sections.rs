//! The sections of a configuration file: `evaluation`, `stop`, `learning` and `transfer`.

use serde::{Deserialize, Serialize};

/// Whose policies a run begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferConfig {
    /// The task that they were trained in.
    pub from: String,
    /// Their checkpoint. A run keeps a copy of it beside its configuration.
    pub checkpoint: String,
    /// Which of them are trained further.
    pub retrain: Retrain,
}

/// How the success of a run is measured: on fixed episodes, the same for the whole run, with actions drawn as in training, each played
/// to its end. The first evaluation is made before anything is learnt; the last one, on other episodes, when the run is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationConfig {
    /// How many episodes an evaluation has.
    pub episodes: usize,
    /// How many the last one has, whose success is that of the run. No decision was based on them.
    pub final_episodes: usize,
    /// How many steps evaluations may take for each step of training, all of them together but the last. An evaluation is made as
    /// soon as that allows it.
    pub share: f64,
}

impl Default for EvaluationConfig {
    fn default() -> Self {
        Self {
            episodes: 50,
            final_episodes: 200,
            share: 0.5,
        }
    }
}

/// When a run stops before its last iteration. All of it is decided by evaluations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopConfig {
    /// The success rate at which a run has converged: of evaluations, and then of fresh episodes. Above 1: never.
    pub success: f64,
    /// How many fresh episodes that is confirmed on.
    pub episodes: usize,
    /// For how many evaluations in a row.
    pub patience: u64,
    /// Appendix C: once the success rate has crossed this, ...
    pub crossing: f64,
    /// ... the run ends when it falls by more than this share of its best value, of fresh episodes, too. 0: it does not.
    pub fall: f64,
}

/// The learning of machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningConfig {
    /// Random steps in every world an iteration, while nothing is known.
    pub explore: usize,
    /// How many counterexamples of an iteration are kept, the shortest of every kind.
    pub keep: usize,
    /// The most states.
    pub max_states: usize,
    /// The most edges between two states.
    pub max_disjuncts: usize,
    /// Whether a run may come back to a state.
    pub cyclic: bool,
    /// Seconds after which learning one machine is given up.
    pub time_limit: u64,
}

impl Default for LearningConfig {
    fn default() -> Self {
        Self {
            explore: 1024,
            keep: 60,
            max_states: 10,
            max_disjuncts: 1,
            cyclic: false,
            time_limit: 600,
        }
    }
}

/// Which policies are trained further.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retrain {
    /// None of them: they are used as they are.
    None,
    /// Those of the states whose `forall`s range over other atoms now, and those that could not be taken over whole.
    Changed,
    /// Those of these states.
    Named(Vec<String>),
    /// All.
    Full,
}
