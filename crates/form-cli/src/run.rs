//! `form run`: carry out a machine at once, with one policy for all sub-tasks and no training.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use form_core::Machine;
use form_env::{Error, Split, Task, nearest_task};
use form_lab::{Evaluation, PlayCallback, PlayDisplay, ReachAvoidPlan, world_for};
use form_rl::{Choice, ReachAvoidPolicy};
use serde_json::{Value, json};

use crate::output::count;
use crate::world::TaskName;
use crate::{Answer, eval, input, output, train_loop};

/// Carry out a machine or a task at once, without training, on maps that no policy has seen
///
/// A planner turns the machine into cells to reach and cells to avoid, and one policy, which is part of the program, walks. It needs a
/// world that can say where its atoms are. The machine is a file, a task, or typed in one line: formulae separated by `;`, each the next
/// step on the way to acceptance; `never FORMULA` rejects in every state; `u1 -> u0 : FORMULA` is a further edge (the steps lead from u0
/// to u1 and so on to u_acc; u_rej rejects). Prints the success rate over all episodes started, beside random play and the shortest
/// solutions of the same episodes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form run examples/green_but_one.form\n  form run 'exists X. blue(X); forall X. yellow(X); goal'\n  form run 'never lava; forall X. red(X); goal' --shield --episodes 1000\n  form run blue-all-yellow-7 --maps training\n  form run examples/all_yellow.form --world all-yellow-6 -o episode.gif"
)]
pub struct Args {
    /// A machine file, a task (see `form tasks`), or a machine in one line
    #[arg(value_name = "MACHINE|TASK", value_parser = TaskName, hide_possible_values = true)]
    task: String,
    /// The world: a task, whose own machine is ignored [default: that of the task; for a machine, the paper's room with two checkpoints
    /// of each colour, and lava if the machine names it]
    #[arg(long, value_name = "TASK")]
    world: Option<String>,
    /// The number of episodes, each on a map of its own
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = input::at_most::<100_000>)]
    episodes: usize,
    /// The seed of maps, starts and actions
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = input::whole::<u64>)]
    seed: u64,
    /// Never walk onto a cell to avoid, whatever the policy says
    #[arg(long)]
    shield: bool,
    /// Which maps [default: held-out, if the world has enough different maps]
    #[arg(long, value_enum, value_name = "SET")]
    maps: Option<MapSet>,
    /// Greedy actions instead of sampled ones
    #[arg(long)]
    greedy: bool,
    /// A policy that `form pretrain` made, instead of the one in the program
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// The number of the map for --output, --planes and --live, from 0 [default: 0]
    #[arg(long, value_name = "N", value_parser = input::whole::<u64>)]
    map: Option<u64>,
    /// Draw one episode, with the machine and its buffer beside it (.gif, .svg, .png, .txt), instead of counting many
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    output: Option<PathBuf>,
    /// Watch one episode after the other on the terminal, as `form play` shows them
    #[arg(long, conflicts_with_all = ["json", "output"])]
    live: bool,
    /// Print what the planner asks for along one episode: cells to reach (R) and to avoid (A)
    #[arg(long, conflicts_with_all = ["json", "output", "live"])]
    planes: bool,
    /// The number of threads; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = input::at_most::<256>)]
    threads: Option<usize>,
    /// Exit with 1 if the success rate is below this
    #[arg(long, value_name = "RATE", value_parser = train_loop::rate)]
    require_success: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MapSet {
    /// Maps that runs train on
    Training,
    /// Maps that no training run sees
    HeldOut,
}

/// Pixels per cell of a picture, and the maximum number of steps drawn.
const SCALE: usize = 32;
const STEPS: usize = 500;

/// The maximum number of failing maps that are named.
const MOST_MAPS: usize = 10;

