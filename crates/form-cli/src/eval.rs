//! `form eval`: how good the policies of a run are, on the maps they were trained on and on maps that were held out.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use form_env::Split;
use form_lab::{Evaluation, EvaluationPlan, GridArena, Interval, TrainedRun, evaluate};
use form_rl::{Choice, Roles};
use serde_json::json;

use crate::output::count;
use crate::{Answer, follow, input, output};

/// Measure how good the policies of a run are, on the maps of its training and on held-out ones
///
/// Plays whole episodes and says how many completed the task, with 95 % confidence intervals. Actions are drawn as the policies
/// say, or always the most probable ones (greedy). A run that is still training is measured as it is at present.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form eval runs/all-yellow-form-1\n  form eval runs/all-yellow-form-1 --held-out --greedy --episodes 5000 --json"
)]
pub struct Args {
    /// The folder of a run, see `form train --out`
    run: PathBuf,
    #[command(flatten)]
    episodes: EpisodeArgs,
    /// What episodes and actions are drawn from
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = input::whole::<u64>)]
    seed: u64,
    /// How many threads to use; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = input::at_most::<256>)]
    threads: Option<usize>,
    /// Exit with 1 if the success rate of a row is below this
    #[arg(long, value_name = "RATE", value_parser = follow::rate)]
    require_success: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Which episodes are played
#[derive(clap::Args)]
pub struct EpisodeArgs {
    /// Episodes of every row [default: 1000]
    #[arg(long, value_name = "N", value_parser = input::at_most::<100_000>)]
    pub episodes: Option<usize>,
    /// Only on held-out maps, which no training run sees
    #[arg(long)]
    pub held_out: bool,
    /// Only with the most probable actions
    #[arg(long, conflicts_with = "sample")]
    pub greedy: bool,
    /// Only with actions drawn as the policies say
    #[arg(long)]
    pub sample: bool,
}

impl EpisodeArgs {
    /// Whether anything was asked for.
    pub fn is_given(&self) -> bool {
        self.episodes.is_some() || self.held_out || self.greedy || self.sample
    }

