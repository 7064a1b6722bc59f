//! Reads a run's folder for the page: damaged or missing files become notes, and the rest is shown.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use form_core::{Machine, Signature, Trace, TraceFile};

use super::data::{Curves, PolicyData, RunData, Thinned};
use super::history::History;
use super::links::{self, From};
use super::replays::{self, Showing};
use crate::atomic_files::{open_file, read_text};
use crate::config::{RunConfig, is_task_file};
use crate::display::counted;
use crate::error_message::message;
use crate::metrics::{MetricsRow, PoliciesRow, Row, TimingsRow, read_good_rows};
use crate::play_callback::PlayCallback;
use crate::run::RunFolder;
use crate::run::RunResult;
use crate::run::SavedRun;

/// The status of a run that is not over.
pub(super) const UNFINISHED: &str = "unfinished";
/// The maximum number of points per curve.
const MOST_POINTS: usize = 2000;

/// Reads a run for a page; nothing if it was interrupted.
pub(super) fn run(
    path: &Path,
    page: From<'_>,
    showing: Showing,
    callback: PlayCallback<'_>,
) -> Result<Option<RunData>> {
    let folder = RunFolder::folder(path)?;
    if !RunFolder::is_at(path) {
        bail!(
            "{} is not a run folder, it has no config.toml and no other file of a run: name a folder that `form train` made",
            path.display()
        );
    }
    let mut run = RunData {
        name: path.display().to_string(),
        notes: missing(&folder).into_iter().collect(),
        ..RunData::default()
    };
    let config = read_config(&mut run, &folder);
    let result = or_note(&mut run, RunResult::of_run(&folder)).flatten();
    let metrics: Vec<MetricsRow> = rows(&mut run, &folder.metrics());
    note_gaps(&mut run, &metrics, result.as_ref());
    let timings: Vec<TimingsRow> = rows(&mut run, &folder.timings());
    let policies: Vec<PoliciesRow> = rows(&mut run, &folder.policies());
    let (traces, signature) = read_traces(&mut run, &folder);
    note_emptied(
        &mut run,
        &folder,
        (&metrics, &timings, &policies),
        traces.len(),
        result.as_ref(),
    );
    let mut machines = read_machines(&mut run, &folder);
    if machines.is_empty() {
        machines.extend(result.as_ref().and_then(last_machine));
    }
    (run.curves, run.thinned) = curves(&metrics, &timings);
    run.policies = by_state(&policies);
    let history = History {
        machines,
        metrics: &metrics,
        timings: &timings,
        traces: &traces,
        signature: signature.as_ref(),
    };
    run.machines = history.describe();
    match &result {
        Some(result) => {
            run.status.clone_from(&result.ending);
            run.message.clone_from(&result.message);
        }
        None => {
            UNFINISHED.clone_into(&mut run.status);
            run.message = match metrics.last() {
                Some(row) => format!("unfinished: {} so far", counted(row.iteration, "iteration")),
                None => "unfinished: no iteration so far".to_owned(),
            };
        }
    }
    add_success(&mut run, &metrics, result.as_ref());
    run.facts = facts(
        &folder,
        config.as_ref(),
        result.as_ref(),
        &metrics,
        &timings,
    );
    if showing.replays > 0 && folder.checkpoints_folder().exists() {
        let played = (SavedRun::open(path))
            .and_then(|trained| replays::add(&mut run, &trained, showing, callback));
        match played {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => run.notes.push(format!("no replays: {}", message(&error))),
        }
    }
    run.files = links::files(path, page);
    Ok((!callback.is_interrupted()).then_some(run))
}

/// The success of the run in its final evaluation, otherwise in its last one.
fn add_success(run: &mut RunData, metrics: &[MetricsRow], result: Option<&RunResult>) {
    let evaluation = result.and_then(|result| result.evaluation.as_ref());
    let last = || metrics.iter().rev().find_map(|row| row.success);
    run.success = (result.and_then(|result| result.success)).or_else(last);
    run.random = evaluation.and_then(|found| found.random);
    (run.evaluations)
        .extend(evaluation.map(|found| replays::evaluation_data(found, "when it ended")));
    let ended = metrics.iter().any(|row| row.ended_success.is_some());
    if run.success.is_none() && ended {
        run.notes.push(
            "its success was not measured: version 0.1 counted training episodes that had ended, which overestimates it; `form eval` measures it".to_owned(),
        );
    }
}

