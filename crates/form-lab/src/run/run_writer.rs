//! Writes the files of a run after every iteration: traces, machines, tables, events, the log.
//!
//! Everything is written before the checkpoint of its iteration, so that a run that resumes from a checkpoint finds all that belongs
//! to it, and cuts off the rest.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;

use anyhow::Result;
use form_core::{Machine, Signature, Trace, to_svg, trace_header};

use super::events::EventFile;
use super::folder::RunFolder;
use super::resume_check::{RecordedRun, TimeSpent};
use crate::atomic_files::{append, cannot, refuse_pipes, write_atomically};
use crate::display::counted;
use crate::evaluate::Evaluation;
use crate::metrics::{MetricsRow, PoliciesRow, Table, TimingsRow};
use crate::train::{Iteration, TrainState};

/// The open files of a run.
#[derive(Debug)]
pub(super) struct RunWriter {
    folder: RunFolder,
    metrics: Table<MetricsRow>,
    timings: Table<TimingsRow>,
    policies: Table<PoliciesRow>,
    events: EventFile,
    log: File,
    /// The number of traces written.
    traces: u64,
    time: TimeSpent,
}

impl RunWriter {
    /// Opens the files of a run that begins or resumes; what comes after the checkpoint is cut off.
    pub(super) fn open(
        folder: &RunFolder,
        state: &TrainState,
        signature: &Signature,
        recorded: &RecordedRun,
    ) -> Result<Self> {
        // Nothing is kept from before the first evaluation.
        let last = state.has_begun().then_some(state.iteration);
        write_traces(&folder.traces(), &recorded.traces, signature)?;
        for path in folder.machines()? {
            // Files with other names do not belong to the run.
            let number = path
                .file_stem()
                .and_then(|stem| stem.to_str()?.parse().ok());
            if number.is_some_and(|number: u64| number > state.relearnings) {
                remove(&path.with_extension("svg"))?;
                remove(&path)?;
            }
        }
        let log = folder.log();
        refuse_pipes(&log)?;
        Ok(Self {
            metrics: Table::resume_with(&folder.metrics(), last, |row: &mut MetricsRow| {
                // The last row of a finished run has the final evaluation, which a resumed run has not made.
                if Some(row.iteration) == last {
                    row.set_evaluation(state.evaluation_of_this_iteration());
                }
            })?,
            timings: Table::resume(&folder.timings(), last)?,
            policies: Table::resume(&folder.policies(), last)?,
            events: EventFile::create(folder.path(), last)?,
            log: (File::options().create(true).append(true).open(&log))
                .map_err(|error| cannot("write", &log, error))?,
            folder: folder.clone(),
            traces: state.traces,
            time: recorded.time.clone(),
        })
    }

    /// The folder.
    pub(super) fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Seconds of training so far.
    pub(super) fn seconds(&self) -> f64 {
        self.time.seconds
    }

    /// Seconds of the machine learner so far.
    pub(super) fn learning_seconds(&self) -> f64 {
        self.time.learning
    }

    /// Seconds of the learner for the last machine.
    pub(super) fn last_learning_seconds(&self) -> Option<f64> {
        self.time.last_learning
    }

    /// Writes the final evaluation, into the row of the last iteration and for TensorBoard.
    pub(super) fn conclude(&mut self, iteration: u64, evaluation: &Evaluation) -> Result<()> {
        let path = self.folder.metrics();
        self.metrics = Table::resume_with(&path, Some(iteration), |row: &mut MetricsRow| {
            if row.iteration == iteration {
                row.evaluated = Some(evaluation.episodes);
                row.success = Some(evaluation.success);
                row.return_ = Some(evaluation.return_);
                row.length = Some(evaluation.length);
            }
        })?;
        let scalars = [
            ("episodes/success", evaluation.success),
            ("episodes/return", evaluation.return_),
            ("episodes/length", evaluation.length),
        ];
        self.events.append(iteration, scalars)
    }

    /// Appends lines to the log.
    pub(super) fn log(&mut self, text: &str) -> Result<()> {
        append(
            &mut self.log,
            &self.folder.log(),
            format!("{text}\n").as_bytes(),
        )
    }

