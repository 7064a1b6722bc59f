//! Policies on maps that they have never seen, in the task they were trained in and in others, with no retraining.

use std::sync::Arc;

use anyhow::{Context, Result};
use form_env::Split;
use form_rl::{Checkpoint, Choice};
use serde::{Deserialize, Serialize};

use super::orders::Experiment;
use super::workshop::{Delivery, Workshop};
use crate::arena::GridArena;
use crate::atomic::{read_text, write_atomically};
use crate::evaluation::{Evaluation, EvaluationPlan, evaluate};
use crate::run_folder::RunFolder;
use crate::session::FINAL;
use crate::train::Trainer;
use crate::transfer::{Retrain, inherit, transferred};

/// The tasks that policies of `all-yellow` are tried on.
const TASKS: [&str; 3] = ["all-yellow", "all-yellow-4", "all-yellow-6"];

/// The file with the trials of a run.
const FILE: &str = "unseen.json";

/// Episodes of a trial.
const EPISODES: usize = 1000;

/// What a run's policies did in a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The run.
    pub run: String,
    /// The task.
    pub task: String,
    /// What came of it, on maps that were held out.
    pub evaluation: Evaluation,
}

/// Tries the policies of the runs that are for it, unless that has been done.
pub(super) fn trials(workshop: &Workshop, deliveries: &[Delivery]) -> Result<Vec<Trial>> {
    let mut all = Vec::new();
    let own = |delivery: &&Delivery| delivery.is_of(Experiment::Unseen.as_str(), "form");
    let done = deliveries.iter().filter(own);
    for delivery in done.filter(|delivery| delivery.result.is_some()) {
        let run = RunFolder::open(&workshop.run(&delivery.order.name))?;
        let path = run.path().join(FILE);
        if path.is_file() {
            let trials: Vec<Trial> = serde_json::from_str(&read_text(&path)?)
                .with_context(|| format!("{}: damaged, remove it", path.display()))?;
            all.extend(trials);
            continue;
        }
        let checkpoint = Checkpoint::load(&run.checkpoint(FINAL))?;
        let mut trials = Vec::new();
        for task in TASKS {
            let config = transferred(&delivery.order.config, &checkpoint, task);
            let arena = GridArena::new(&config)?;
            let mut trainer = Trainer::new(config.clone(), arena.clone(), Arc::default())?;
            inherit(&mut trainer, &checkpoint, &Retrain::None)?;
            let plan = EvaluationPlan {
                split: Split::HeldOut,
                episodes: EPISODES,
                choice: Choice::Sample,
                seed: config.seed,
            };
            let machine = trainer.machine().clone();
            let evaluation = evaluate(&config, &arena, &machine, trainer.agents_mut(), &plan)?;
            trials.push(Trial {
                run: delivery.order.name.clone(),
                task: task.to_owned(),
                evaluation,
            });
        }
        write_atomically(&path, serde_json::to_string_pretty(&trials)?.as_bytes())?;
        all.extend(trials);
    }
    Ok(all)
}
