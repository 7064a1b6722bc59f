//! `form eval`: evaluate the policies of a run on training maps and on held-out maps.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use form_env::Split;
use form_lab::{
    EnvFactory, Evaluation, EvaluationPlan, GridEnvFactory, Interval, PlayCallback, PlayDisplay,
    SEARCH_LIMIT, SavedRun, evaluate_with,
};
use form_rl::{AssignmentMode, Choice};
use serde_json::json;

use crate::output::count;
use crate::{Answer, input, output, train_loop};

/// Evaluate the policies of a run, on its training maps and on held-out maps
///
/// Plays whole episodes and prints the success rate over all episodes started, with 95 % confidence intervals, beside random play and
/// the shortest solutions of the same episodes; then the maps and machine states in which episodes fail. Actions are sampled from the
/// policies, or greedy (the most probable action). A run that is still training is evaluated at its latest checkpoint.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form eval runs/all-yellow-form-1\n  form eval runs/all-yellow-form-1 --held-out --greedy --episodes 5000 --json"
)]
pub struct Args {
    /// The folder of a run, see `form train --out`
    run: PathBuf,
    #[command(flatten)]
    episodes: EpisodeArgs,
    /// The seed of starts and actions
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = input::whole::<u64>)]
    seed: u64,
    /// The number of threads; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = input::at_most::<256>)]
    threads: Option<usize>,
    /// Exit with 1 if the success rate of a row is below this
    #[arg(long, value_name = "RATE", value_parser = train_loop::rate)]
    require_success: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Which episodes are played
#[derive(clap::Args)]
pub struct EpisodeArgs {
    /// Episodes per row [default: 1000]
    #[arg(long, value_name = "N", value_parser = input::at_most::<100_000>)]
    pub episodes: Option<usize>,
    /// Only held-out maps, which no training run sees
    #[arg(long)]
    pub held_out: bool,
    /// Only greedy actions: always the most probable one
    #[arg(long, conflicts_with = "sample")]
    pub greedy: bool,
    /// Only sampled actions
    #[arg(long)]
    pub sample: bool,
}

impl EpisodeArgs {
    /// Whether any option was given.
    pub fn is_given(&self) -> bool {
        self.episodes.is_some() || self.held_out || self.greedy || self.sample
    }

    /// One plan per row.
    pub fn plans(&self, envs: &GridEnvFactory, seed: u64) -> Vec<EvaluationPlan> {
        let mut splits = match self.held_out {
            true => vec![Split::HeldOut],
            false => vec![Split::Training, Split::HeldOut],
        };
        // With --held-out, this is an error later on.
        if !self.held_out && !envs.holds_out() {
            splits.pop();
            output::remark("the task has too few different maps to hold some out");
        }
        let choices: &[Choice] = match (self.greedy, self.sample) {
            (true, _) => &[Choice::Greedy],
            (_, true) => &[Choice::Sample],
            _ => &[Choice::Sample, Choice::Greedy],
        };
        let plan = |split, choice| EvaluationPlan {
            split,
            episodes: self.episodes.unwrap_or(1000),
            choice,
            seed,
        };
        (splits.iter())
            .flat_map(|split| choices.iter().map(|choice| plan(*split, *choice)))
            .collect()
    }
}

pub fn run(args: &Args) -> Result<Answer> {
    input::use_threads(args.threads)?;
    let run = SavedRun::open(&args.run)?;
    let path = args.run.display();
    let envs = GridEnvFactory::new(&run.config).with_context(|| {
        format!("{path}: the program does not have its world; use form_lab::evaluate in Rust")
    })?;
    let (config, machine) = (&run.config, &run.checkpoint.machine);
    let mut agents = run.agents()?;
    let rows = Rows::begin(args.json)?;
    if !args.json {
        let iterations = count(usize::try_from(run.state.iteration)?, "iteration");
        let (task, method) = (envs.task().name(), config.method);
        output::print(&format!("# {path}: {task} by {method}, after {iterations}"))?;
    }
    let plans = args.episodes.plans(&envs, args.seed);
    let rows = table(&plans, &rows, |plan, callback| {
        evaluate_with(config, &envs, machine, &mut agents, plan, callback)
    })?;
    let likely = likely(&envs, &run, &rows);
    if !args.json {
        for reason in &likely {
            output::print(&format!("# likely: {reason}"))?;
        }
    }
    if args.json {
        let has_machine = run.checkpoint.mode != AssignmentMode::Unaided;
        output::print_json(&json!({
            "run": path.to_string(),
            "checkpoint": run.file().display().to_string(),
            "task": envs.task().name(),
            "method": config.method,
            "iterations": run.state.iteration,
            "steps": run.state.steps,
            "machine": has_machine.then(|| machine.to_string()),
            "seed": args.seed,
            "evaluations": rows,
            "likely": likely,
        }))?;
    }
    Ok(verdict(&rows, args.require_success))
}

/// Likely reasons for failures: what the observations hide from the policies of the states in which episodes fail.
fn likely(envs: &GridEnvFactory, run: &SavedRun, rows: &[Evaluation]) -> Vec<String> {
    let failing = |state: &str| {
        let mut states = rows.iter().flat_map(|row| &row.failures.states);
        states.any(|found| found.state == state)
    };
    let fails = rows.iter().any(|row| row.successes < row.episodes);
    let spots = envs.blind_spots(&run.checkpoint.machine).into_iter();
    (spots.filter(|spot| fails && spot.state.as_deref().is_none_or(failing)))
        .map(|spot| spot.reason)
        .collect()
}