/// What is missing in a run's folder.
fn missing(folder: &RunFolder) -> Option<String> {
    let gone: Vec<String> = (folder.contents().iter())
        .filter(|path| !path.exists())
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    (!gone.is_empty()).then(|| format!("missing in its folder: {}", gone.join(", ")))
}

/// The value, or the error as a note.
fn or_note<T>(run: &mut RunData, result: Result<T>) -> Option<T> {
    result.map_err(|error| run.notes.push(message(&error))).ok()
}

fn read_config(run: &mut RunData, folder: &RunFolder) -> Option<RunConfig> {
    if !folder.config().exists() {
        return None;
    }
    let text = or_note(run, folder.read_config())?;
    let config = or_note(run, RunConfig::from_toml(&text, &folder.config()))?;
    run.task = Some(folder.task_name(&config.task));
    run.method = Some(config.method.to_string());
    run.seed = Some(config.seed);
    run.config = or_note(run, config.settings()).unwrap_or_default();
    Some(config)
}

/// The rows of a table up to the first bad one.
fn rows<R: Row>(run: &mut RunData, path: &Path) -> Vec<R> {
    if !path.exists() {
        return Vec::new();
    }
    let (mut rows, problem) = read_good_rows::<R>(path);
    run.notes.extend(problem.map(|error| message(&error)));
    let sorted = 1
        + (rows.windows(2))
            .position(|pair| pair[1].iteration() < pair[0].iteration())
            .unwrap_or(rows.len());
    if sorted < rows.len() {
        run.notes.push(format!(
            "{}: iteration {} comes after iteration {}: the rows from there on are left out",
            path.display(),
            rows[sorted].iteration(),
            rows[sorted - 1].iteration()
        ));
        rows.truncate(sorted);
    }
    rows
}

/// Notes the iterations that are missing in the table of metrics.
fn note_gaps(run: &mut RunData, metrics: &[MetricsRow], result: Option<&RunResult>) {
    let last = metrics.last().map_or(0, |row| row.iteration);
    let before = std::iter::once(0).chain(metrics.iter().map(|row| row.iteration));
    let gap = before
        .zip(metrics)
        .find(|(before, row)| row.iteration > before + 1);
    if let Some((before, row)) = gap {
        let (from, to) = (before + 1, row.iteration - 1);
        let note =
            format!("metrics.csv: iterations {from} to {to} are missing, and perhaps others");
        run.notes.push(note);
    }
    if let Some(result) = result.filter(|result| result.iterations != last) {
        let note = format!(
            "metrics.csv ends with iteration {last}, result.json says {}",
            result.iterations
        );
        run.notes.push(note);
    }
}

/// Notes the tables and the traces that have nothing in them, although other files of the run say that they should.
fn note_emptied(
    run: &mut RunData,
    folder: &RunFolder,
    (metrics, timings, policies): (&[MetricsRow], &[TimingsRow], &[PoliciesRow]),
    traces: usize,
    result: Option<&RunResult>,
) {
    let iterations = [
        metrics.last().map(Row::iteration),
        timings.last().map(Row::iteration),
        policies.last().map(Row::iteration),
        result.map(|result| result.iterations),
    ];
    let iterations = iterations.into_iter().flatten().max().unwrap_or(0);
    let made =
        (iterations > 0).then(|| format!("the run made {}", counted(iterations, "iteration")));
    let updated = timings.iter().any(|row| row.update_seconds > 0.0);
    let updated = updated.then(|| "timings.csv has updates of policies".to_owned());
    let kept = (result.map(|result| result.traces)).or(metrics.last().map(|row| row.traces));
    let kept = kept.filter(|kept| *kept > 0);
    let kept = kept.map(|kept| format!("the run kept {}", counted(kept, "trace")));
    // The result says already where the metrics should end.
    let of_metrics = made.clone().filter(|_| result.is_none());
    for (path, what, is_empty, why) in [
        (folder.metrics(), "rows", metrics.is_empty(), of_metrics),
        (folder.timings(), "rows", timings.is_empty(), made),
        (folder.policies(), "rows", policies.is_empty(), updated),
        (folder.traces(), "traces", traces == 0, kept),
    ] {
        let name = path.display().to_string();
        // A file that is missing or cannot be read has a note of its own.
        let is_noted = run.notes.iter().any(|note| note.starts_with(&name));
        if let Some(why) = why.filter(|_| is_empty && path.exists() && !is_noted) {
            run.notes.push(format!("{name} has no {what}, and {why}"));
        }
    }
}

