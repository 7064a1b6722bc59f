//! The paper's experiments: which runs they consist of, carrying them out, and what is to be said of the results.
//!
//! Everything below the folder of results is made from the folders of the runs, so it can be made again at any time.

mod figures;
mod findings;
mod orders;
mod unseen;
mod workshop;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

pub use self::findings::{Evidence, Finding, findings_table};
pub use self::orders::{Conditions, Experiment, Order, all_orders};
pub use self::unseen::Trial;
pub use self::workshop::{Delivery, Workshop};

use self::figures::figure;
use self::findings::groups;
use self::unseen::trials;
use crate::atomic::{read_text, write_atomically};
use crate::statistics::median;

/// The table of all runs in a folder of results.
const RUNS: &str = "runs.csv";

/// What was written, and what is to be said of the paper's statements.
#[derive(Clone, Debug)]
pub struct Results {
    /// The files, below the folder of results.
    pub files: Vec<String>,
    /// The statements.
    pub findings: Vec<Finding>,
}

/// Writes all that is to be said of some runs into a folder: `runs.csv`, `results.md`, and curves as SVG and PNG.
pub fn write_results(
    folder: &Path,
    workshop: &Workshop,
    experiments: &[Experiment],
    conditions: &Conditions,
    deliveries: &[Delivery],
    command: &str,
) -> Result<Results> {
    let mut figures = String::new();
    let mut files = Vec::new();
    let mut keep = |name: String, bytes: &[u8]| -> Result<()> {
        write_atomically(&folder.join(&name), bytes)?;
        files.push(name);
        Ok(())
    };
    std::fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    for experiment in experiments {
        if let Some(figure) = figure(*experiment, workshop, deliveries)? {
            let name = experiment.as_str();
            keep(format!("{name}.svg"), figure.to_svg()?.as_bytes())?;
            keep(format!("{name}.png"), &figure.to_png()?)?;
            let _ = writeln!(figures, "![learning curves of {name}]({name}.svg)\n");
        }
    }
    keep(RUNS.to_owned(), runs_csv(deliveries)?.as_bytes())?;
    let evidence = Evidence {
        deliveries,
        unseen: &trials(workshop, deliveries)?,
    };
    let findings = evidence.findings();
    let text = format!(
        "# Results\n\nMade by `{command}`; settings are those of the preset `{}`, {} seeds.\n\n## Runs\n\n{}\n## The paper's statements\n\n{}\n## Learning curves\n\n{figures}",
        conditions.preset.as_str(),
        conditions.seeds,
        results_table(experiments, deliveries),
        findings_table(&findings),
    );
    keep("results.md".to_owned(), text.as_bytes())?;
    for delivery in deliveries {
        let run = workshop.run(&delivery.order.name);
        for file in ["config.toml", "metrics.csv", "result.json", "unseen.json"] {
            let (from, to) = (
                run.join(file),
                folder.join("runs").join(&delivery.order.name),
            );
            if from.is_file() && workshop.folder != folder.join("runs") {
                std::fs::create_dir_all(&to).with_context(|| format!("{}", to.display()))?;
                let bytes = std::fs::read(&from).with_context(|| format!("{}", from.display()))?;
                write_atomically(&to.join(file), &bytes)?;
            }
        }
    }
    Ok(Results { files, findings })
}

/// The names of the runs that a folder of results tells of; none where there are no results.
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

/// All runs, one a line.
fn runs_csv(deliveries: &[Delivery]) -> Result<String> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record([
        "run",
        "task",
        "method",
        "seed",
        "ending",
        "success",
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
    ])?;
    for Delivery { order, result } in deliveries {
        let Some(result) = result else { continue };
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        out.write_record([
            order.name.clone(),
            result.task.clone(),
            result.method.to_string(),
            result.seed.to_string(),
            result.ending.clone(),
            number(result.success),
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
        ])?;
    }
    Ok(String::from_utf8(out.into_inner()?)?)
}

/// The runs of every group in one row.
pub fn results_table(experiments: &[Experiment], deliveries: &[Delivery]) -> String {
    let mut text = "| experiment | runs | converged | steps until then, median (range) | success when it ended | machine |\n|---|---|---|---|---|---|\n".to_owned();
    for experiment in experiments {
        for (group, label) in groups(*experiment) {
            let results: Vec<_> = (deliveries.iter())
                .filter(|delivery| delivery.is_of(experiment.as_str(), group))
                .filter_map(|delivery| delivery.result.as_ref())
                .collect();
            let Some(first) = results.first() else {
                continue;
            };
            let converged: Vec<_> = (results.iter())
                .filter(|result| result.ending == "converged")
                .collect();
            let steps: Vec<f64> = converged
                .iter()
                .map(|result| result.steps as f64 / 1e6)
                .collect();
            let low = steps.iter().copied().fold(f64::INFINITY, f64::min);
            let high = steps.iter().copied().fold(0.0, f64::max);
            let steps = match median(&steps) {
                Some(median) => format!("{median:.2} M ({low:.2}–{high:.2})"),
                None => "–".to_owned(),
            };
            let rates: Vec<f64> = results.iter().filter_map(|result| result.success).collect();
            let success =
                median(&rates).map_or("–".to_owned(), |rate| format!("{:.1} %", 100.0 * rate));
            let machine = match first.machine {
                Some(_) => format!("{} states, {} edges", first.states, first.edges),
                None => "–".to_owned(),
            };
            let _ = writeln!(
                text,
                "| {}: {label} | {} | {} | {steps} | {success} | {machine} |",
                experiment.as_str(),
                results.len(),
                converged.len(),
            );
        }
    }
    text
}