    /// Writes an iteration. Everything but the events and the log is on the disk when this returns.
    pub(super) fn write(
        &mut self,
        iteration: &Iteration,
        state: &TrainState,
        traces: &[Trace],
        signature: &Signature,
        remarks: &[String],
    ) -> Result<()> {
        if state.traces > self.traces {
            write_traces(&self.folder.traces(), traces, signature)?;
            self.traces = state.traces;
        }
        if let Some(learnt) = &iteration.relearnt {
            write_machine(&self.folder, state.relearnings, &learnt.machine)?;
        }
        self.metrics.append(&iteration.metrics)?;
        self.timings.append(&iteration.timings)?;
        for row in &iteration.policies {
            self.policies.append(row)?;
        }
        self.metrics.sync()?;
        self.timings.sync()?;
        self.policies.sync()?;
        self.time
            .add(&iteration.timings, iteration.relearnt.is_some());
        let scalars = scalars(iteration);
        let scalars = scalars.iter().map(|(tag, value)| (tag.as_str(), *value));
        self.events.append(iteration.metrics.iteration, scalars)?;
        for remark in remarks {
            self.log(remark)?;
        }
        self.log(&line(iteration))
    }
}

/// Writes a machine and its picture.
pub(super) fn write_machine(folder: &RunFolder, number: u64, machine: &Machine) -> Result<()> {
    let number = usize::try_from(number)?;
    let picture = to_svg(machine);
    write_atomically(&folder.machine_picture(number), picture.as_bytes())?;
    write_atomically(&folder.machine(number), machine.to_string().as_bytes())
}

fn remove(path: &Path) -> Result<()> {
    match path.exists() {
        true => fs::remove_file(path).map_err(|error| cannot("remove", path, error)),
        false => Ok(()),
    }
}

fn write_traces(path: &Path, traces: &[Trace], signature: &Signature) -> Result<()> {
    let mode = traces.first().map(Trace::step_mode).unwrap_or_default();
    let mut text = trace_header(signature, mode) + "\n";
    for trace in traces {
        text += &trace.to_json(signature);
        text += "\n";
    }
    write_atomically(path, text.as_bytes())
}

/// The scalars of an iteration for TensorBoard.
fn scalars(iteration: &Iteration) -> Vec<(String, f64)> {
    let (metrics, timings) = (&iteration.metrics, &iteration.timings);
    let mut scalars: Vec<(String, Option<f64>)> = [
        ("episodes/success", metrics.success),
        ("episodes/return", metrics.return_),
        ("episodes/length", metrics.length),
        ("ended/episodes", Some(metrics.episodes as f64)),
        ("ended/success", metrics.ended_success),
        ("ended/length", metrics.ended_length),
        ("episodes/shaped_return", metrics.shaped_return),
        ("machine/states", Some(metrics.states as f64)),
        ("machine/edges", Some(metrics.edges as f64)),
        ("machine/relearnings", Some(metrics.relearnings as f64)),
        (
            "machine/counterexamples",
            Some(metrics.counterexamples as f64),
        ),
        ("machine/traces", Some(metrics.traces as f64)),
        ("time/steps", Some(metrics.steps as f64)),
        ("time/steps_per_second", Some(timings.steps_per_second)),
        ("time/rollout_seconds", Some(timings.rollout_seconds)),
        ("time/update_seconds", Some(timings.update_seconds)),
        ("time/learning_seconds", Some(timings.learning_seconds)),
        ("time/evaluation_seconds", Some(timings.evaluation_seconds)),
    ]
    .map(|(tag, value)| (tag.to_owned(), value))
    .into();
    for row in &iteration.policies {
        let tag = |what: &str| format!("policy/{}/{what}", row.state);
        scalars.extend([
            (tag("policy_loss"), row.policy_loss),
            (tag("value_loss"), row.value_loss),
            (tag("entropy"), row.entropy),
            (tag("kl"), row.kl),
            (tag("samples"), Some(row.samples as f64)),
        ]);
    }
    (scalars.into_iter())
        .filter_map(|(tag, value)| Some((tag, value?)))
        .collect()
}

/// The line of an iteration in the log.
fn line(iteration: &Iteration) -> String {
    let (metrics, timings) = (&iteration.metrics, &iteration.timings);
    let mut line = format!(
        "{:.1} s: iteration {}: {} steps, {:.0} per second, {} ended",
        timings.seconds,
        metrics.iteration,
        metrics.steps,
        timings.steps_per_second,
        counted(metrics.episodes, "episode")
    );
    if let (Some(success), Some(episodes)) = (metrics.success, metrics.evaluated) {
        let of = counted(episodes, "episode");
        let _ = write!(line, ", success {:.1} % of {of}", 100.0 * success);
    }
    line
}
