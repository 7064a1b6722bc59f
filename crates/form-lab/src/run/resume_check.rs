//! What a run finds in its folder when it goes on, and whether that is all that its checkpoint knows of.

use std::path::Path;

use anyhow::{Result, bail};
use form_core::{Machine, Signature, Trace, TraceFile};

use super::folder::RunFolder;
use crate::atomic_files::{open_file, read_text};
use crate::metrics::{MetricsRow, PoliciesRow, Row, TimingsRow, read_rows};
use crate::train::TrainState;

/// Where the time went.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeSpent {
    pub(super) seconds: f64,
    pub(super) learning: f64,
    pub(super) last_learning: Option<f64>,
}

impl TimeSpent {
    /// Counts an iteration.
    pub(super) fn add(&mut self, timings: &TimingsRow, learnt: bool) {
        self.seconds = timings.seconds;
        self.learning += timings.learning_seconds;
        if learnt {
            self.last_learning = Some(timings.learning_seconds);
        }
    }
}

/// What the files of a run say up to its checkpoint. Reading them changes nothing.
#[derive(Debug)]
pub(super) struct RecordedRun {
    /// The traces that were kept.
    pub(super) traces: Vec<Trace>,
    /// Where the time went until then.
    pub(super) time: TimeSpent,
}

impl RecordedRun {
    /// Seconds of training so far.
    pub(super) fn seconds(&self) -> f64 {
        self.time.seconds
    }

    /// Reads the files, and refuses those that lack something which the checkpoint knows of.
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

/// The rows of a table that the checkpoint knows of. Before the first one there need not be a table.
fn rows<R: Row>(path: &Path, state: &TrainState) -> Result<Vec<R>> {
    if state.iteration == 0 && !path.exists() {
        return Ok(Vec::new());
    }
    let mut rows: Vec<R> = read_rows(path)?;
    rows.retain(|row| state.has_begun() && row.iteration() <= state.iteration);
    Ok(rows)
}

/// Refuses a table that has not one row an iteration. That of iteration 0, before anything was learnt, is missing in runs that
/// version 0.1 began.
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
        "{}: the checkpoint was made after iteration {iteration}, and there is not one row for each until then: row {} is wrong or missing; {NEW_RUN}",
        path.display(),
        wrong.unwrap_or(0) + 1
    );
}

/// What helps when something is gone: runs are determined by their configuration.
const NEW_RUN: &str = "put it back from a copy, or make the same run anew with `form train --config` and this folder's config.toml";

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

/// The first traces of a file, as many as there were at the checkpoint.
fn traces(path: &Path, count: u64, signature: &Signature) -> Result<Vec<Trace>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let found = TraceFile::new(&path.display().to_string(), open_file(path)?)?.traces(signature)?;
    if (found.len() as u64) < count {
        bail!(
            "{}: {} traces, and the checkpoint was made with {count}: {NEW_RUN}",
            path.display(),
            found.len()
        );
    }
    let kept = found.into_iter().take(usize::try_from(count)?);
    Ok(kept.map(|(_, trace)| trace).collect())
}
