//! Policies on held-out maps, in the task of their training and in larger ones, without retraining. Not in the paper.

use std::sync::Arc;

use anyhow::{Context, Result};
use form_env::Split;
use form_lab::{
    Evaluation, EvaluationPlan, GridEnvFactory, Retrain, SavedRun, Trainer, inherit, read_text,
    transfer_config, write_atomically,
};
use form_rl::Choice;
use serde::{Deserialize, Serialize};

use crate::plan::Experiment;
use crate::runner::{RunOutcome, Runner};

/// The tasks that policies of `all-yellow` are evaluated in.
const TASKS: [&str; 3] = ["all-yellow", "all-yellow-4", "all-yellow-6"];

/// The file in a run's folder that keeps these evaluations.
const FILE: &str = "unseen.json";

/// Episodes per evaluation.
const EPISODES: usize = 1000;

/// A run's policies in one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnseenEvaluation {
    /// The name of the run.
    pub run: String,
    /// The task.
    pub task: String,
    /// The evaluation on held-out maps.
    pub evaluation: Evaluation,
}

/// Evaluates the finished runs of the experiment `unseen`, unless their folders keep the evaluations already.
pub(crate) fn unseen_evaluations(
    runner: &Runner,
    outcomes: &[RunOutcome],
) -> Result<Vec<UnseenEvaluation>> {
    let mut all = Vec::new();
    let is_unseen = |outcome: &&RunOutcome| outcome.is_of(Experiment::Unseen.as_str(), "form");
    let finished = outcomes.iter().filter(is_unseen);
    for outcome in finished.filter(|outcome| outcome.result.is_some()) {
        let folder = runner.folder_of(&outcome.run.name);
        let path = folder.join(FILE);
        if path.is_file() {
            let kept: Vec<UnseenEvaluation> = serde_json::from_str(&read_text(&path)?)
                .with_context(|| format!("{}: damaged: remove it", path.display()))?;
            all.extend(kept);
            continue;
        }
        let source = SavedRun::open(&folder)?;
        let mut evaluations = Vec::new();
        for task in TASKS {
            let evaluation = evaluate_in(&source, task)?;
            evaluations.push(UnseenEvaluation {
                run: outcome.run.name.clone(),
                task: task.to_owned(),
                evaluation,
            });
        }
        let text = serde_json::to_string_pretty(&evaluations)?;
        write_atomically(&path, text.as_bytes())?;
        all.extend(evaluations);
    }
    Ok(all)
}

/// Zero-shot transfer to a task, on its held-out maps.
fn evaluate_in(source: &SavedRun, task: &str) -> Result<Evaluation> {
    let config = transfer_config(source, task, Retrain::None)?;
    let envs = GridEnvFactory::new(&config)?;
    let plan = EvaluationPlan {
        split: Split::HeldOut,
        episodes: EPISODES,
        choice: Choice::Sample,
        seed: config.seed,
    };
    let mut trainer = Trainer::new(config, envs, Arc::default())?;
    inherit(&mut trainer, &source.checkpoint, &Retrain::None)?;
    trainer.evaluate(&plan)
}
