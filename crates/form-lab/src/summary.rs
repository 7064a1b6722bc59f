//! What runs came to, as a Markdown table, and its place in a Markdown file.
//!
//! Results are read from run folders, or from a list in a JSON or TOML file; runs of the same task and method are one row,
//! whatever their seeds. In a file the table stands between `<!-- NAME:begin -->` and `<!-- NAME:end -->`: what is between
//! them is made by a command and never by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::atomic::{cannot, read_text, write_atomically};
use crate::metrics::{MetricsRow, TimingsRow, read_rows};
use crate::run_folder::RunFolder;
use crate::statistics::{mean, median, quantile};

/// The success rate from which on a task counts as solved.
pub const SOLVED: f64 = 0.99;

/// The order of tasks and methods in tables; others follow by name.
const TASKS: [&str; 5] = [
    "all-yellow",
    "green-but-one",
    "blue-all-yellow-7",
    "all-yellow-4",
    "all-yellow-6",
];
const METHODS: [&str; 6] = [
    "form",
    "handcrafted",
    "propositional",
    "single-policy",
    "recurrent-ppo",
    "ppo",
];
/// How deep below a folder runs are looked for.
const DEPTH: usize = 8;

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The task's name.
    pub task: String,
    /// The method's name.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// Environment steps in all.
    pub steps: u64,
    /// Seconds in all.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// The success rate of the last iteration in which an episode ended.
    #[serde(default)]
    pub success: Option<f64>,
    /// Environment steps until the success rate first was [`SOLVED`].
    #[serde(default)]
    pub solved_steps: Option<u64>,
    /// Seconds until then.
    #[serde(default)]
    pub solved_seconds: Option<f64>,
    /// States of the last machine.
    pub states: u64,
    /// Its edges.
    pub edges: u64,
}

/// The part of a configuration that says which row a run belongs to.
#[derive(Deserialize)]
struct Identity {
    task: String,
    method: String,
    seed: u64,
}

/// A list of results as a TOML file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    results: Vec<Outcome>,
}

impl Outcome {
    /// What a run came to so far.
    pub fn of_run(run: &RunFolder) -> Result<Self> {
        let config = run.read_config()?;
        let Identity { task, method, seed } = toml::from_str(&config)
            .with_context(|| format!("{}: not a run's configuration", run.config().display()))?;
        let metrics: Vec<MetricsRow> = read_rows(&run.metrics())?;
        let timings: Vec<TimingsRow> = if run.timings().exists() {
            read_rows(&run.timings())?
        } else {
            Vec::new()
        };
        let seconds_at = |iteration| {
            let row = timings.iter().find(|row| row.iteration == iteration);
            row.map(|row| row.seconds)
        };
        let last = metrics.last().cloned().unwrap_or_default();
        let solved = (metrics.iter()).find(|row| row.success.is_some_and(|rate| rate >= SOLVED));
        Ok(Self {
            task: run.task_name(&task),
            method,
            seed,
            steps: last.steps,
            seconds: seconds_at(last.iteration),
            success: metrics.iter().rev().find_map(|row| row.success),
            solved_steps: solved.map(|row| row.steps),
            solved_seconds: solved.and_then(|row| seconds_at(row.iteration)),
            states: last.states,
            edges: last.edges,
        })
    }
}

/// The results of all runs in and below a folder, or of a list: a JSON file with an array, or a TOML file with `[[results]]`.
pub fn outcomes(path: &Path) -> Result<Vec<Outcome>> {
    if path.is_dir() {
        let runs = run_folders(path)?;
        if runs.is_empty() {
            bail!(
                "{}: there is no run in this folder: name one with run folders, each with its config.toml",
                path.display()
            );
        }
        return runs.iter().map(Outcome::of_run).collect();
    }
    let text = read_text(path)?;
    let place = || format!("{}: not a list of results", path.display());
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => serde_json::from_str(&text).with_context(place),
        Some("toml") => toml::from_str(&text)
            .map(|listed: Listed| listed.results)
            .with_context(place),
        _ => bail!(
            "{}: results are read from a folder of runs, a .json or a .toml file",
            path.display()
        ),
    }
}

/// The run folders in and below a folder, by name. What is inside a run is not looked at.
pub fn run_folders(path: &Path) -> Result<Vec<RunFolder>> {
    let is_run = |folder: &Path| RunFolder::open(folder).is_ok_and(|run| run.metrics().is_file());
    let found = folders_below(path, is_run)?;
    found.iter().map(|folder| RunFolder::open(folder)).collect()
}

