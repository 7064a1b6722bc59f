//! `form reproduce`: run the experiments of the paper and write curves, tables, and its claims beside what was measured.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use clap::Parser as _;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use form_lab::Preset;
use form_paper::{
    CheckedFile, Experiment, NoisyRuns, PRESET_PAPER, PlanOptions, PlannedRun, Results, RunOutcome,
    Runner, Scaling, Table3, UnknownTasks, ZeroShot, check_runs, check_tables, findings_table,
    has_section, keep_runs, most_telling_first, plan_runs, recorded_command, recorded_runs,
    results_table, update_section, write_results,
};
use form_rl::ReachAvoidPolicy;
use serde_json::{Value, json};

use crate::output::count;
use crate::train::preset_parser;
use crate::{Answer, input, output, train_loop};

/// Repeat the experiments of the paper: curves, tables, its claims beside what was measured
///
/// Several runs train at once, each in its own folder. Finished runs are not repeated and stopped ones resume, so the command can be
/// stopped and repeated. Results are computed from the run folders only. The exit code is 1 if not all runs were finished in time.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form reproduce all-yellow --seeds 10\n  form reproduce --budget 2h --jobs 8\n  form reproduce timings --json\n  form reproduce all-yellow green-but-one blue-all-yellow-7 --preset paper --budget 8m\n  form reproduce --runs results/runs --budget 0s --update README.md\n  form reproduce --check"
)]
pub struct Args {
    /// The experiments [default: all but timings, which uses the runs of the others]
    #[arg(value_name = "EXPERIMENT", value_parser = experiment_parser())]
    experiments: Vec<Named>,
    /// The number of seeds, which count from 1
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// The time limit for all runs, such as 30m; unfinished runs can be resumed
    #[arg(long, value_name = "TIME", value_parser = input::duration)]
    budget: Option<Duration>,
    /// How many runs train at once [default: one per core]
    #[arg(long, value_name = "N", value_parser = input::at_most::<256>)]
    jobs: Option<usize>,
    /// The number of threads per run; results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = input::at_most::<256>)]
    threads: usize,
    /// The settings to start from
    #[arg(long, value_name = "PRESET", default_value = "fast", value_parser = preset_parser())]
    preset: Preset,
    /// A setting of config.toml for all runs; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The folder of the runs [default: runs/reproduce; for the preset paper, runs/preset-paper]
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// The folder of curves and tables, which keeps the small files of runs; results of other runs are not overwritten [default: results, for the preset paper results/preset-paper, with a number if needed]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// For zero-shot: a policy that `form pretrain` made, besides the one in the program; may be repeated
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
    /// For zero-shot: maps per machine [default: 200]
    #[arg(long, value_name = "N", value_parser = input::at_most::<100_000>)]
    maps: Option<usize>,
    /// Put the results table into this Markdown file, between the comments `results:begin` and `results:end`
    #[arg(long, value_name = "FILE")]
    update: Option<PathBuf>,
    /// Make curves, tables and verdicts of --out again from the kept raw data and compare; with --update, also its table. Nothing is run or changed
    #[arg(long, conflicts_with_all = ["experiments", "budget", "runs", "set", "policy", "maps"])]
    check: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A command that was recorded beside its results.
#[derive(clap::Parser)]
struct Recorded {
    #[command(flatten)]
    args: Args,
}

/// An experiment that consists of runs in folders, or one without.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Runs(Experiment),
    ZeroShot,
    UnknownTasks,
    LabelNoise,
    Table3,
    Scaling,
}

const ZERO_SHOT: &str = "zero-shot";
const UNKNOWN_TASKS: &str = "unknown-tasks";
const LABEL_NOISE: &str = "label-noise";
const TABLE_3: &str = "table-3";
const SCALING: &str = "scaling";