fn read_traces(run: &mut RunData, folder: &RunFolder) -> (Vec<(usize, Trace)>, Option<Signature>) {
    let path = folder.traces();
    if !path.exists() {
        return (Vec::new(), None);
    }
    let open = || -> Result<TraceFile> {
        Ok(TraceFile::new(
            &path.display().to_string(),
            open_file(&path)?,
        )?)
    };
    let Some(signature) = or_note(run, open().and_then(|file| Ok(file.signature()?))) else {
        return (Vec::new(), None);
    };
    let traces = open().and_then(|file| Ok(file.traces(&signature)?));
    let traces = or_note(run, traces).unwrap_or_default();
    (traces, Some(signature))
}

/// The machines that can be read, with their numbers.
fn read_machines(run: &mut RunData, folder: &RunFolder) -> Vec<(u64, Option<String>, Machine)> {
    let mut machines = Vec::new();
    if !folder.machines_folder().exists() {
        return machines;
    }
    let files = or_note(run, folder.machines()).unwrap_or_default();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Files with other names do not belong to the run.
        let Some(number) = (path.file_stem()).and_then(|stem| stem.to_str()?.parse().ok()) else {
            continue;
        };
        let machine = read_text(&path).and_then(|text| {
            let read = text.parse::<Machine>();
            read.map_err(|error| anyhow::Error::new(error.in_file(&path.display().to_string())))
        });
        if let Some(machine) = or_note(run, machine) {
            machines.push((number, Some(name.into_owned()), machine));
        }
    }
    machines
}

/// The last machine of a run whose machine files are gone.
fn last_machine(result: &RunResult) -> Option<(u64, Option<String>, Machine)> {
    let machine = result.machine.as_ref()?.parse().ok()?;
    Some((result.relearnings, None, machine))
}

fn curves(metrics: &[MetricsRow], timings: &[TimingsRow]) -> (Curves, Option<Thinned>) {
    let every = metrics.len().div_ceil(MOST_POINTS).max(1);
    // Of several rows, one with an evaluation; the last row is always included.
    let mut chosen: Vec<&MetricsRow> = (metrics.rchunks(every).rev())
        .filter_map(|rows| {
            let evaluated = rows.iter().rev().find(|row| row.success.is_some());
            evaluated.or(rows.last())
        })
        .collect();
    if let Some(last) = metrics.last().filter(|last| chosen.last() != Some(last)) {
        chosen.push(last);
    }
    let seconds = |row: &MetricsRow| {
        let at = timings.binary_search_by_key(&row.iteration, |timing| timing.iteration);
        at.ok().map(|at| timings[at].seconds)
    };
    let curves = Curves {
        iteration: chosen.iter().map(|row| row.iteration).collect(),
        steps: chosen.iter().map(|row| row.steps).collect(),
        seconds: (!timings.is_empty()).then(|| chosen.iter().map(|row| seconds(row)).collect()),
        episodes: chosen.iter().map(|row| row.episodes).collect(),
        ended_success: chosen.iter().map(|row| row.ended_success).collect(),
        ended_length: chosen.iter().map(|row| row.ended_length).collect(),
        success: chosen.iter().map(|row| row.success).collect(),
        return_: chosen.iter().map(|row| row.return_).collect(),
        length: chosen.iter().map(|row| row.length).collect(),
        shaped_return: chosen.iter().map(|row| row.shaped_return).collect(),
        states: chosen.iter().map(|row| row.states).collect(),
        edges: chosen.iter().map(|row| row.edges).collect(),
        counterexamples: chosen.iter().map(|row| row.counterexamples).collect(),
    };
    let thinned = (every > 1).then_some(Thinned {
        kept: chosen.len(),
        of: metrics.len(),
    });
    (curves, thinned)
}