    /// What to play, row by row.
    pub fn plans(&self, arena: &GridArena, seed: u64) -> Vec<EvaluationPlan> {
        let mut splits = match self.held_out {
            true => vec![Split::HeldOut],
            false => vec![Split::Training, Split::HeldOut],
        };
        // Who asks for held-out maps alone is told by an error.
        if !self.held_out && !arena.holds_out() {
            splits.pop();
            output::remark("the task has too few different maps for any to be held out");
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
    let run = TrainedRun::open(&args.run)?;
    let path = args.run.display();
    let arena = GridArena::new(&run.config).with_context(|| {
        format!("{path}: this program does not have its world; in Rust, form_lab::evaluate does the same for any")
    })?;
    let (config, machine) = (&run.config, &run.checkpoint.machine);
    let mut agents = run.agents()?;
    let rows = Rows::begin(args.json)?;
    if !args.json {
        let iterations = count(usize::try_from(run.tally.iteration)?, "iteration");
        let (task, method) = (arena.task().name(), config.method);
        output::print(&format!("# {path}: {task} by {method}, after {iterations}"))?;
    }
    let plans = args.episodes.plans(&arena, args.seed);
    let rows = table(&plans, &rows, |plan| {
        evaluate(config, &arena, machine, &mut agents, plan)
    })?;
    if args.json {
        let has_machine = run.checkpoint.roles != Roles::Unaided;
        output::print_json(&json!({
            "run": path.to_string(),
            "checkpoint": run.file().display().to_string(),
            "task": arena.task().name(),
            "method": config.method,
            "iterations": run.tally.iteration,
            "steps": run.tally.steps,
            "machine": has_machine.then(|| machine.to_string()),
            "seed": args.seed,
            "evaluations": rows,
        }))?;
    }
    Ok(verdict(&rows, args.require_success))
}

/// Whether all rows are as good as was asked for.
pub fn verdict(rows: &[Evaluation], least: Option<f64>) -> Answer {
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

/// The rows that were played until now: what is left to say when somebody does not want to wait for the others.
pub struct Rows {
    played: Arc<Mutex<Vec<Evaluation>>>,
    quiet: bool,
}

impl Rows {
    /// None yet. Whoever is `quiet` prints all of them at the end. Ctrl-C ends the process from now on.
    pub fn begin(quiet: bool) -> Result<Self> {
        let played = Arc::<Mutex<Vec<Evaluation>>>::default();
        let rows = played.clone();
        input::end_on_interrupt(move || {
            let rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
            let said = format!("interrupted after {}", count(rows.len(), "whole row"));
            drop(Waiting);
            output::remark(&said);
            if quiet {
                // There is nobody left to tell if it fails.
                let _ = output::print_json(&json!({ "interrupted": true, "evaluations": *rows }));
            }
        })?;
        Ok(Self { played, quiet })
    }
}

/// Plays, and prints row by row what came of it unless all is to be printed at the end.
pub fn table(
    plans: &[EvaluationPlan],
    rows: &Rows,
    mut evaluate: impl FnMut(&EvaluationPlan) -> Result<Evaluation>,
) -> Result<Vec<Evaluation>> {
    let (kept, quiet) = (&rows.played, rows.quiet);
    let mut rows = Vec::new();
    for plan in plans {
        let waiting = Waiting::for_plan(plan);
        let row = evaluate(plan)?;
        drop(waiting);
        (kept.lock().unwrap_or_else(PoisonError::into_inner)).push(row.clone());
        if !quiet && rows.is_empty() {
            output::print(HEADING)?;
        }
        if !quiet {
            output::print(&line(&row))?;
        }
        rows.push(row);
    }
    let refuted: u64 = rows.iter().map(|row| row.refuted).sum();
    if !quiet && refuted > 0 {
        let episodes: u64 = rows.iter().map(|row| row.episodes).sum();
        output::print(&format!(
            "# the machine was wrong about {refuted} of {}",
            count(usize::try_from(episodes)?, "episode")
        ))?;
    }
    Ok(rows)
}

/// A line on the terminal, as long as a row is being played.
struct Waiting;

impl Waiting {
    fn for_plan(plan: &EvaluationPlan) -> Option<Self> {
        let mut terminal = std::io::stderr();
        if !terminal.is_terminal() {
            return None;
        }
        let maps = match plan.split {
            Split::Training => "training maps",
            Split::HeldOut => "held-out maps",
        };
        let episodes = count(plan.episodes, "episode");
        // Nobody has to see it.
        let _ = write!(terminal, "playing {episodes} on {maps} …");
        Some(Self)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut terminal = std::io::stderr();
        if terminal.is_terminal() {
            let _ = write!(terminal, "\r\x1b[2K");
        }
    }
}

const HEADING: &str = "maps      actions  episodes  success  95 % interval  return  steps   95 % interval     dead ends  out of time  cut off";

fn line(row: &Evaluation) -> String {
    let percent = |interval: Interval| {
        format!(
            "{:.1} to {:.1}",
            100.0 * interval.low,
            100.0 * interval.high
        )
    };
    let steps = |interval: Interval| format!("{:.1} to {:.1}", interval.low, interval.high);
    format!(
        "{:<8}  {:<7}  {:>8}  {:>5.1} %  {:<13}  {:>6.3}  {:>6.1}  {:<16}  {:>9}  {:>11}  {:>7}",
        if row.held_out { "held-out" } else { "training" },
        if row.greedy { "greedy" } else { "drawn" },
        row.episodes,
        100.0 * row.success,
        percent(row.success_interval),
        row.return_,
        row.length,
        row.length_interval.map_or_else(|| "–".to_owned(), steps),
        row.dead_ends,
        row.out_of_time,
        row.cut_off,
    )
}