fn experiment_parser() -> impl TypedValueParser<Value = Named> {
    let named = |name: &str| {
        let runs = (Experiment::ALL.into_iter().chain([Experiment::Timings]))
            .find(|experiment| experiment.as_str() == name);
        runs.map(Named::Runs)
            .or((name == ZERO_SHOT).then_some(Named::ZeroShot))
            .or((name == UNKNOWN_TASKS).then_some(Named::UnknownTasks))
            .or((name == LABEL_NOISE).then_some(Named::LabelNoise))
            .or((name == TABLE_3).then_some(Named::Table3))
            .or((name == SCALING).then_some(Named::Scaling))
    };
    let value = |experiment: Experiment| {
        PossibleValue::new(experiment.as_str()).help(match experiment {
            Experiment::AllYellow => "Figure 7, AllYellow: every method",
            Experiment::GreenButOne => "Figure 7, GreenButOne: every method",
            Experiment::BlueAllYellow7 => "Figure 7, Blue-AllYellow-7: every method",
            Experiment::Transfer => "Figures 11 to 14: transfer to tasks with more checkpoints",
            Experiment::Unseen => "Held-out maps, and more checkpoints without retraining",
            Experiment::Timings => "Table 3: the learning times of machines",
        })
    };
    let all = Experiment::ALL.into_iter().chain([Experiment::Timings]);
    let zero_shot = PossibleValue::new(ZERO_SHOT)
        .help("Machines carried out without training, as `form run` does; on its own");
    let unknown_tasks = PossibleValue::new(UNKNOWN_TASKS)
        .help("Machines of unknown tasks learnt by exploring from object to object; on its own");
    let label_noise = PossibleValue::new(LABEL_NOISE)
        .help("Training with wrong labels, with and without a tolerance; on its own");
    let table_3 = PossibleValue::new(TABLE_3)
        .help("Table 3, the learner alone, on recorded traces; clingo, too, if it is installed; on its own");
    let scaling = PossibleValue::new(SCALING)
        .help("How cost grows with states, objects and the size of the map; on its own");
    let others = [zero_shot, unknown_tasks, label_noise, table_3, scaling];
    PossibleValuesParser::new(all.map(value).chain(others).collect::<Vec<_>>())
        .try_map(move |name| named(&name).ok_or("unknown experiment"))
}

pub fn run(args: &Args) -> Result<Answer> {
    if args.check {
        return check(args);
    }
    let has_runs = |named: &Named| matches!(named, Named::Runs(_));
    if let [only] = &args.experiments[..]
        && !has_runs(only)
        && (args.budget.is_some() || !args.set.is_empty() || args.update.is_some())
    {
        bail!(
            "--budget, --set and --update go with experiments that have run folders, which zero-shot and unknown-tasks have not"
        );
    }
    if args.experiments == [Named::ZeroShot] {
        return zero_shot(args);
    }
    if args.experiments == [Named::UnknownTasks] {
        return unknown_tasks(args);
    }
    if args.experiments == [Named::LabelNoise] {
        return label_noise(args);
    }
    if args.experiments == [Named::Table3] {
        return table_3(args);
    }
    if args.experiments == [Named::Scaling] {
        return scaling(args);
    }
    if !args.policy.is_empty() || args.maps.is_some() {
        bail!("--policy and --maps go with zero-shot: no other experiment uses them");
    }
    let experiments = experiments(args)?;
    let options = plan_options(args)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runner = Runner {
        folder: runs_folder(args),
        jobs: args.jobs.unwrap_or(cores),
        threads: args.threads,
        budget: args.budget,
        interrupt: input::interrupt()?,
    };
    let plan = plan_runs(&experiments, &options)?;
    let out = folder(args, &plan)?;
    runner.carry_out(&most_telling_first(&plan), &|line| output::remark(line))?;
    let runner = keep_runs(&out, &runner, &plan)?;
    let outcomes = runner.outcomes(&plan)?;
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
                "--update: no run is finished, so there is no table for {}",
                path.display()
            );
        }
        update_section(path, "results", &short_table(&experiments, &outcomes))?;
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
            "{missing} of {} runs are unfinished: repeat the command to resume them",
            outcomes.len()
        ));
    }
    Ok(if missing > 0 { Answer::No } else { Answer::Yes })
}

/// The experiments that consist of runs: all of them if none is named.
fn experiments(args: &Args) -> Result<Vec<Experiment>> {
    let named = args.experiments.iter().map(|named| match named {
        Named::Runs(experiment) => Ok(*experiment),
        Named::ZeroShot => bail!("zero-shot has no runs: give it a command of its own"),
        Named::UnknownTasks => {
            bail!("unknown-tasks has no run folders: give it a command of its own")
        }
        Named::LabelNoise => bail!("label-noise has no run folders: give it a command of its own"),
        Named::Table3 => bail!("table-3 has no run folders: give it a command of its own"),
        Named::Scaling => bail!("scaling has no run folders: give it a command of its own"),
    });
    let experiments = named.collect::<Result<Vec<_>>>()?;
    Ok(match experiments.is_empty() {
        true => Experiment::ALL.to_vec(),
        false => experiments,
    })
}

