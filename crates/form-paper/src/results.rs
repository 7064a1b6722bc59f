//! The folder of results: learning curves, tables, and the paper's claims beside what was measured.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use form_lab::{read_text, write_atomically};

use crate::figures::figure;
use crate::findings::{Finding, Measurements, findings_table};
use crate::plan::{Experiment, PlanOptions};
use crate::raw_data::TABLES;
use crate::runner::{RunOutcome, Runner};
use crate::tables::{TABLE_NOTES, profiles_table, results_table, runs_csv, versions};
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

/// Writes `runs.csv`, `results.md`, and learning curves as SVG and PNG into a folder, with a copy of the small files of every run.
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
        "# Results\n\nMade by `{command}`; settings are those of the preset `{}`, {} seeds. {}\n\n## Runs\n\n{}\n{TABLE_NOTES}\n\n## Performance profiles\n\n{}\n## The paper's statements\n\n{}\n## Learning curves\n\n{figures}",
        options.preset.as_str(),
        options.seeds,
        versions(outcomes),
        results_table(experiments, outcomes),
        profiles_table(experiments, outcomes),
        findings_table(&findings),
    );
    write(TABLES.to_owned(), text.as_bytes())?;
    for outcome in outcomes {
        copy_small_files(folder, runner, &outcome.run.name)?;
    }
    Ok(Results { files, findings })
}

/// Copies the configuration, metrics, traces and results of a run into the folder of results.
fn copy_small_files(folder: &Path, runner: &Runner, name: &str) -> Result<()> {
    if runner.folder == folder.join("runs") {
        return Ok(());
    }
    let to = folder.join("runs").join(name);
    let files = [
        "config.toml",
        "metrics.csv",
        "result.json",
        "traces.jsonl",
        "unseen.json",
    ];
    for file in files {
        let from = runner.folder_of(name).join(file);
        if from.is_file() {
            std::fs::create_dir_all(&to).with_context(|| format!("{}", to.display()))?;
            let bytes = std::fs::read(&from).with_context(|| format!("{}", from.display()))?;
            write_atomically(&to.join(file), &bytes)?;
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
