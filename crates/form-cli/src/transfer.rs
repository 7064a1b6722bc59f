//! `form transfer`: transfer the machine and the policies of a run to another task, zero-shot or with further training.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use form_lab::{
    Evaluation, GridEnvFactory, PolicyTransfer, Retrain, RunConfig, SavedRun, Trainer,
    begin_transfer, inherit, transfer_config, write_atomically,
};
use form_rl::{AssignmentMode, WeightOrigin};
use serde_json::{Value, json};

use crate::eval::{EpisodeArgs, Rows};
use crate::train_loop::{SettingArgs, TrainLoopArgs};
use crate::world::TaskName;
use crate::{Answer, eval, input, output, train_loop};

/// Transfer the machine and the policies of a run to another task
///
/// The machine is bound to the atoms of the other task, and the weights of the policies are copied. Then the policies whose `forall`
/// ranges over other atoms are trained further (partial), or all of them (full), in a new run folder that `form train --resume` can
/// resume; or none, which only evaluates them. Settings are those of the source run unless options change them.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form transfer runs/all-yellow-form-1 --task all-yellow-4\n  form transfer runs/all-yellow-form-1 --task all-yellow-6 --retrain none --episodes 500\n  form transfer runs/all-yellow-form-1 --task all-yellow-6 --policies u0,u1 --iterations 100 --out runs/six"
)]
pub struct Args {
    /// The folder of the source run
    run: PathBuf,
    /// The target task: a built-in one (see `form tasks`), or a task file that ends in .toml
    #[arg(long, value_name = "TASK", value_parser = TaskName, hide_possible_values = true)]
    task: String,
    /// Which policies are trained further [default: partial]
    #[arg(long, value_name = "WHICH")]
    retrain: Option<Which>,
    /// Train only the policies of these states further, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    policies: Vec<String>,
    #[command(flatten)]
    settings: SettingArgs,
    /// The new run folder [default: runs/TASK-METHOD-SEED-transfer, with a number if it exists; none for --retrain none]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the origin of every tensor
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    episodes: EpisodeArgs,
    #[command(flatten)]
    train_loop: TrainLoopArgs,
}

/// Which policies are trained further
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Policies whose `forall` ranges over other atoms, or those of --policies
    Partial,
    /// All policies
    Full,
    /// No policy: zero-shot evaluation
    None,
}

pub fn run(args: &Args) -> Result<Answer> {
    input::use_threads(args.train_loop.threads)?;
    let retrain = retrain(args)?;
    let source = SavedRun::open(&args.run)?;
    let mut config = transfer_config(&source, &args.task, retrain.clone())?;
    args.settings.apply(&mut config)?;
    config.check()?;
    let envs = GridEnvFactory::new(&config)?;
    expect_machine(args, &source, &envs)?;
    if retrain == Retrain::None {
        return zero_shot(args, &source, &config, envs);
    }
    if args.episodes.is_given() {
        bail!(
            "--episodes, --held-out, --greedy and --sample need --retrain none; after training, use `form eval`"
        );
    }
    let (task, method, seed) = (envs.task().name(), config.method, config.seed);
    let name = format!("{task}-{method}-{seed}-transfer");
    let path = args.out.clone();
    let path = path.unwrap_or_else(|| train_loop::free_folder(&name));
    let interrupt = input::interrupt()?;
    let port = args.train_loop.port()?;
    let (mut session, policies) = begin_transfer(config, Some(&source), envs, &path, interrupt)?;
    let remarks: Vec<String> = describe(&policies, args.verbose).collect();
    let more = json!({ "from": args.run.display().to_string(), "policies": to_json(&policies) });
    train_loop::run(&args.train_loop, port, &mut session, &remarks, &more)
}

fn retrain(args: &Args) -> Result<Retrain> {
    let named = !args.policies.is_empty();
    Ok(match args.retrain {
        Some(Which::Full | Which::None) if named => {
            bail!("--policies already selects the policies: remove --retrain")
        }
        Some(Which::Full) => Retrain::Full,
        Some(Which::None) => Retrain::None,
        _ if named => Retrain::Named(args.policies.clone()),
        _ => Retrain::Changed,
    })
}

/// Refuses a task that the machine does not fit.
fn expect_machine(args: &Args, source: &SavedRun, envs: &GridEnvFactory) -> Result<()> {
    let checkpoint = &source.checkpoint;
    if checkpoint.mode == AssignmentMode::Unaided {
        return Ok(());
    }
    let bound = checkpoint.machine.bind(envs.task().signature());
    bound.with_context(|| {
        format!(
            "the machine of {} does not fit the task {}",
            args.run.display(),
            envs.task().name()
        )
    })?;
    Ok(())
}

