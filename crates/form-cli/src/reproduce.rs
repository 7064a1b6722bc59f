//! `form reproduce`: the paper's experiments, their curves and tables, and its statements beside what was measured.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use form_lab::Preset;
use form_paper::{
    Experiment, PlanOptions, PlannedRun, Results, RunOutcome, Runner, findings_table, plan_runs,
    recorded_runs, results_table, update_section, write_results,
};
use serde_json::{Value, json};

use crate::output::count;
use crate::train::preset_parser;
use crate::{Answer, input, output, train_loop};

/// Rerun the paper's experiments: curves, tables, its statements beside what was measured
///
/// Runs are carried out several at once, each in a folder of its own. Runs that are done are not done again and those that were
/// stopped go on, so the command can be stopped and given again. What is said of them is made from their folders alone. The exit
/// code is 1 if there was no time for all runs.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form reproduce all-yellow --seeds 10\n  form reproduce --budget 2h --jobs 8\n  form reproduce timings --json\n  form reproduce --runs results/runs --budget 0s --update README.md"
)]
pub struct Args {
    /// Which experiments [default: all of them]
    #[arg(value_name = "EXPERIMENT", value_parser = experiment_parser())]
    experiments: Vec<Experiment>,
    /// How many seeds, from 1
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// The time for all of it, such as 30m; runs that are not done by then are left as they are
    #[arg(long, value_name = "TIME", value_parser = input::duration)]
    budget: Option<Duration>,
    /// How many runs are carried out at once [default: one a core]
    #[arg(long, value_name = "N", value_parser = input::at_most::<256>)]
    jobs: Option<usize>,
    /// How many threads each of them has; results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = input::at_most::<256>)]
    threads: usize,
    /// What settings start from: fast, or those of the paper
    #[arg(long, value_name = "PRESET", default_value = "fast", value_parser = preset_parser())]
    preset: Preset,
    /// Any setting of all runs by its name in config.toml; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The folder of the runs
    #[arg(long, value_name = "DIR", default_value = "runs/reproduce")]
    runs: PathBuf,
    /// The folder of curves and tables; one that tells of other runs is left as it is [default: results, with a number if it does]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Put the table of the tasks' runs into this Markdown file, between the comments `results:begin` and `results:end`
    #[arg(long, value_name = "FILE")]
    update: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn experiment_parser() -> impl TypedValueParser<Value = Experiment> {
    let named = |name: &str| {
        (Experiment::ALL.into_iter().chain([Experiment::Timings]))
            .find(|experiment| experiment.as_str() == name)
    };
    let names = Experiment::ALL.map(Experiment::as_str).into_iter();
    PossibleValuesParser::new(names.chain([Experiment::Timings.as_str()]))
        .try_map(move |name| named(&name).ok_or("no experiment"))
}

pub fn run(args: &Args) -> Result<Answer> {
    let experiments = match args.experiments.is_empty() {
        true => Experiment::ALL.to_vec(),
        false => args.experiments.clone(),
    };
    let set = (args.set.iter()).map(|text| {
        let (key, value) = train_loop::setting(text)?;
        Ok((key.to_owned(), value.to_owned()))
    });
    let options = PlanOptions {
        preset: args.preset,
        seeds: args.seeds,
        set: set.collect::<Result<_>>()?,
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runner = Runner {
        folder: args.runs.clone(),
        jobs: args.jobs.unwrap_or(cores),
        threads: args.threads,
        budget: args.budget,
        interrupt: input::interrupt()?,
    };
    let plan = plan_runs(&experiments, &options)?;
    let out = folder(args.out.as_deref(), &plan)?;
    let outcomes = runner.carry_out(&plan, &|line| output::remark(line))?;
    let missing = (outcomes.iter().filter(|outcome| outcome.result.is_none())).count();
    let table = results_table(&experiments, &outcomes);
    let done = |name: &String| {
        let of = |outcome: &&RunOutcome| outcome.run.name == *name && outcome.result.is_some();
        outcomes.iter().any(|outcome| of(&outcome))
    };
    let mut lost = recorded_runs(&out)?;
    lost.retain(|name| !done(name));
    if !lost.is_empty() {
        return kept(args, &out, &lost, &outcomes, &table);
    }
    let command = format!("form reproduce {}", arguments(args, &experiments));
    let results = write_results(&out, &runner, &experiments, &options, &outcomes, &command)?;
    if let Some(path) = &args.update {
        if outcomes.iter().all(|outcome| outcome.result.is_none()) {
            bail!(
                "--update: no run is done, so there is no table to put into {}",
                path.display()
            );
        }
        // The short form: the tasks of the paper, by every method.
        let tasks = |experiment: &&Experiment| {
            !matches!(**experiment, Experiment::Transfer | Experiment::Unseen)
        };
        let tasks: Vec<Experiment> = experiments.iter().filter(tasks).copied().collect();
        update_section(path, "results", &results_table(&tasks, &outcomes))?;
    }
    let Results { files, findings } = results;
    if args.json {
        let findings: Vec<Value> = (findings.iter())
            .map(|finding| json!({"claim": finding.claim, "measured": finding.measured, "holds": finding.holds}))
            .collect();
        output::print_json(&json!({
            "runs": outcomes.len(),
            "missing": missing,
            "results": out.display().to_string(),
            "files": files,
            "findings": findings,
        }))?;
    } else {
        let mut text = format!("{table}\n{}", findings_table(&findings));
        text += &format!("\nwritten to {}: {}\n", out.display(), files.join(", "));
        output::print(&text)?;
    }
    if missing > 0 {
        output::remark(&format!(
            "{missing} of {} runs are not done: give the same command again and they go on",
            outcomes.len()
        ));
    }
    Ok(if missing > 0 { Answer::No } else { Answer::Yes })
}

/// Where curves and tables go. A folder with results of other runs is not written over.
fn folder(named: Option<&Path>, plan: &[PlannedRun]) -> Result<PathBuf> {
    let others = |folder: &Path| -> Result<bool> {
        let planned = |name: &String| plan.iter().any(|run| run.name == *name);
        Ok(!recorded_runs(folder)?.iter().all(planned))
    };
    if let Some(folder) = named {
        if others(folder)? {
            bail!(
                "{} tells of runs that were not asked for, and they would be gone: name another folder with --out, or ask for them too",
                folder.display()
            );
        }
        return Ok(folder.to_owned());
    }
    let mut folder = PathBuf::from("results");
    let mut number = 1;
    while others(&folder)? {
        number += 1;
        folder = PathBuf::from(format!("results-{number}"));
    }
    Ok(folder)
}

/// Leaves results as they are that tell of more runs than are done.
fn kept(
    args: &Args,
    out: &Path,
    lost: &[String],
    outcomes: &[RunOutcome],
    table: &str,
) -> Result<Answer> {
    let missing = (outcomes.iter()).filter(|outcome| outcome.result.is_none());
    match args.json {
        true => output::print_json(&json!({
            "runs": outcomes.len(),
            "missing": missing.count(),
            "results": out.display().to_string(),
            "files": [],
            "findings": [],
        }))?,
        false => output::print(table)?,
    }
    output::remark(&format!(
        "{}{} left as it is: it tells of {} that {} not done in {}, such as {}: allow more time with --budget, say where they are with --runs, or name another folder with --out",
        out.display(),
        match &args.update {
            Some(file) => format!(", and with it {}, is", file.display()),
            None => " is".to_owned(),
        },
        count(lost.len(), "run"),
        if lost.len() == 1 { "is" } else { "are" },
        args.runs.display(),
        lost.first().map_or("", String::as_str),
    ));
    Ok(Answer::No)
}

/// The arguments that decide on the results, as they can be given again.
fn arguments(args: &Args, experiments: &[Experiment]) -> String {
    let mut words: Vec<String> = match args.experiments.is_empty() {
        true => Vec::new(),
        false => experiments.iter().map(|e| e.as_str().to_owned()).collect(),
    };
    words.push(format!("--seeds {}", args.seeds));
    words.push(format!("--preset {}", args.preset.as_str()));
    words.extend(args.set.iter().map(|set| format!("--set {set}")));
    words.join(" ")
}
