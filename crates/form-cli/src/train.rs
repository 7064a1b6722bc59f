//! `form train`: learn a task's machine and its policies, in a folder that a stopped run goes on from.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use form_lab::{
    Display, Finish, GridArena, Method, Preset, Resumed, RunConfig, RunFolder, RunResult, Session,
};
use serde_json::json;

use crate::output::count;
use crate::{Answer, input, output};

/// Learn the machine of a task and policies that exploit it
///
/// The run has a folder of its own: its configuration, metrics, TensorBoard events, the machines as they were learnt, and a
/// checkpoint after every iteration. A run that was stopped, by Ctrl-C, a kill or a power failure, goes on with --resume to the
/// result that it would have had. The exit code is 0 when the run is over, 1 if it was interrupted, found no machine within the
/// limits, or missed what --require-success asks for.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form train all-yellow\n  form train green-but-one --method propositional --preset paper --seed 3 --out runs/mine\n  form train examples/two_rooms.toml --layouts 1000 --set ppo.gamma=0.99 --set stop.success=0.95\n  form train --resume runs/mine\n  form train --config runs/mine/config.toml --seed 4"
)]
pub struct Args {
    /// A built-in task (see `form tasks`), or a task file that ends in .toml
    #[arg(required_unless_present_any = ["resume", "config"], conflicts_with_all = ["resume", "config"])]
    task: Option<String>,
    /// How it is learnt: with a first-order machine that is learnt, a given one, a propositional one; without one, the same with
    /// memory; one policy for all states of a first-order machine [default: form]
    #[arg(long, value_name = "METHOD", value_parser = method_parser(), conflicts_with = "config")]
    method: Option<Method>,
    /// The machine to start from, instead of none or, for the method handcrafted, the task's own
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// The settings to start from: fast, or those of the paper [default: fast]
    #[arg(long, value_name = "PRESET", value_parser = preset_parser(), conflicts_with = "config")]
    preset: Option<Preset>,
    /// How progress towards a `forall` is shown: an indicator an atom, as in the paper, or a plane of the map
    #[arg(long, value_name = "HOW", value_parser = ["bits", "plane"])]
    progress: Option<String>,
    /// The seed of everything: maps, worlds, policies [default: 1]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// The most iterations
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,
    /// How many maps are played in turn; 0 for a new one every episode
    #[arg(long, value_name = "K")]
    layouts: Option<usize>,
    /// Any setting of config.toml by its name, such as ppo.gamma=0.99; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Take the settings from a run's config.toml, or one like it: unless something else is set, the run is the same
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The run's folder [default: runs/TASK-METHOD-SEED, with a number if there is one]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with a run that was stopped
    #[arg(long, value_name = "DIR", conflicts_with_all = ["method", "machine", "preset", "progress", "seed", "iterations", "layouts", "set", "config", "out"])]
    resume: Option<PathBuf>,
    /// How many threads to use; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = input::at_most::<256>)]
    threads: Option<usize>,
    /// Exit with 1 if the success rate is below this at the end
    #[arg(long, value_name = "RATE", value_parser = rate)]
    require_success: Option<f64>,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    /// Print one JSON object at the end
    #[arg(long)]
    json: bool,
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

fn preset_parser() -> impl TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(["fast", "paper"]).map(|name| match name.as_str() {
        "paper" => Preset::Paper,
        _ => Preset::Fast,
    })
}

/// A share: `0.99`.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok();
    rate.filter(|rate| (0.0..=1.0).contains(rate))
        .ok_or_else(|| "expected a share from 0 to 1, as in 0.99".to_owned())
}