/// Evaluates the policies in the other task without training.
fn zero_shot(
    args: &Args,
    source: &SavedRun,
    config: &RunConfig,
    envs: GridEnvFactory,
) -> Result<Answer> {
    let quiet = args.train_loop.json;
    let plans = args.episodes.plans(&envs, 0);
    let mut trainer = Trainer::new(config.clone(), envs.clone(), Arc::default())?;
    let policies = inherit(&mut trainer, &source.checkpoint, &Retrain::None)?;
    if !quiet {
        let (run, task) = (args.run.display(), envs.task().name());
        output::print(&format!("# {run} in {task}, zero-shot"))?;
        for line in describe(&policies, args.verbose) {
            output::print(&format!("# {}", line.replace('\n', "\n# ")))?;
        }
    }
    let rows = Rows::begin(quiet)?;
    let rows = eval::table(&plans, &rows, |plan, callback| {
        trainer.evaluate_with(plan, callback)
    })?;
    let task = envs.task().name().to_owned();
    let result = zero_shot_json(args, config, &task, &policies, &rows);
    if let Some(path) = &args.out {
        let source = Some(source);
        let (session, _) = begin_transfer(config.clone(), source, envs, path, Arc::default())?;
        let file = session.folder().path().join("evaluation.json");
        write_atomically(&file, format!("{result:#}\n").as_bytes())?;
        if !quiet {
            let run = output::quoted(path);
            let path = path.display();
            output::print(&format!("# run folder: {path}; next: form eval {run}"))?;
        }
    }
    if quiet {
        output::print_json(&result)?;
    }
    Ok(eval::verdict(&rows, args.train_loop.require_success))
}

fn zero_shot_json(
    args: &Args,
    config: &RunConfig,
    task: &str,
    policies: &[PolicyTransfer],
    rows: &[Evaluation],
) -> Value {
    json!({
        "from": args.run.display().to_string(),
        "run": args.out.as_ref().map(|path| path.display().to_string()),
        "task": task,
        "method": config.method,
        "machine": config.machine,
        "policies": to_json(policies),
        "evaluations": rows,
    })
}

/// One line per policy, with one line per tensor if verbose.
fn describe(policies: &[PolicyTransfer], verbose: bool) -> impl Iterator<Item = String> {
    policies.iter().map(move |policy| {
        let [loaded, adapted, fresh] = policy.counts();
        let mut text = format!(
            "policy {}: {loaded} tensors loaded, {adapted} adapted, {fresh} fresh; {}: {}",
            policy.name,
            match policy.retrained {
                true => "trained further",
                false => "not trained further",
            },
            policy.reason
        );
        for tensor in policy.tensors.iter().filter(|_| verbose) {
            text += &format!("\n  {}: {}", tensor.tensor, in_words(&tensor.origin));
        }
        text
    })
}

fn in_words(origin: &WeightOrigin) -> String {
    match origin {
        WeightOrigin::Loaded => "loaded".to_owned(),
        WeightOrigin::Adapted { kept, fresh } => {
            format!("adapted, {kept} columns kept, {fresh} fresh")
        }
        WeightOrigin::Fresh { reason } => format!("fresh: {reason}"),
        WeightOrigin::Unused => "only in the old policy".to_owned(),
    }
}

/// The policies as JSON.
fn to_json(policies: &[PolicyTransfer]) -> Value {
    let tensor = |(name, origin): (&String, &WeightOrigin)| {
        let mut value = match origin {
            WeightOrigin::Loaded => json!({ "fate": "loaded" }),
            WeightOrigin::Adapted { kept, fresh } => {
                json!({ "fate": "adapted", "kept": kept, "fresh": fresh })
            }
            WeightOrigin::Fresh { reason } => json!({ "fate": "fresh", "reason": reason }),
            WeightOrigin::Unused => json!({ "fate": "unused" }),
        };
        value["tensor"] = json!(name);
        value
    };
    let policy = |policy: &PolicyTransfer| {
        let [loaded, adapted, fresh] = policy.counts();
        let tensors = (policy.tensors.iter()).map(|found| tensor((&found.tensor, &found.origin)));
        json!({
            "name": policy.name,
            "changed": policy.changed,
            "retrained": policy.retrained,
            "reason": policy.reason,
            "loaded": loaded,
            "adapted": adapted,
            "fresh": fresh,
            "tensors": tensors.collect::<Vec<_>>(),
        })
    };
    policies.iter().map(policy).collect()
}