/// The policies in the order of the names of their states.
fn by_state(rows: &[PoliciesRow]) -> Vec<PolicyData> {
    let mut found: std::collections::BTreeMap<&str, PolicyData> = Default::default();
    for row in rows {
        let policy = found.entry(&row.state).or_insert_with(|| PolicyData {
            state: row.state.clone(),
            updates: 0,
            samples: 0,
            policy_loss: None,
            value_loss: None,
            entropy: None,
            kl: None,
            clipped: None,
            gradient: None,
        });
        policy.updates += 1;
        policy.samples = policy.samples.saturating_add(row.samples);
        policy.policy_loss = row.policy_loss;
        policy.value_loss = row.value_loss;
        policy.entropy = row.entropy;
        policy.kl = row.kl;
        policy.clipped = row.clipped;
        policy.gradient = row.gradient;
    }
    found.into_values().collect()
}

/// The table of a run.
fn facts(
    folder: &RunFolder,
    config: Option<&RunConfig>,
    result: Option<&RunResult>,
    metrics: &[MetricsRow],
    timings: &[TimingsRow],
) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(config) = config {
        facts.extend([
            ("task", folder.task_name(&config.task)),
            ("method", config.method.to_string()),
            ("preset", config.preset.as_str().to_owned()),
            ("seed", config.seed.to_string()),
        ]);
        if is_task_file(&config.task) {
            facts.push(("task file", config.task.clone()));
        }
        if let Some(transfer) = &config.transfer {
            facts.push(("started from the policies of", transfer.from.clone()));
        }
    }
    let last = metrics.last();
    if let Some(result) = result {
        facts.push(("ending", result.message.clone()));
        facts.extend((result.success).map(|success| ("success at the end", percent(success))));
    } else if let Some(row) = (metrics.iter().rev()).find(|row| row.success.is_some()) {
        let text = format!(
            "{}, after iteration {}",
            percent(row.success.unwrap_or_default()),
            row.iteration
        );
        facts.push(("success in the last evaluation", text));
    }
    if let Some(last) = last {
        let episodes = metrics.iter().map(|row| row.episodes);
        let episodes = episodes.fold(0, u64::saturating_add);
        facts.extend([
            ("iterations", last.iteration.to_string()),
            ("environment steps", last.steps.to_string()),
            ("episodes that ended", episodes.to_string()),
        ]);
    }
    let seconds = (timings.last().map(|row| row.seconds)).or(result.map(|result| result.seconds));
    if let Some(seconds) = seconds.filter(|seconds| *seconds > 0.0) {
        facts.push(("seconds of training", format!("{seconds:.1}")));
        if let Some(last) = last {
            let rate = last.steps as f64 / seconds;
            facts.push(("steps per second", format!("{rate:.0}")));
        }
    }
    let spent = |what: fn(&TimingsRow) -> f64| timings.iter().map(what).sum::<f64>();
    if !timings.is_empty() {
        facts.extend([
            (
                "seconds of rollouts",
                format!("{:.1}", spent(|row| row.rollout_seconds)),
            ),
            (
                "seconds of policy updates",
                format!("{:.1}", spent(|row| row.update_seconds)),
            ),
            (
                "seconds of machine learning",
                format!("{:.3}", spent(|row| row.learning_seconds)),
            ),
            (
                "seconds of evaluations",
                format!("{:.1}", spent(|row| row.evaluation_seconds)),
            ),
        ]);
    }
    if let Some(last) = last {
        facts.extend([
            (
                "states and edges of the machine",
                format!("{} and {}", last.states, last.edges),
            ),
            ("machines learnt", last.relearnings.to_string()),
            ("counterexamples", last.counterexamples.to_string()),
            ("traces kept", last.traces.to_string()),
        ]);
    }
    facts.extend(result.map(|result| ("program version", result.version.clone())));
    facts
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The lengths and times of the files that a run appends to, which tell whether it has changed.
pub(super) fn stamp(path: &Path) -> Vec<Option<(u64, std::time::SystemTime)>> {
    let folder = RunFolder::at(path);
    [folder.metrics(), folder.timings(), folder.result()]
        .iter()
        .map(|file| {
            let found = fs::metadata(file).ok()?;
            Some((found.len(), found.modified().ok()?))
        })
        .collect()
}