fn plan_options(args: &Args) -> Result<PlanOptions> {
    let set = (args.set.iter()).map(|text| {
        let (key, value) = train_loop::setting(text)?;
        Ok((key.to_owned(), value.to_owned()))
    });
    Ok(PlanOptions {
        preset: args.preset,
        seeds: args.seeds,
        set: set.collect::<Result<_>>()?,
    })
}

/// The experiments and settings of kept results with run folders, and a runner that has their raw data.
fn kept_runs(folder: &Path) -> Result<(Vec<Experiment>, PlanOptions, Runner)> {
    let command = recorded_command(folder)?;
    let recorded = Recorded::try_parse_from(command.split_whitespace().skip(1));
    let recorded = recorded
        .map_err(|error| anyhow!("`{command}`: {error}"))?
        .args;
    let runner = Runner {
        folder: folder.join("runs"),
        jobs: 1,
        threads: 1,
        budget: Some(Duration::ZERO),
        // Nothing runs: Ctrl-C may end the process at once.
        interrupt: input::interrupted(),
    };
    Ok((experiments(&recorded)?, plan_options(&recorded)?, runner))
}

/// Makes kept results again from their raw data and compares.
fn check(args: &Args) -> Result<Answer> {
    let folder = (args.out.clone()).unwrap_or_else(|| PathBuf::from("results"));
    let (experiments, options, runner) = kept_runs(&folder)?;
    let mut checked = check_runs(&folder, &runner, &experiments, &options)?;
    let of_the_paper = folder.join(PRESET_PAPER);
    if of_the_paper.is_dir() {
        let (experiments, options, runner) = kept_runs(&of_the_paper)?;
        let files = check_runs(&of_the_paper, &runner, &experiments, &options)?;
        checked.extend(files.into_iter().map(|file| CheckedFile {
            name: format!("{PRESET_PAPER}/{}", file.name),
            ..file
        }));
    }
    checked.extend(check_tables(&folder)?);
    if let Some(path) = &args.update {
        let outcomes = runner.outcomes(&plan_runs(&experiments, &options)?)?;
        checked.push(CheckedFile {
            name: path.display().to_string(),
            agrees: has_section(path, "results", &short_table(&experiments, &outcomes))?,
        });
    }
    let all = checked.iter().all(|file| file.agrees);
    if args.json {
        let files = checked
            .iter()
            .map(|file| json!({"file": file.name, "agrees": file.agrees}));
        output::print_json(&json!({"agrees": all, "files": files.collect::<Vec<_>>()}))?;
    } else {
        let mut text = String::new();
        for file in &checked {
            let verdict = if file.agrees { "agrees" } else { "differs" };
            text += &format!("{verdict}  {}\n", file.name);
        }
        output::print(&text)?;
    }
    Ok(if all { Answer::Yes } else { Answer::No })
}

/// The table of the paper's tasks alone.
fn short_table(experiments: &[Experiment], outcomes: &[RunOutcome]) -> String {
    let tasks = |experiment: &&Experiment| {
        !matches!(**experiment, Experiment::Transfer | Experiment::Unseen)
    };
    let tasks: Vec<Experiment> = experiments.iter().filter(tasks).copied().collect();
    results_table(&tasks, outcomes)
}

/// Carries out machines without training.
fn zero_shot(args: &Args) -> Result<Answer> {
    let mut policies = vec![ReachAvoidPolicy::shipped()];
    for path in &args.policy {
        policies.push(ReachAvoidPolicy::open(path)?);
    }
    let mut command = "form reproduce zero-shot".to_owned();
    for path in &args.policy {
        command += &format!(" --policy {}", output::quoted(path));
    }
    if let Some(maps) = args.maps {
        command += &format!(" --maps {maps}");
    }
    let out = (args.out.clone()).unwrap_or_else(|| PathBuf::from("results/zero-shot"));
    let interrupt = input::interrupt()?;
    let experiment = ZeroShot {
        policies,
        maps: args.maps.unwrap_or(200),
        command,
        interrupt: &interrupt,
    };
    let (rows, complete) = experiment.carry_out(&out, &|line| output::remark(line))?;
    answer(args, &out, complete, ("evaluations", json!(rows)))
}

/// Learns the machines of unknown tasks.
fn unknown_tasks(args: &Args) -> Result<Answer> {
    if let Some(jobs) = args.jobs {
        input::use_threads(Some(jobs))?;
    }
    let out = (args.out.clone()).unwrap_or_else(|| PathBuf::from("results/unknown-tasks"));
    let interrupt = input::interrupt()?;
    let experiment = UnknownTasks {
        seeds: args.seeds,
        interrupt,
    };
    let (runs, complete) = experiment.carry_out(&out, &|line| output::remark(line))?;
    answer(args, &out, complete, ("runs", json!(runs)))
}

