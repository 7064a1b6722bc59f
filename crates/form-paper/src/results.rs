//! The folder of results: learning curves, tables, and the paper's claims beside what was measured.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use form_lab::{read_text, write_atomically};

use crate::figures::figure;
use crate::findings::{Finding, Measurements, findings_table};
use crate::plan::{Experiment, PlanOptions, PlannedRun};
use crate::raw_data::TABLES;
use crate::runner::{RunOutcome, RunProgress, Runner};
use crate::tables::{
    TABLE_NOTES, profiles_table, results_table, runs_csv, unfinished_table, versions,
};
use crate::trials::{self, trials_table};
use crate::unseen::unseen_evaluations;

/// The table of all runs in a folder of results.
const RUNS: &str = "runs.csv";

/// What [`write_results`] wrote.
#[derive(Clone, Debug)]
pub struct Results {
    /// The files, relative to the folder of results.
    pub files: Vec<String>,
    /// The paper's claims, each with what was measured.
    pub findings: Vec<Finding>,
}

/// Writes `runs.csv`, `results.md`, and learning curves as SVG and PNG into a folder.
pub fn write_results(
    folder: &Path,
    runner: &Runner,
    experiments: &[Experiment],
    options: &PlanOptions,
    outcomes: &[RunOutcome],
    command: &str,
) -> Result<Results> {
    let mut figures = String::new();
    let mut files = Vec::new();
    let mut write = |name: String, bytes: &[u8]| -> Result<()> {
        write_atomically(&folder.join(&name), bytes)?;
        files.push(name);
        Ok(())
    };
    std::fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    for experiment in experiments {
        if let Some(figure) = figure(*experiment, runner, outcomes)? {
            let name = experiment.as_str();
            write(format!("{name}.svg"), figure.to_svg()?.as_bytes())?;
            write(format!("{name}.png"), &figure.to_png()?)?;
            let _ = writeln!(figures, "![learning curves of {name}]({name}.svg)\n");
        }
    }
    write(RUNS.to_owned(), runs_csv(outcomes)?.as_bytes())?;
    let measurements = Measurements {
        outcomes,
        unseen: &unseen_evaluations(runner, outcomes)?,
    };
    let findings = measurements.findings();
    let text = format!(
        "# Results\n\nMade by `{command}`; settings are those of the preset `{}`, {} seeds. {}\n\n## Runs\n\n{}\n{TABLE_NOTES}\n\n{}## Performance profiles\n\n{}\n## The paper's statements\n\n{}\n## Learning curves\n\n{figures}",
        options.preset.as_str(),
        options.seeds,
        versions(outcomes),
        results_table(experiments, outcomes),
        unfinished_table(experiments, outcomes),
        profiles_table(experiments, outcomes),
        findings_table(&findings),
    );
    write(TABLES.to_owned(), text.as_bytes())?;
    if trials::are_kept(folder) {
        write(trials::TABLE.to_owned(), trials_table(folder)?.as_bytes())?;
    }
    Ok(Results { files, findings })
}

/// Keeps the small files of runs in a folder of results, and returns what is kept there: runs of several computers can be put together
/// one after the other. A finished run takes the place of any other, and of two that are not finished the one with more steps is kept.
pub fn keep_runs(folder: &Path, runner: &Runner, plan: &[PlannedRun]) -> Result<Runner> {
    let kept = Runner {
        folder: folder.join("runs"),
        ..runner.clone()
    };
    if kept.folder == runner.folder {
        return Ok(kept);
    }
    let outcomes = runner.outcomes(plan)?;
    // While policies of these runs are at hand, too.
    unseen_evaluations(runner, &outcomes)?;
    for (outcome, before) in outcomes.iter().zip(kept.outcomes(plan)?) {
        let steps = |progress: &Option<RunProgress>| progress.as_ref().map(|found| found.steps);
        let is_further = match (&outcome.result, &before.result) {
            (Some(_), _) => true,
            (None, Some(_)) => false,
            (None, None) => steps(&outcome.progress) > steps(&before.progress),
        };
        if is_further {
            copy_small_files(runner, &kept, &outcome.run.name)?;
        }
    }
    Ok(kept)
}

/// Copies the configuration, metrics, traces and results of a run.
fn copy_small_files(from: &Runner, to: &Runner, name: &str) -> Result<()> {
    let (from, to) = (from.folder_of(name), to.folder_of(name));
    let files = [
        "config.toml",
        "metrics.csv",
        "result.json",
        "traces.jsonl",
        "unseen.json",
    ];
    std::fs::create_dir_all(&to).with_context(|| format!("{}", to.display()))?;
    for file in files {
        let (from, to) = (from.join(file), to.join(file));
        if from.is_file() {
            let bytes = std::fs::read(&from).with_context(|| format!("{}", from.display()))?;
            write_atomically(&to, &bytes)?;
        } else if to.is_file() {
            // Of the run before.
            std::fs::remove_file(&to).with_context(|| format!("{}", to.display()))?;
        }
    }
    Ok(())
}

/// The names of the runs that a folder of results describes; none if there are no results.
pub fn recorded_runs(folder: &Path) -> Result<Vec<String>> {
    let path = folder.join(RUNS);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut table = csv::Reader::from_reader(std::io::Cursor::new(read_text(&path)?));
    let name = |row: csv::Result<csv::StringRecord>| -> Result<String> {
        let row = row.with_context(|| format!("{}", path.display()))?;
        Ok(row.get(0).unwrap_or_default().to_owned())
    };
    table.records().map(name).collect()
}
