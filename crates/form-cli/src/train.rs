//! `form train`: learn the machine of a task and its policies, in a run folder from which a stopped run resumes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use form_core::Machine;
use form_env::Task;
use form_lab::{GridEnvFactory, Method, Preset, Resumed, RunConfig, Session, begin_transfer};
use serde_json::Value;

use crate::train_loop::{SettingArgs, TrainLoopArgs};
use crate::world::TaskName;
use crate::{Answer, input, output, train_loop};

/// Learn the machine of a task and policies that exploit it
///
/// The run folder holds the configuration, metrics, TensorBoard events, every machine that was learnt, and a checkpoint per
/// iteration. A run that was stopped by Ctrl-C, a kill or a power failure resumes with --resume and reaches the same result; with
/// --resume and a larger number of --iterations, a run that made all iterations continues. The exit code is 0 when the run is over, 1
/// if it was interrupted, found no machine within the limits, or missed --require-success.
#[derive(clap::Args)]
#[command(
    override_usage = "form train [OPTIONS] <TASK>\n       form train [OPTIONS] --config <FILE>\n       form train [OPTIONS] --resume <DIR> [--iterations <N>]",
    after_help = "Examples:\n  form train all-yellow\n  form train green-but-one --method propositional --preset paper --seed 3 --out runs/mine\n  form train examples/two_rooms.toml --layouts 1000 --set ppo.gamma=0.99 --set stop.success=0.95\n  form train all-yellow --live\n  form train --resume runs/mine\n  form train --resume runs/mine --iterations 4000\n  form train --config runs/mine/config.toml --seed 4"
)]
pub struct Args {
    /// A built-in task (see `form tasks`), or a task file that ends in .toml
    #[arg(
        value_parser = TaskName, hide_possible_values = true,
        required_unless_present_any = ["resume", "config"], conflicts_with_all = ["resume", "config"]
    )]
    task: Option<String>,
    /// Which machine and how many policies [default: form]
    #[arg(long, value_name = "METHOD", value_parser = method_parser(), conflicts_with = "config")]
    method: Option<Method>,
    /// The first machine: a file or a task [default: none; for handcrafted, the machine of the task]
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// The settings to start from [default: fast]
    #[arg(long, value_name = "PRESET", value_parser = preset_parser(), conflicts_with = "config")]
    preset: Option<Preset>,
    /// How policies see the progress towards a `forall` [default: plane; for the preset paper, bits]
    #[arg(long, value_name = "HOW", value_parser = progress_parser())]
    progress: Option<String>,
    /// For experiments: in every training step each true atom is missed with this probability, such as 1%, and with the same one a
    /// wrong atom is added; `--set learning.tolerate=auto` learns a machine nevertheless
    #[arg(long, value_name = "RATE", value_parser = noise_rate)]
    label_noise: Option<f64>,
    #[command(flatten)]
    settings: SettingArgs,
    /// Take all settings from a config.toml; without other options this repeats its run
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The run folder [default: runs/TASK-METHOD-SEED, with a number if it exists]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Resume a stopped run; with --iterations N, continue a finished run up to N iterations
    #[arg(long, value_name = "DIR", conflicts_with_all = ["method", "machine", "preset", "progress", "label_noise", "seed", "layouts", "set", "config", "out"])]
    resume: Option<PathBuf>,
    #[command(flatten)]
    train_loop: TrainLoopArgs,
}

fn method_parser() -> impl TypedValueParser<Value = Method> {
    let named = |name: &str| {
        Method::ALL
            .into_iter()
            .find(|method| method.as_str() == name)
    };
    let value = |method: Method| PossibleValue::new(method.as_str()).help(describe(method));
    PossibleValuesParser::new(Method::ALL.map(value))
        .try_map(move |name| named(&name).ok_or("unknown method"))
}

/// The help line of a method.
fn describe(method: Method) -> &'static str {
    match method {
        Method::Form => "One policy per state of a first-order machine, learnt while training",
        Method::Handcrafted => "One policy per state of a given machine",
        Method::Propositional => {
            "One policy per state of a propositional machine, learnt while training"
        }
        Method::Ppo => "One policy, without a machine",
        Method::RecurrentPpo => "One policy with memory (LSTM), without a machine",
        Method::SinglePolicy => {
            "One policy for all states of a first-order machine, learnt while training"
        }
        Method::ReachAvoid => {
            "One policy for every task, trained beforehand; the machine is learnt in seconds"
        }
    }
}

