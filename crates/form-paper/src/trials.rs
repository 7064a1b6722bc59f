//! The trials by which the preset `paper` was chosen: one setting changed at a time, on seeds that no experiment reports. They were made
//! with `form train` one by one; the table is made from their evaluations, which are kept.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use form_lab::read_text;
use serde::Deserialize;

/// The folder of results with the paper's settings, inside that of all results.
pub const PRESET_PAPER: &str = "preset-paper";
/// The evaluations of all trials.
const RAW: &str = "trials.csv";
/// The table that is made from them.
pub(crate) const TABLE: &str = "trials.md";
/// The evaluations that the table has of a trial, at most.
const SHOWN: usize = 8;

/// One evaluation of a trial.
#[derive(Deserialize)]
struct Evaluated {
    task: String,
    method: String,
    seed: u64,
    /// The settings that differ from the paper's numbers with MiniGrid's view and actions.
    settings: String,
    steps: u64,
    success: f64,
    length: f64,
}

/// Whether a folder of results has trials.
pub(crate) fn are_kept(folder: &Path) -> bool {
    folder.join(RAW).is_file()
}

/// The table of the trials in a folder.
pub(crate) fn trials_table(folder: &Path) -> Result<String> {
    let path = folder.join(RAW);
    let mut reader = csv::Reader::from_reader(std::io::Cursor::new(read_text(&path)?));
    let mut order = Vec::new();
    let mut trials: BTreeMap<_, Vec<Evaluated>> = BTreeMap::new();
    for row in reader.deserialize::<Evaluated>() {
        let row = row.with_context(|| format!("{}", path.display()))?;
        let trial = (
            row.settings.clone(),
            row.task.clone(),
            row.method.clone(),
            row.seed,
        );
        if !order.contains(&trial) {
            order.push(trial.clone());
        }
        trials.entry(trial).or_default().push(row);
    }
    let mut text = format!(
        "# Trials for the preset `paper`\n\nMade from `{RAW}`. Each is one run, with the paper's numbers, MiniGrid's view and its seven actions, but for the settings in the first column. Success of \
         evaluations after million environment steps, at most {SHOWN} of them, and the mean length of the last one's episodes.\n\n\
         | settings | task | method | seed | success | length |\n|---|---|---|---|---|---|\n"
    );
    for trial in order {
        let rows = &trials[&trial];
        let shown: Vec<String> = (0..rows.len().min(SHOWN))
            .map(|place| place * (rows.len() - 1) / (rows.len().min(SHOWN) - 1).max(1))
            .map(|place| &rows[place])
            .map(|row| {
                format!(
                    "{:.0} % after {:.2}",
                    100.0 * row.success,
                    row.steps as f64 / 1e6
                )
            })
            .collect();
        let (settings, task, method, seed) = &trial;
        let settings = match settings.is_empty() {
            true => "none",
            false => settings,
        };
        let length = rows.last().map_or(0.0, |row| row.length);
        let _ = writeln!(
            text,
            "| {settings} | {task} | {method} | {seed} | {} | {length:.0} |",
            shown.join(", ")
        );
    }
    Ok(text)
}
