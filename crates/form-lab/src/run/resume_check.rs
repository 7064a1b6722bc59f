//! Reads the files of a run before it resumes, and refuses those that lack something that its checkpoint counts.

use std::path::Path;

use anyhow::{Result, bail};
use form_core::{Machine, Signature, Trace, TraceFile};

use super::folder::RunFolder;
use crate::atomic_files::{open_file, read_text};
use crate::metrics::{MetricsRow, PoliciesRow, Row, TimingsRow, read_rows};
use crate::train::TrainState;

/// The training time so far.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeSpent {
    pub(super) seconds: f64,
    pub(super) learning: f64,
    pub(super) last_learning: Option<f64>,
}

impl TimeSpent {
    /// Adds an iteration.
    pub(super) fn add(&mut self, timings: &TimingsRow, learnt: bool) {
        self.seconds = timings.seconds;
        self.learning += timings.learning_seconds;
        if learnt {
            self.last_learning = Some(timings.learning_seconds);
        }
    }
}

/// The contents of a run's files up to its checkpoint.
#[derive(Debug)]
pub(super) struct RecordedRun {
    /// The traces that were kept.
    pub(super) traces: Vec<Trace>,
    /// The training time until then.
    pub(super) time: TimeSpent,
}

impl RecordedRun {
    /// Seconds of training so far.
    pub(super) fn seconds(&self) -> f64 {
        self.time.seconds
    }

    /// Reads and checks the files without changing them.
    pub(super) fn read(
        folder: &RunFolder,
        state: &TrainState,
        signature: &Signature,
        machine: Option<&Machine>,
    ) -> Result<Self> {
        let metrics: Vec<MetricsRow> = rows(&folder.metrics(), state)?;
        let timings: Vec<TimingsRow> = rows(&folder.timings(), state)?;
        let _: Vec<PoliciesRow> = rows(&folder.policies(), state)?;
        complete(&folder.metrics(), &metrics, state)?;
        complete(&folder.timings(), &timings, state)?;
        if let Some(machine) = machine {
            expect_machines(folder, state.relearnings, machine)?;
        }
        let mut time = TimeSpent::default();
        let mut before = 0;
        for (metrics, timings) in metrics.iter().zip(&timings) {
            time.add(timings, metrics.relearnings > before);
            before = metrics.relearnings;
        }
        Ok(Self {
            traces: traces(&folder.traces(), state.traces, signature)?,
            time,
        })
    }
}

/// The rows of a table up to the checkpoint. Before the first iteration, the table may be missing.
fn rows<R: Row>(path: &Path, state: &TrainState) -> Result<Vec<R>> {
    if state.iteration == 0 && !path.exists() {
        return Ok(Vec::new());
    }
    let mut rows: Vec<R> = read_rows(path)?;
    rows.retain(|row| state.has_begun() && row.iteration() <= state.iteration);
    Ok(rows)
}

/// Refuses a table without exactly one row per iteration. Runs of version 0.1 lack the row of iteration 0.
fn complete<R: Row>(path: &Path, rows: &[R], state: &TrainState) -> Result<()> {
    let iteration = state.iteration;
    let first = u64::from(rows.first().is_none_or(|row| row.iteration() > 0));
    let expected = first..=iteration;
    let found = rows.iter().map(Row::iteration);
    if found.clone().eq(expected.clone()) {
        return Ok(());
    }
    let wrong = (found.map(Some).chain([None]))
        .zip(expected.map(Some).chain([None]))
        .position(|(found, expected)| found != expected);
    bail!(
        "{}: the checkpoint was made after iteration {iteration}, but the table does not have one row per iteration: row {} is wrong or missing; {NEW_RUN}",
        path.display(),
        wrong.unwrap_or(0) + 1
    );
}

/// What to do when a file is lost: the configuration determines the run.
const NEW_RUN: &str = "restore it from a copy, or repeat the run with `form train --config` and this folder's config.toml";

fn expect_machines(folder: &RunFolder, relearnings: u64, last: &Machine) -> Result<()> {
    for number in 0..=usize::try_from(relearnings)? {
        let path = folder.machine(number);
        if !path.is_file() {
            bail!("{} is missing: {NEW_RUN}", path.display());
        }
        if number as u64 == relearnings && read_text(&path)? != last.to_string() {
            bail!(
                "{} is not the machine of the checkpoint: {NEW_RUN}",
                path.display()
            );
        }
    }
    Ok(())
}

/// The first `count` traces of a file.
fn traces(path: &Path, count: u64, signature: &Signature) -> Result<Vec<Trace>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let found = TraceFile::new(&path.display().to_string(), open_file(path)?)?.traces(signature)?;
    if (found.len() as u64) < count {
        bail!(
            "{}: {} traces, but the checkpoint was made with {count}: {NEW_RUN}",
            path.display(),
            found.len()
        );
    }
    let kept = found.into_iter().take(usize::try_from(count)?);
    Ok(kept.map(|(_, trace)| trace).collect())
}
