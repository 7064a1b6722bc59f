//! `form pretrain`: train the one policy that carries out the sub-tasks of all machines, in a folder from which it resumes.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use form_lab::{PretrainConfig, PretrainResult, Pretraining, SubTaskEvaluation};
use form_rl::SubTaskOutcomes;
use serde_json::json;

use crate::train_loop::free_folder;
use crate::world::TaskName;
use crate::{Answer, input, output};

/// Train one policy for the sub-tasks of all machines: reach these cells, avoid those
///
/// The policy is shown where walls are, which cells to reach and which to avoid, and nothing else. It learns from exact solutions of sub-tasks
/// drawn at random, and is measured on others. The folder has the configuration, metrics, a checkpoint, the policy (policy.safetensors) and
/// result.json. A training that was stopped resumes with --resume and makes the same policy. The exit code is 1 if it was interrupted.
#[derive(clap::Args)]
#[command(
    override_usage = "form pretrain [OPTIONS]\n       form pretrain [OPTIONS] --resume <DIR>",
    after_help = "Examples:\n  form pretrain --seed 1\n  form pretrain --room examples/two_rooms.toml --out runs/two-rooms-policy\n  form pretrain --resume runs/pretrain-1"
)]
pub struct Args {
    /// Draw half of the sub-tasks in the room of this task: a built-in one or a file that ends in .toml [default: the paper's room]
    #[arg(long, value_name = "TASK", value_parser = TaskName, hide_possible_values = true)]
    room: Option<String>,
    /// The seed of all randomness: weights, rooms, sub-tasks [default: 1]
    #[arg(long, value_name = "S", value_parser = input::whole::<u64>)]
    seed: Option<u64>,
    /// The number of updates [default: 900]
    #[arg(long, value_name = "N", value_parser = input::at_least_one)]
    iterations: Option<u64>,
    /// Measure the policy on this number of sub-tasks per kind of room [default: 1000]
    #[arg(long, value_name = "N", value_parser = input::at_least_one)]
    sub_tasks: Option<u64>,
    /// The folder [default: runs/pretrain-SEED, with a number if it exists]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Resume a training that was stopped
    #[arg(long, value_name = "DIR", conflicts_with_all = ["room", "seed", "iterations", "sub_tasks", "out"])]
    resume: Option<PathBuf>,
    /// The number of threads; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = input::at_most::<256>)]
    threads: Option<usize>,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    /// Print one JSON object at the end
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Answer> {
    input::use_threads(args.threads)?;
    let interrupt = input::interrupt()?;
    let mut training = match &args.resume {
        Some(folder) => Pretraining::resume(folder, interrupt)?,
        None => {
            let seed = args.seed.unwrap_or(1);
            let mut config = PretrainConfig::new(args.room.as_deref(), seed, args.iterations)?;
            config.evaluation = args.sub_tasks.unwrap_or(config.evaluation);
            let path = args.out.clone();
            let path = path.unwrap_or_else(|| free_folder(&format!("pretrain-{seed}")));
            if path.is_file() {
                bail!("--out {}: a file, not a folder", path.display());
            }
            Pretraining::begin(config, &path, interrupt)?
        }
    };
    let folder = training.folder().path().to_owned();
    if !args.quiet {
        output::remark(&format!("folder: {}", folder.display()));
    }
    let result = training.run(|training, row| {
        let (made, all) = training.progress();
        if !args.quiet && (made % 100 == 0 || made == all) {
            output::remark(&format!(
                "update {made} of {all}: loss {:.2e}, {:.2} % of actions optimal",
                row.loss,
                100.0 * row.optimal
            ));
        }
    })?;
    match result {
        Some(result) => {
            report(args, &folder, &training.policy_file(), &result)?;
            Ok(Answer::Yes)
        }
        None => {
            let (made, _) = training.progress();
            if args.json {
                let run = folder.display().to_string();
                output::print_json(
                    &json!({"ending": "interrupted", "iterations": made, "run": run}),
                )?;
            }
            output::remark(&format!(
                "interrupted after update {made}; resume with: form pretrain --resume {}",
                output::quoted(&folder)
            ));
            Ok(Answer::No)
        }
    }
}

fn report(args: &Args, folder: &Path, policy: &Path, result: &PretrainResult) -> Result<()> {
    if args.json {
        let mut value = serde_json::to_value(result)?;
        value["run"] = folder.display().to_string().into();
        value["policy"] = policy.display().to_string().into();
        return output::print_json(&value);
    }
    let mut text = String::from(
        "rooms         actions    reached    avoided cell entered   steps / shortest\n",
    );
    for evaluation in &result.evaluations {
        for (actions, outcomes) in rows(evaluation) {
            text += &line(&evaluation.rooms, actions, outcomes);
        }
    }
    text += &format!("policy: {}\n", policy.display());
    output::print(&text)
}

fn rows(evaluation: &SubTaskEvaluation) -> [(&'static str, &SubTaskOutcomes); 4] {
    [
        ("greedy", &evaluation.greedy),
        ("sampled", &evaluation.sampled),
        ("shielded", &evaluation.shielded),
        ("random", &evaluation.random),
    ]
}

fn line(rooms: &str, actions: &str, outcomes: &SubTaskOutcomes) -> String {
    let ratio = outcomes
        .ratio()
        .map_or("-".to_owned(), |ratio| format!("{ratio:.4}"));
    format!(
        "{rooms:<12}  {actions:<9}  {:>6.2} %   {:>6} of {:<6}       {ratio:>10}\n",
        100.0 * outcomes.success(),
        outcomes.avoided,
        outcomes.started,
    )
}
