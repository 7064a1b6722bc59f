//! The tables of experiments: `runs.csv` with one row per run, and a summary with one row per group of runs that differ only in
//! their seeds.
//!
//! Groups are summed up by the interquartile mean over their runs, with the 95 % interval of a stratified bootstrap, as rliable does.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Result;
use form_core::Machine;
use form_lab::{Evaluation, RunResult, mean};

use crate::groups::groups;
use crate::plan::Experiment;
use crate::runner::{RunOutcome, RunProgress};
use crate::statistics::{CONFIDENCE, bootstrap_interval, interquartile_mean, median_and_range};

/// What the columns of the table mean.
pub(crate) const TABLE_NOTES: &str = "Numbers are interquartile means over the runs, with the 95 % interval of a stratified bootstrap in brackets. Success is that of the last evaluation of a run: all episodes count that were started, on the maps of the training. *Random* is the success of uniformly random actions on the same episodes. The last column but one compares the steps of successful episodes with those of shortest solutions from the same starts.";

/// The program versions that made the runs.
pub(crate) fn versions(outcomes: &[RunOutcome]) -> String {
    let results = outcomes.iter().filter_map(|one| one.result.as_ref());
    let versions: BTreeSet<&str> = results.map(|result| result.version.as_str()).collect();
    let versions: Vec<&str> = versions.into_iter().collect();
    match versions.as_slice() {
        [] => "No run is done.".to_owned(),
        versions => format!("The runs were made with form {}.", versions.join(" and ")),
    }
}

/// One row per run.
pub(crate) fn runs_csv(outcomes: &[RunOutcome]) -> Result<String> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record([
        "run",
        "task",
        "method",
        "seed",
        "ending",
        "success",
        "evaluated",
        "random",
        "length",
        "shortest",
        "ratio",
        "iterations",
        "steps",
        "seconds",
        "states",
        "edges",
        "relearnings",
        "counterexamples",
        "traces",
        "learning_seconds",
        "last_learning_seconds",
        "version",
    ])?;
    for RunOutcome { run, result, .. } in outcomes {
        let Some(result) = result else { continue };
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let evaluation = result.evaluation.as_ref();
        let of = |value: fn(&Evaluation) -> Option<f64>| number(evaluation.and_then(value));
        out.write_record([
            run.name.clone(),
            result.task.clone(),
            result.method.to_string(),
            result.seed.to_string(),
            result.ending.clone(),
            number(result.success),
            evaluation.map_or(String::new(), |found| found.episodes.to_string()),
            of(|found| found.random),
            of(|found| Some(found.length)),
            of(|found| found.shortest),
            of(|found| found.ratio),
            result.iterations.to_string(),
            result.steps.to_string(),
            format!("{:.1}", result.seconds),
            result.states.to_string(),
            result.edges.to_string(),
            result.relearnings.to_string(),
            result.counterexamples.to_string(),
            result.traces.to_string(),
            format!("{:.4}", result.learning_seconds),
            number(result.last_learning_seconds),
            result.version.clone(),
        ])?;
    }
    Ok(String::from_utf8(out.into_inner()?)?)
}

/// The groups of experiments for which there is something to tell, as their names in tables, with what is told of their runs.
fn told<'a, T>(
    experiments: &[Experiment],
    outcomes: &'a [RunOutcome],
    of: impl Fn(&'a RunOutcome) -> Option<T>,
) -> Vec<(String, Vec<T>)> {
    let mut told = Vec::new();
    for experiment in experiments {
        let name = experiment.as_str();
        for (group, label) in groups(*experiment) {
            let runs = outcomes.iter().filter(|outcome| outcome.is_of(name, group));
            let runs: Vec<T> = runs.filter_map(&of).collect();
            if !runs.is_empty() {
                told.push((format!("{name}: {label}"), runs));
            }
        }
    }
    told
}

/// One row per group of runs.
pub fn results_table(experiments: &[Experiment], outcomes: &[RunOutcome]) -> String {
    let mut text = "| experiment | runs | converged | steps until then | success | random | steps ÷ shortest | machine |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    for (group, results) in told(experiments, outcomes, |outcome| outcome.result.as_ref()) {
        let _ = writeln!(text, "{}", row(&group, &results));
    }
    text
}

/// The evaluations at the end of a run that is not finished, by which it is judged.
const LAST: usize = 3;