/// Whether all rows reach --require-success. Says where the search for shortest solutions did not end.
pub fn verdict(rows: &[Evaluation], least: Option<f64>) -> Answer {
    let is_bound = |row: &Evaluation| row.shortest.is_some() && !row.shortest_exact;
    if rows.iter().any(is_bound) {
        output::remark(&format!(
            "note: `shortest` is a lower bound: the exact search stops at {SEARCH_LIMIT} pairs of a pose and what was seen (after the first episode earlier), which double with every object that `forall` waits for"
        ));
    }
    match least.filter(|least| rows.iter().any(|row| row.success < *least)) {
        Some(least) => {
            output::remark(&format!(
                "a success rate is below the {least} of --require-success"
            ));
            Answer::No
        }
        None => Answer::Yes,
    }
}

/// The rows played so far, which are printed if the command is interrupted.
pub struct Rows {
    played: Arc<Mutex<Vec<Evaluation>>>,
    quiet: bool,
}

impl Rows {
    /// No rows yet; `quiet` prints them only at the end. From now on, Ctrl-C ends the process.
    pub fn begin(quiet: bool) -> Result<Self> {
        let played = Arc::<Mutex<Vec<Evaluation>>>::default();
        let rows = played.clone();
        input::end_on_interrupt(move || {
            let rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
            let said = format!("interrupted after {}", count(rows.len(), "complete row"));
            // After the rest of a progress bar.
            output::remark(&format!("\n{said}"));
            if quiet {
                // Standard output may be closed.
                let _ = output::print_json(&json!({ "interrupted": true, "evaluations": *rows }));
            }
        })?;
        Ok(Self { played, quiet })
    }
}

/// Evaluates each plan, and prints one row per plan unless quiet.
pub fn table(
    plans: &[EvaluationPlan],
    rows: &Rows,
    mut evaluate: impl FnMut(&EvaluationPlan, PlayCallback<'_>) -> Result<Option<Evaluation>>,
) -> Result<Vec<Evaluation>> {
    let (kept, quiet) = (&rows.played, rows.quiet);
    let mut rows = Vec::new();
    for plan in plans {
        let display = PlayDisplay::stderr(&format!(
            "{} maps, {} actions",
            if plan.split == Split::HeldOut {
                HELD_OUT
            } else {
                TRAINING
            },
            if plan.choice == Choice::Greedy {
                GREEDY
            } else {
                SAMPLED
            },
        ));
        let report = |progress| display.update(progress);
        let row = evaluate(plan, PlayCallback::none().reporting_to(&report))?;
        drop(display);
        // An interrupt ends the process.
        let Some(row) = row else { break };
        (kept.lock().unwrap_or_else(PoisonError::into_inner)).push(row.clone());
        if !quiet && rows.is_empty() {
            output::print(HEADING)?;
        }
        if !quiet {
            output::print(&line(&row))?;
        }
        rows.push(row);
    }
    if !quiet {
        for row in &rows {
            explain(row)?;
        }
    }
    let refuted: u64 = rows.iter().map(|row| row.refuted).sum();
    if !quiet && refuted > 0 {
        let episodes: u64 = rows.iter().map(|row| row.episodes).sum();
        output::print(&format!(
            "# the machine misjudged {refuted} of {}",
            count(usize::try_from(episodes)?, "episode")
        ))?;
    }
    Ok(rows)
}

const TRAINING: &str = "training";
const HELD_OUT: &str = "held-out";
const SAMPLED: &str = "sampled";
const GREEDY: &str = "greedy";

/// The maximum number of failing maps that are named.
const MOST_MAPS: usize = 5;

/// The heading of a table of evaluations.
pub const HEADING: &str = "maps      actions  episodes  success  95 % interval  random   steps   95 % interval     shortest  ratio  dead ends  out of time  cut off";

fn names(row: &Evaluation) -> (&'static str, &'static str) {
    (
        if row.held_out { HELD_OUT } else { TRAINING },
        if row.greedy { GREEDY } else { SAMPLED },
    )
}

/// One row of that table.
pub fn line(row: &Evaluation) -> String {
    let percent = |interval: Interval| {
        format!(
            "{:.1} to {:.1}",
            100.0 * interval.low,
            100.0 * interval.high
        )
    };
    let steps = |interval: Interval| format!("{:.1} to {:.1}", interval.low, interval.high);
    let dash = || "–".to_owned();
    // If some searches reached their limit, these are bounds.
    let (least, most) = if row.shortest_exact {
        ("", "")
    } else {
        ("≥", "≤")
    };
    let (maps, actions) = names(row);
    format!(
        "{maps:<8}  {actions:<7}  {:>8}  {:>5.1} %  {:<13}  {:>6}  {:>6.1}  {:<16}  {:>8}  {:>5}  {:>9}  {:>11}  {:>7}",
        row.episodes,
        100.0 * row.success,
        percent(row.success_interval),
        row.random
            .map_or_else(dash, |rate| format!("{:.1} %", 100.0 * rate)),
        row.length,
        row.length_interval.map_or_else(dash, steps),
        row.shortest
            .map_or_else(dash, |steps| format!("{least}{steps:.1}")),
        row.ratio
            .map_or_else(dash, |ratio| format!("{most}{ratio:.2}")),
        row.dead_ends,
        row.out_of_time,
        row.cut_off,
    )
}

/// Prints the maps and machine states in which episodes fail.
fn explain(row: &Evaluation) -> Result<()> {
    let (maps, actions) = names(row);
    let mut said = row.failures.worst_maps(MOST_MAPS);
    said.extend(row.failures.by_state());
    if row.impossible > 0 {
        said.push(format!(
            "{} cannot be completed within the step limit",
            count(usize::try_from(row.impossible)?, "episode")
        ));
    }
    match said.is_empty() {
        true => Ok(()),
        false => output::print(&format!("# {maps}, {actions}: {}", said.join("; "))),
    }
}