/// The folders of a sort at a path and below it, but not inside one another, in the order of their names.
pub(crate) fn folders_below(path: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open: Vec<(PathBuf, usize)> = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        if wanted(&folder) {
            found.push(folder);
            continue;
        }
        let failed = |error| cannot("list", &folder, error);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if depth < DEPTH && entry.file_type().map_err(failed)?.is_dir() {
                open.push((entry.path(), depth + 1));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The table: a row for each task and method.
pub fn markdown_table(outcomes: &[Outcome]) -> String {
    let place = |known: &[&str], name: &str| {
        let place = known.iter().position(|known| *known == name);
        (place.unwrap_or(known.len()), name.to_owned())
    };
    let mut rows: BTreeMap<_, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        let key = (
            place(&TASKS, &outcome.task),
            place(&METHODS, &outcome.method),
        );
        rows.entry(key).or_default().push(outcome);
    }
    let percent = (SOLVED * 100.0).round();
    let mut table = format!(
        "| task | method | seeds | success (range) | steps to {percent} % | time to {percent} % | machine |\n\
         |---|---|---|---|---|---|---|\n"
    );
    for (((_, task), (_, method)), runs) in rows {
        let cells = [
            task.replace('|', "\\|"),
            method.replace('|', "\\|"),
            runs.len().to_string(),
            success(&runs),
            reached(
                &runs,
                |run| run.solved_steps.map(|steps| steps as f64),
                steps,
            ),
            reached(&runs, |run| run.solved_seconds, duration),
            machine(&runs),
        ];
        table += &format!("| {} |\n", cells.join(" | "));
    }
    table
}

const NO_VALUE: &str = "–";

/// The mean success rate, and that of the worst and the best run where they differ.
fn success(runs: &[&Outcome]) -> String {
    let rates: Vec<f64> = runs.iter().filter_map(|run| run.success).collect();
    let percent = |rate: Option<f64>| rate.map(|rate| format!("{:.1}", rate * 100.0));
    let ends = (
        percent(quantile(&rates, 0.0)),
        percent(quantile(&rates, 1.0)),
    );
    match (percent(mean(&rates)), ends) {
        (Some(mean), (Some(worst), Some(best))) if worst != best => {
            format!("{mean} % ({worst} to {best})")
        }
        (Some(mean), _) => format!("{mean} %"),
        (None, _) => NO_VALUE.to_owned(),
    }
}

/// The median over the runs that got there, and how many did if not all.
fn reached(
    runs: &[&Outcome],
    value: impl Fn(&Outcome) -> Option<f64>,
    written: impl Fn(f64) -> String,
) -> String {
    let values: Vec<f64> = runs.iter().filter_map(|run| value(run)).collect();
    match median(&values) {
        None => NO_VALUE.to_owned(),
        Some(middle) if values.len() == runs.len() => written(middle),
        Some(middle) => format!("{} ({} of {})", written(middle), values.len(), runs.len()),
    }
}

/// The size of the machines: of all, or from the smallest to the largest. Some methods have none.
fn machine(runs: &[&Outcome]) -> String {
    if runs.iter().all(|run| run.states == 0) {
        return NO_VALUE.to_owned();
    }
    let span = |values: &dyn Fn(&Outcome) -> u64, noun: &str| {
        let low = runs.iter().map(|run| values(run)).min().unwrap_or(0);
        let high = runs.iter().map(|run| values(run)).max().unwrap_or(0);
        match (low, high) {
            (1, 1) => format!("1 {noun}"),
            (low, high) if low == high => format!("{low} {noun}s"),
            (low, high) => format!("{low} to {high} {noun}s"),
        }
    };
    format!(
        "{}, {}",
        span(&|run| run.states, "state"),
        span(&|run| run.edges, "edge")
    )
}

fn steps(steps: f64) -> String {
    match steps {
        steps if steps >= 1e6 => format!("{:.2} M", steps / 1e6),
        steps if steps >= 1e3 => format!("{:.0} k", steps / 1e3),
        steps => format!("{steps:.0}"),
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 10.0 => format!("{seconds:.1} s"),
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7200.0 => format!("{:.1} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

/// Replaces the part of a Markdown file between the markers of that name, at once; all else stays byte by byte.
pub fn update_marked(path: &Path, name: &str, content: &str) -> Result<()> {
    let text = read_text(path)?;
    let updated =
        replace_marked(&text, name, content).with_context(|| path.display().to_string())?;
    if updated == text {
        return Ok(());
    }
    write_atomically(path, updated.as_bytes())
}

/// The same for a text.
pub fn replace_marked(text: &str, name: &str, content: &str) -> Result<String> {
    let find = |part: &str| {
        let marker = format!("<!-- {name}:{part} -->");
        let mut places = text.match_indices(&marker).map(|(at, _)| at);
        match (places.next(), places.next()) {
            (Some(at), None) => Ok((at, at + marker.len())),
            (None, _) => bail!("there is no `{marker}`: write it where the table belongs"),
            (Some(_), Some(second)) => bail!(
                "line {}: `{marker}` for the second time: remove one",
                text[..second].lines().count() + usize::from(text[..second].ends_with('\n'))
            ),
        }
    };
    let ((_, begin), (end, _)) = (find("begin")?, find("end")?);
    if end < begin {
        bail!("`<!-- {name}:end -->` stands before `<!-- {name}:begin -->`: exchange them");
    }
    // A table needs an empty line above it.
    Ok(format!(
        "{}\n\n{}\n\n{}",
        &text[..begin],
        content.trim(),
        &text[end..]
    ))
}