pub fn run(args: &Args) -> Result<Answer> {
    input::use_threads(args.threads)?;
    let policy = policy(args.policy.as_deref())?.with_shield(args.shield);
    let task = Arc::new(world(args)?);
    let stray = stray_states(task.truth().machine());
    if !stray.is_empty() {
        output::remark(&format!("warning: nothing leads to {}", stray.join(", ")));
    }
    if !task.can_be_completed() {
        let problem = "no sequence of observations leads this machine to acceptance in this world";
        return impossible(args, problem);
    }
    let split = match (args.maps, task.holds_out()) {
        (Some(MapSet::Training), _) => Split::Training,
        (None, false) => {
            output::remark("the world has too few different maps to hold some out: training maps");
            Split::Training
        }
        (Some(MapSet::HeldOut), false) => bail!(
            "--maps held-out: the world has too few different maps to hold some out; --maps training plays on those it has"
        ),
        _ => Split::HeldOut,
    };
    let plan = ReachAvoidPlan {
        machine: Arc::new(task.truth().clone()),
        task,
        split,
        episodes: args.episodes,
        choice: match args.greedy {
            true => Choice::Greedy,
            false => Choice::Sample,
        },
        seed: args.seed,
    };
    match plan.task.map(args.seed, split, args.map.unwrap_or(0)) {
        Err(error @ Error::NoMap { .. }) => return impossible(args, &error.to_string()),
        map => map?,
    };
    if args.live {
        return watch(args, plan, policy);
    }
    if let Some(path) = &args.output {
        return draw(&plan, &policy, args.map.unwrap_or(0), path);
    }
    if args.planes {
        output::print(&plan.planes(&policy, args.map.unwrap_or(0))?)?;
        return Ok(Answer::Yes);
    }
    if args.map.is_some() {
        bail!("--map goes with --output, --planes or --live: without them, all maps are played");
    }
    measure(args, plan, &policy)
}

/// Shows one episode after the other on the terminal.
#[cfg(feature = "screen")]
fn watch(args: &Args, plan: ReachAvoidPlan, policy: ReachAvoidPolicy) -> Result<Answer> {
    let record = move |map: Option<u64>| plan.record(&policy, map.unwrap_or(0));
    crate::play::watch(args.map, record, "form run MACHINE -o episode.gif")
}

#[cfg(not(feature = "screen"))]
#[allow(clippy::needless_pass_by_value, reason = "as with the feature")]
fn watch(_: &Args, _: ReachAvoidPlan, _: ReachAvoidPolicy) -> Result<Answer> {
    bail!(
        "--live: this build has no screen, the binary `form` has; -o episode.gif draws an episode"
    )
}

/// The policy of a file, or the one in the program.
fn policy(path: Option<&Path>) -> Result<ReachAvoidPolicy> {
    Ok(match path {
        Some(path) => ReachAvoidPolicy::open(path)?,
        None => ReachAvoidPolicy::shipped(),
    })
}

/// The world, with the machine as its ground truth.
fn world(args: &Args) -> Result<Task> {
    let path = Path::new(&args.task);
    let named = input::task(path)?;
    let (machine, of_task) = match named {
        Some(task) => (task.description().machine.clone(), Some(task)),
        None => (machine(&args.task)?, None),
    };
    match (&args.world, of_task) {
        (None, Some(task)) => Ok(task),
        (None, None) => world_for(&machine).map_err(|error| match nearest_task(&args.task) {
            Some(name) => error.context(format!("`{}` is no task: is `{name}` meant?", args.task)),
            None => error,
        }),
        (Some(name), _) => {
            let world = Task::find(name).context("--world")?;
            world.with_machine(machine).map_err(|error| {
                let problem = match error {
                    Error::Task { problem, .. } => problem,
                    other => other.to_string(),
                };
                let atoms = world.signature().atoms().iter().map(ToString::to_string);
                let atoms: Vec<String> = atoms.collect();
                anyhow!("{problem}; {name} has {}", atoms.join(", "))
            })
        }
    }
}

/// A machine file, or a machine in one line, which may be a single atom.
fn machine(text: &str) -> Result<Machine> {
    match input::is_machine_file(Path::new(text)) {
        true => input::machine(Path::new(text)),
        false => input::typed_machine(text),
    }
}

/// The states that no edges lead to from the initial one, terminal ones aside: most likely a mistake.
fn stray_states(machine: &Machine) -> Vec<&str> {
    let reached = machine.reachable_from(machine.initial());
    (machine.state_ids())
        .filter(|state| !reached.contains(state) && !machine.is_terminal(*state))
        .map(|state| machine.state_name(state))
        .collect()
}

