//! `form train`: learn a task's machine and its policies, in a folder that a stopped run goes on from.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use form_core::Machine;
use form_env::Task;
use form_lab::{GridEnvFactory, Method, Preset, Resumed, RunConfig, Session, begin_transfer};
use serde_json::Value;

use crate::train_loop::{SettingArgs, TrainLoopArgs};
use crate::world::TaskName;
use crate::{Answer, input, output, train_loop};

/// Learn the machine of a task and policies that exploit it
///
/// The run has a folder of its own: its configuration, metrics, TensorBoard events, the machines as they were learnt, and a
/// checkpoint after every iteration. A run that was stopped, by Ctrl-C, a kill or a power failure, goes on with --resume to the
/// result that it would have had. One that has used its iterations up goes on with --resume and a larger number of --iterations. The exit code is 0 when the run is over, 1 if it was interrupted, found no machine within the
/// limits, or missed what --require-success asks for.
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
    /// How it is learnt: with a first-order machine that is learnt, a given one, a propositional one; without one, the same with
    /// memory; one policy for all states of a first-order machine [default: form]
    #[arg(long, value_name = "METHOD", value_parser = method_parser(), conflicts_with = "config")]
    method: Option<Method>,
    /// The machine to start from, a file or another task's, instead of none or, for the method handcrafted, the task's own
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// The settings to start from: fast, or those of the paper [default: fast]
    #[arg(long, value_name = "PRESET", value_parser = preset_parser(), conflicts_with = "config")]
    preset: Option<Preset>,
    /// How progress towards a `forall` is shown: an indicator an atom, as in the paper, or a plane of the map
    #[arg(long, value_name = "HOW", value_parser = ["bits", "plane"])]
    progress: Option<String>,
    #[command(flatten)]
    settings: SettingArgs,
    /// Take the settings from a run's config.toml, or one like it: unless something else is set, the run is the same
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The run's folder [default: runs/TASK-METHOD-SEED, with a number if there is one]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with a run that was stopped; with --iterations, one that had too few of them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["method", "machine", "preset", "progress", "seed", "layouts", "set", "config", "out"])]
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
    PossibleValuesParser::new(Method::ALL.map(Method::as_str))
        .try_map(move |name| named(&name).ok_or("no method"))
}

/// `fast` or `paper`.
pub fn preset_parser() -> impl TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(["fast", "paper"]).map(|name| match name.as_str() {
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
                    "{}: the run is over, there is nothing to go on with",
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
                // The configuration of a run that began with the policies of another one.
                Some(_) => begin_transfer(config, None, envs, &path, interrupt)?.0,
                None => Session::begin(config, envs, &path, interrupt)?,
            }
        }
    };
    train_loop::run(&args.train_loop, port, &mut session, &[], &Value::Null)
}

/// The configuration that the arguments ask for.
fn config(args: &Args) -> Result<RunConfig> {
    let mut config = match (&args.config, &args.task) {
        (Some(path), _) => RunConfig::open(path)?,
        (None, Some(task)) => {
            let method = args.method.unwrap_or(Method::Form);
            RunConfig::new(task, method, args.preset.unwrap_or_default())
        }
        (None, None) => bail!("which task? name one, or a run with --resume or --config"),
    };
    if let Some(path) = &args.machine {
        if matches!(config.method, Method::Ppo | Method::RecurrentPpo) {
            bail!(
                "--machine: the method {} knows of no machine: leave one of them out",
                config.method
            );
        }
        config.machine = Some(fitting(&config.task, path)?.to_string());
    }
    if let Some(progress) = &args.progress {
        config.set("progress", progress)?;
    }
    args.settings.apply(&mut config)?;
    Ok(config)
}

/// A machine that means something in the task.
fn fitting(task: &str, path: &Path) -> Result<Machine> {
    let machine = input::machine(path)?;
    let bound = machine.bind(Task::find(task)?.signature());
    let fits = bound.map_err(|error| error.in_file(&input::name(path)));
    fits.with_context(|| {
        format!("the machine does not fit what can be observed in the task {task}")
    })?;
    Ok(machine)
}
