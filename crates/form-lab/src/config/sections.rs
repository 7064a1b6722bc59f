//! The sections of a configuration file: `evaluation`, `stop`, `learning`, `exploration` and `transfer`.

use form_learn::Tolerance;
use serde::{Deserialize, Serialize};

use super::choices::ExplorationChoice;
use super::tolerate;

/// The policies that a run starts from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferConfig {
    /// The task that they were trained in.
    pub from: String,
    /// Their checkpoint. A run keeps a copy of it in its folder.
    pub checkpoint: String,
    /// Which policies are trained further.
    pub retrain: Retrain,
}

/// How the success of a run is measured: on fixed episodes, the same for the whole run, with actions sampled as in training, each
/// played to its end. The first evaluation is made before training, the last one, on other episodes, after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationConfig {
    /// The episodes per evaluation.
    pub episodes: usize,
    /// The episodes of the last evaluation, which measures the success of the run. No decision depends on them.
    pub final_episodes: usize,
    /// The steps of all evaluations but the last, as a share of the steps of training. An evaluation is made as soon as this
    /// budget allows it.
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

/// When a run stops before its last iteration. Evaluations decide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopConfig {
    /// The success rate at which a run has converged, in evaluations and then in fresh episodes. Above 1: never.
    pub success: f64,
    /// How many fresh episodes confirm it.
    pub episodes: usize,
    /// How many evaluations in a row must reach it.
    pub patience: u64,
    /// Appendix C of the paper: once the success rate has crossed this value, ...
    pub crossing: f64,
    /// ... the run stops if it falls by more than this share of its best value, confirmed by fresh episodes. 0: never.
    pub fall: f64,
}

/// The machine learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningConfig {
    /// Random steps per world and iteration while no machine is known.
    pub explore: usize,
    /// How many counterexamples are kept per iteration, the shortest of each kind.
    pub keep: usize,
    /// The maximum number of states, without the accepting and the rejecting one.
    pub max_states: usize,
    /// The maximum number of edges between two states.
    pub max_disjuncts: usize,
    /// Whether the machine may have cycles.
    pub cyclic: bool,
    /// Whether edges may have `once p(o)` and `exists X. once p(X)`.
    #[serde(default, skip_serializing_if = "is_off")]
    pub once: bool,
    /// The largest `n` of `atleast n X. p(X)` on edges; 1: none.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub counts: usize,
    /// Whether edges may have joins such as `exists X. (once key(X) and door(X))`.
    #[serde(default, skip_serializing_if = "is_off")]
    pub joins: bool,
    /// The time limit per machine in seconds; the method `reach-avoid` has `exploration.work_limit` instead.
    pub time_limit: u64,
    /// How many of the kept traces a machine may misjudge: a number, a percentage such as "2%", or "auto". With 0 every trace counts,
    /// and the traces are counterexamples; else they are the shortest episodes, and every second one is kept back to compare machines.
    #[serde(
        default = "tolerate::none",
        skip_serializing_if = "tolerate::is_none",
        with = "tolerate"
    )]
    pub tolerate: Tolerance,
}

// What is off is not written: configurations of earlier runs stay as they are.

fn is_off(option: &bool) -> bool {
    !option
}

fn one() -> usize {
    1
}

fn is_one(count: &usize) -> bool {
    *count == 1
}

impl LearningConfig {
    /// How many traces a machine may misjudge, if it may any.
    pub fn tolerance(&self) -> Option<Tolerance> {
        (!tolerate::is_none(&self.tolerate)).then_some(self.tolerate)
    }
}

impl Default for LearningConfig {
    fn default() -> Self {
        Self {
            explore: 1024,
            keep: 60,
            max_states: 10,
            max_disjuncts: 1,
            cyclic: false,
            once: false,
            counts: 1,
            joins: false,
            time_limit: 600,
            tolerate: tolerate::NONE,
        }
    }
}

/// Exploration from object to object, for the method `reach-avoid`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplorationConfig {
    /// How the next object is chosen.
    pub choice: ExplorationChoice,
    /// The episodes per iteration; a counterexample ends it early.
    pub episodes: usize,
    /// Whether the policy never goes forward onto a cell to avoid.
    pub shield: bool,
    /// The work of the learner for all machines together, in looks at its limits, which do not depend on the clock. After it, walks ask
    /// for one move after the other.
    #[serde(default = "work_limit")]
    pub work_limit: u64,
}

impl Default for ExplorationConfig {
    fn default() -> Self {
        Self {
            choice: ExplorationChoice::Disagreement,
            episodes: 16,
            shield: false,
            work_limit: work_limit(),
        }
    }
}

fn work_limit() -> u64 {
    50_000
}

/// Which policies are trained further.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retrain {
    /// No policy: zero-shot transfer.
    None,
    /// Policies of states whose `forall` ranges over other atoms now, and those that were not transferred completely.
    Changed,
    /// The policies of these states.
    Named(Vec<String>),
    /// All policies.
    Full,
}