/// A rate of noise: `1%` or `0.01`.
fn noise_rate(text: &str) -> Result<f64, String> {
    let wanted = "expected a rate from 0% to 50%, such as 1% or 0.01";
    let rate = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => text.parse(),
    };
    match rate {
        Ok(rate) if (0.0..=0.5).contains(&rate) => Ok(rate),
        _ => Err(wanted.to_owned()),
    }
}

fn progress_parser() -> PossibleValuesParser {
    PossibleValuesParser::new([
        PossibleValue::new("bits").help("One indicator per atom, as in the paper"),
        PossibleValue::new("plane").help("A plane of the map with the objects that are left"),
    ])
}

/// `fast` or `paper`.
pub fn preset_parser() -> impl TypedValueParser<Value = Preset> {
    let values = [
        PossibleValue::new("fast")
            .help("Faster learning: planes around the agent, three actions, small batches"),
        PossibleValue::new("paper").help("Tables 1 and 2 of the paper"),
    ];
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "paper" => Preset::Paper,
        _ => Preset::Fast,
    })
}

pub fn run(args: &Args) -> Result<Answer> {
    input::use_threads(args.train_loop.threads)?;
    let interrupt = input::interrupt()?;
    let port = args.train_loop.port()?;
    let mut session = match (&args.resume, args.settings.iterations) {
        (Some(folder), Some(iterations)) => Session::extend(folder, iterations, interrupt)?,
        (Some(folder), None) => match Session::resume(folder, interrupt)? {
            Resumed::Session(session) => *session,
            Resumed::Ended(result) => {
                output::remark(&format!(
                    "{}: the run is over, there is nothing to resume",
                    folder.display()
                ));
                train_loop::finish(&args.train_loop, folder);
                return train_loop::report(&args.train_loop, folder, &result, &Value::Null);
            }
        },
        (None, _) => {
            let config = config(args)?;
            config.check()?;
            let envs = GridEnvFactory::new(&config)?;
            let name = format!("{}-{}-{}", envs.task().name(), config.method, config.seed);
            let path = args.out.clone();
            let path = path.unwrap_or_else(|| train_loop::free_folder(&name));
            match config.transfer {
                // The configuration of a transfer.
                Some(_) => begin_transfer(config, None, envs, &path, interrupt)?.0,
                None => Session::begin(config, envs, &path, interrupt)?,
            }
        }
    };
    train_loop::run(&args.train_loop, port, &mut session, &[], &Value::Null)
}

/// The configuration of the arguments.
fn config(args: &Args) -> Result<RunConfig> {
    let mut config = match (&args.config, &args.task) {
        (Some(path), _) => RunConfig::open(path)?,
        (None, Some(task)) => {
            let method = args.method.unwrap_or(Method::Form);
            RunConfig::new(task, method, args.preset.unwrap_or_default())
        }
        (None, None) => bail!("no task: name one, or a run with --resume or --config"),
    };
    if let Some(path) = &args.machine {
        if matches!(config.method, Method::Ppo | Method::RecurrentPpo) {
            bail!(
                "--machine: the method {} uses no machine: remove --machine, or choose another method",
                config.method
            );
        }
        config.machine = Some(fitting(&config.task, path)?.to_string());
    }
    if let Some(progress) = &args.progress {
        config.set("progress", progress)?;
    }
    config.label_noise = args.label_noise.unwrap_or(config.label_noise);
    args.settings.apply(&mut config)?;
    Ok(config)
}

/// Reads a machine that fits the task.
fn fitting(task: &str, path: &Path) -> Result<Machine> {
    let machine = input::machine(path)?;
    let bound = machine.bind(Task::find(task)?.signature());
    let fits = bound.map_err(|error| error.in_file(&input::name(path)));
    fits.with_context(|| {
        format!("the machine does not fit what can be observed in the task {task}")
    })?;
    Ok(machine)
}