/// Trains with wrong labels.
fn label_noise(args: &Args) -> Result<Answer> {
    if let Some(jobs) = args.jobs {
        input::use_threads(Some(jobs))?;
    }
    let out = (args.out.clone()).unwrap_or_else(|| PathBuf::from("results/label-noise"));
    let experiment = NoisyRuns {
        seeds: args.seeds,
        interrupt: input::interrupt()?,
    };
    let (runs, complete) = experiment.carry_out(&out, &|line| output::remark(line))?;
    answer(args, &out, complete, ("runs", json!(runs)))
}

/// Measures the learner alone.
fn table_3(args: &Args) -> Result<Answer> {
    if let Some(jobs) = args.jobs {
        input::use_threads(Some(jobs))?;
    }
    let out = (args.out.clone()).unwrap_or_else(|| PathBuf::from("results/table-3"));
    let experiment = Table3 {
        seeds: args.seeds,
        runs: runs_folder(args),
        interrupt: input::interrupt()?,
        clingo: Mutex::default(),
    };
    let (machines, complete) = experiment.carry_out(&out, &|line| output::remark(line))?;
    answer(args, &out, complete, ("machines", json!(machines)))
}

/// Measures how cost grows.
fn scaling(args: &Args) -> Result<Answer> {
    if let Some(jobs) = args.jobs {
        input::use_threads(Some(jobs))?;
    }
    let out = (args.out.clone()).unwrap_or_else(|| PathBuf::from("results/scaling"));
    let experiment = Scaling {
        seeds: args.seeds,
        interrupt: input::interrupt()?,
    };
    let (runs, complete) = experiment.carry_out(&out, &|line| output::remark(line))?;
    answer(args, &out, complete, ("runs", json!(runs)))
}

/// The answer of an experiment without run folders: its data for scripts, or its tables.
fn answer(args: &Args, out: &Path, complete: bool, (name, data): (&str, Value)) -> Result<Answer> {
    if args.json {
        output::print_json(&json!({
            "results": out.display().to_string(),
            "complete": complete,
            name: data,
        }))?;
    } else if complete {
        output::print(&form_lab::read_text(&out.join("results.md"))?)?;
    }
    if !complete {
        output::remark("interrupted: repeat the command to go on");
    }
    Ok(if complete { Answer::Yes } else { Answer::No })
}

/// The folder of the runs.
fn runs_folder(args: &Args) -> PathBuf {
    args.runs.clone().unwrap_or_else(|| match args.preset {
        Preset::Fast => PathBuf::from("runs/reproduce"),
        Preset::Paper => PathBuf::from("runs/preset-paper"),
    })
}

/// The folder of curves and tables. Results of other runs are not overwritten.
fn folder(args: &Args, plan: &[PlannedRun]) -> Result<PathBuf> {
    let others = |folder: &Path| -> Result<bool> {
        let planned = |name: &String| plan.iter().any(|run| run.name == *name);
        Ok(!recorded_runs(folder)?.iter().all(planned))
    };
    if let Some(folder) = &args.out {
        if others(folder)? {
            bail!(
                "{} has results of other runs, which would be lost: name another folder with --out, or include their experiments",
                folder.display()
            );
        }
        return Ok(folder.clone());
    }
    let first = match args.preset {
        Preset::Fast => "results".to_owned(),
        Preset::Paper => format!("results/{PRESET_PAPER}"),
    };
    let mut folder = PathBuf::from(&first);
    let mut number = 1;
    while others(&folder)? {
        number += 1;
        folder = PathBuf::from(format!("{first}-{number}"));
    }
    Ok(folder)
}

/// Keeps results of more runs than are finished now.
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
        "{}{} not changed: it has results of {} that {} not finished in {}, such as {}: allow more time with --budget, name their folder with --runs, or another one with --out",
        out.display(),
        match &args.update {
            Some(file) => format!(", and with it {}, is", file.display()),
            None => " is".to_owned(),
        },
        count(lost.len(), "run"),
        if lost.len() == 1 { "is" } else { "are" },
        runs_folder(args).display(),
        lost.first().map_or("", String::as_str),
    ));
    Ok(Answer::No)
}

/// The arguments that determine the results, to repeat the command.
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