pub fn run(args: &Args) -> Result<Answer> {
    input::use_threads(args.threads)?;
    let interrupt = input::interrupt()?;
    let mut session = match &args.resume {
        Some(path) => match Session::resume(path, interrupt)? {
            Resumed::Session(session) => session,
            Resumed::Ended(result) => {
                output::remark(&format!(
                    "{}: the run is over, there is nothing to go on with",
                    path.display()
                ));
                return report(args, path, &result);
            }
        },
        None => {
            let config = config(args)?;
            config.check()?;
            let arena = GridArena::new(&config)?;
            let path = match &args.out {
                Some(path) => path.clone(),
                None => free_folder(&config, arena.task().name()),
            };
            Box::new(Session::begin(config, arena, &path, interrupt)?)
        }
    };
    let folder = session.folder().clone();
    let mut display = match args.quiet {
        true => Display::quiet(),
        false => Display::stderr(Some(session.trainer().config().iterations)),
    };
    display.remark(&format!("the run is in {}", folder.path().display()));
    let finish = session.run(&mut display)?;
    drop(display);
    match finish {
        Finish::Ended(result) => report(args, folder.path(), &result),
        Finish::Interrupted { iteration } => interrupted(args, &folder, iteration),
    }
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
        config.machine = Some(input::machine(path)?.to_string());
    }
    if let Some(progress) = &args.progress {
        config.set("progress", progress)?;
    }
    config.seed = args.seed.unwrap_or(config.seed);
    config.iterations = args.iterations.unwrap_or(config.iterations);
    config.layouts = args.layouts.unwrap_or(config.layouts);
    for setting in &args.set {
        let (key, value) = setting.split_once('=').with_context(|| {
            format!("--set {setting}: expected a name and a value, as in ppo.gamma=0.99")
        })?;
        config
            .set(key.trim(), value.trim())
            .with_context(|| format!("--set {setting}"))?;
    }
    Ok(config)
}

/// The default folder of a run, with a number if it is taken.
fn free_folder(config: &RunConfig, task: &str) -> PathBuf {
    let name = format!("{task}-{}-{}", config.method, config.seed);
    let path = Path::new("runs").join(&name);
    let numbered = (2..).map(|number| Path::new("runs").join(format!("{name}-{number}")));
    let mut candidates = std::iter::once(path.clone()).chain(numbered);
    candidates.find(|path| !path.exists()).unwrap_or(path)
}

/// Says what the run came to.
fn report(args: &Args, path: &Path, result: &RunResult) -> Result<Answer> {
    let reached = |least: f64| result.success.is_some_and(|success| success >= least);
    let missed = args.require_success.filter(|least| !reached(*least));
    if args.json {
        let mut value = serde_json::to_value(result)?;
        value["run"] = json!(path.display().to_string());
        output::print_json(&value)?;
    } else {
        let mut text = result.machine.clone().unwrap_or_default();
        text += &format!("# {}\n", result.message);
        if let Some(success) = result.success {
            text += &format!("# success {:.1} %\n", 100.0 * success);
        }
        text += &format!(
            "# {}, {} steps in {:.1} s; {} learnt in {:.2} s from {}\n",
            count(usize::try_from(result.iterations)?, "iteration"),
            result.steps,
            result.seconds,
            count(usize::try_from(result.relearnings)?, "machine"),
            result.learning_seconds,
            count(usize::try_from(result.traces)?, "trace"),
        );
        let path = path.display();
        text += &format!("# the run is in {path}; next: form eval {path}\n");
        output::print(&text)?;
    }
    if let Some(least) = missed {
        output::remark(&format!(
            "the success rate is below the {least} of --require-success"
        ));
    }
    Ok(match missed.is_some() || result.ending == "no-machine" {
        true => Answer::No,
        false => Answer::Yes,
    })
}

fn interrupted(args: &Args, folder: &RunFolder, iteration: u64) -> Result<Answer> {
    let path = folder.path().display();
    if args.json {
        output::print_json(&json!({
            "ending": "interrupted",
            "iterations": iteration,
            "run": path.to_string(),
        }))?;
    }
    output::remark(&format!(
        "interrupted after iteration {iteration}; go on with: form train --resume {path}"
    ));
    Ok(Answer::No)
}