/// One row per group with runs that have begun and are not finished; nothing if there are none.
pub(crate) fn unfinished_table(experiments: &[Experiment], outcomes: &[RunOutcome]) -> String {
    let groups = told(experiments, outcomes, |outcome| outcome.progress.as_ref());
    if groups.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "## Runs that are not finished\n\nSteps so far: the median, with the least and the most. Success of the last {LAST} evaluations of a run together, and of its best one: interquartile means over the runs, as above.\n\n| experiment | runs | steps so far | last evaluations | best evaluation |\n|---|---|---|---|---|\n"
    );
    for (group, runs) in groups {
        let steps: Vec<f64> = runs.iter().map(|run| run.steps as f64 / 1e6).collect();
        let last =
            |run: &&RunProgress| mean(&run.success[run.success.len().saturating_sub(LAST)..]);
        let best = |run: &&RunProgress| run.success.iter().copied().reduce(f64::max);
        let percent = |rates: Vec<f64>| {
            let text = summary(&rates, |rate| format!("{:.1}", 100.0 * rate));
            text.map_or_else(|| "–".to_owned(), |text| text + " %")
        };
        let _ = writeln!(
            text,
            "| {group} | {} | {} M | {} | {} |",
            runs.len(),
            median_and_range(&steps, 2),
            percent(runs.iter().filter_map(last).collect()),
            percent(runs.iter().filter_map(best).collect()),
        );
    }
    text + "\n"
}

/// The success rates of performance profiles.
const RATES: [f64; 6] = [0.5, 0.7, 0.9, 0.95, 0.99, 1.0];
/// The environment steps of performance profiles, in millions.
const STEPS: [f64; 6] = [0.25, 0.35, 0.5, 1.0, 2.0, 5.0];

/// Performance profiles (Agarwal et al., 2021): the share of the runs of a group with at least a success rate, and that of the runs which
/// have converged by a number of steps.
pub(crate) fn profiles_table(experiments: &[Experiment], outcomes: &[RunOutcome]) -> String {
    let mut text = "The share of the finished runs with at least this success in the last evaluation, and of those that have converged by this number of environment steps. Runs that were begun and not finished do not count here.\n\n| experiment | runs |".to_owned();
    for rate in RATES {
        let _ = write!(text, " ≥ {:.0} % |", 100.0 * rate);
    }
    for steps in STEPS {
        let _ = write!(text, " by {steps} M |");
    }
    text += "\n|---|---|";
    text += &"---|".repeat(RATES.len() + STEPS.len());
    text.push('\n');
    for (group, results) in told(experiments, outcomes, |outcome| outcome.result.as_ref()) {
        let share = |has: &dyn Fn(&RunResult) -> bool| {
            let count = results.iter().filter(|result| has(result)).count();
            format!(" {:.0} % |", 100.0 * count as f64 / results.len() as f64)
        };
        let _ = write!(text, "| {group} | {} |", results.len());
        for rate in RATES {
            text += &share(&|result| result.success.is_some_and(|success| success >= rate));
        }
        for steps in STEPS {
            text += &share(&|result| {
                result.ending == "converged" && result.steps as f64 <= 1e6 * steps
            });
        }
        text.push('\n');
    }
    text
}

/// A group of runs, at least one.
fn row(group: &str, results: &[&RunResult]) -> String {
    let converged: Vec<f64> = (results.iter())
        .filter(|result| result.ending == "converged")
        .map(|result| result.steps as f64 / 1e6)
        .collect();
    let evaluations = || {
        results
            .iter()
            .filter_map(|result| result.evaluation.as_ref())
    };
    let rates: Vec<f64> = results.iter().filter_map(|result| result.success).collect();
    // Runs that version 0.1 made are not compared with others.
    let rates = if rates.len() == results.len() {
        rates
    } else {
        Vec::new()
    };
    let random: Vec<f64> = evaluations().filter_map(|found| found.random).collect();
    let ratios: Vec<f64> = evaluations().filter_map(|found| found.ratio).collect();
    let exact = evaluations().all(|found| found.shortest_exact);
    let dash = || "–".to_owned();
    let machine = (results.first())
        .and_then(|first| first.machine.as_deref()?.parse::<Machine>().ok())
        .map_or_else(dash, |machine| machine.describe_size());
    format!(
        "| {group} | {} | {} | {} | {} | {} | {} | {machine} |",
        results.len(),
        converged.len(),
        summary(&converged, |steps| format!("{steps:.2}")).map_or_else(dash, |text| text + " M"),
        summary(&rates, |rate| format!("{:.1}", 100.0 * rate))
            .map_or_else(dash, |text| text + " %"),
        mean(&random).map_or_else(dash, |rate| format!("{:.1} %", 100.0 * rate)),
        summary(&ratios, |ratio| format!("{ratio:.2}")).map_or_else(dash, |text| match exact {
            true => text,
            false => format!("at most {text}"),
        }),
    )
}

/// `0.95 [0.82–1.05]`: the interquartile mean, and the interval where there are several runs.
fn summary(values: &[f64], text: impl Fn(f64) -> String) -> Option<String> {
    let middle = text(interquartile_mean(values)?);
    let strata = [values.to_vec()];
    let interval = bootstrap_interval(&strata, interquartile_mean, CONFIDENCE);
    Some(match interval.filter(|_| values.len() > 1) {
        Some(interval) => format!("{middle} [{}–{}]", text(interval.low), text(interval.high)),
        None => middle,
    })
}