/// The answer "no": nothing can complete the task.
fn impossible(args: &Args, problem: &str) -> Result<Answer> {
    match args.json {
        true => output::print_json(&json!({ "impossible": problem }))?,
        false => output::remark(&format!("the machine cannot be completed: {problem}")),
    }
    Ok(Answer::No)
}

fn draw(plan: &ReachAvoidPlan, policy: &ReachAvoidPolicy, map: u64, path: &Path) -> Result<Answer> {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    let format = extension.as_deref().and_then(OsStr::to_str);
    if !matches!(format, Some("gif" | "svg" | "png" | "txt")) {
        bail!(
            "{}: unknown extension: use .gif, .svg, .png or .txt",
            path.display()
        );
    }
    let recording = plan.record(policy, map)?;
    let written = match format {
        Some("gif") => recording.to_gif(SCALE, STEPS)?,
        Some("svg") => recording.to_svg(STEPS)?.into_bytes(),
        Some("png") => recording.to_png(SCALE, STEPS)?,
        _ => recording.to_text().into_bytes(),
    };
    output::write_bytes(Some(path), &written)?;
    output::remark(&format!("{}: {}", recording.title(), recording.outcome()));
    Ok(Answer::Yes)
}

/// Plays all episodes and prints what came of them.
fn measure(args: &Args, plan: ReachAvoidPlan, policy: &ReachAvoidPolicy) -> Result<Answer> {
    input::end_on_interrupt(|| output::remark("\ninterrupted"))?;
    let task = plan.task.clone();
    let display = PlayDisplay::stderr(task.name());
    let report = |progress| display.update(progress);
    let callback = PlayCallback::none().reporting_to(&report);
    let runs = plan.prepare(callback)?.context("interrupted")?;
    let row = runs.evaluate(policy, callback)?.context("interrupted")?;
    drop(display);
    if args.json {
        output::print_json(&to_json(args, &task, policy, &row))?;
    } else {
        let machine = task.truth().machine();
        output::print(&format!(
            "# {} ({}) in {}, {}, {}",
            machine.name(),
            machine.describe_size(),
            task.name(),
            match &args.policy {
                Some(path) => format!("policy {}", path.display()),
                None => "the program's policy".to_owned(),
            },
            if args.shield {
                "with shield"
            } else {
                "no shield"
            },
        ))?;
        output::print(eval::HEADING)?;
        output::print(&eval::line(&row))?;
        if let Some(failures) = failures(&row) {
            output::print(&format!("# {failures}"))?;
        }
    }
    Ok(eval::verdict(&[row], args.require_success))
}

/// The maps and machine states in which episodes fail.
fn failures(row: &Evaluation) -> Option<String> {
    let maps: Vec<String> = (row.failures.maps.iter())
        .map(|found| found.map.to_string())
        .collect();
    let first = maps.get(..MOST_MAPS).unwrap_or(&maps).join(", ");
    let more = match maps.len().checked_sub(MOST_MAPS) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more"),
    };
    let states = row.failures.by_state()?;
    Some(format!(
        "{states}; on {} {first}{more}",
        count(maps.len(), "map").split_once(' ')?.1
    ))
}

fn to_json(args: &Args, task: &Task, policy: &ReachAvoidPolicy, row: &Evaluation) -> Value {
    json!({
        "machine": task.description().machine.to_string(),
        "world": task.name(),
        "policy": {
            "file": args.policy.as_ref().map(|path| path.display().to_string()),
            "command": policy.origin().command,
            "seed": policy.origin().seed,
        },
        "shield": args.shield,
        "held_out": row.held_out,
        "greedy": row.greedy,
        "seed": args.seed,
        "episodes": row.episodes,
        "success": row.success,
        "success_interval": row.success_interval,
        "dead_ends": row.dead_ends,
        "out_of_time": row.out_of_time,
        "steps": row.length,
        "shortest": row.shortest,
        "shortest_exact": row.shortest_exact,
        "ratio": row.ratio,
        "random": row.random,
        "failures": row.failures,
    })
}
