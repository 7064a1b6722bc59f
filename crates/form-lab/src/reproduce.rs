//! The paper's experiments: which runs they consist of, carrying them out, and what is to be said of the results.
//!
//! Everything below the folder of results is made from the folders of the runs, so it can be made again at any time.

mod figures;
mod findings;
mod orders;
mod tables;
mod unseen;
mod workshop;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

pub use self::findings::{Evidence, Finding, findings_table};
pub use self::orders::{Conditions, Experiment, Order, all_orders};
pub use self::tables::results_table;
pub use self::unseen::Trial;
pub use self::workshop::{Delivery, Workshop};

use self::figures::figure;
use self::tables::{TABLE_NOTES, runs_csv, versions};
use self::unseen::trials;
use crate::atomic::{read_text, write_atomically};

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
        "# Results\n\nMade by `{command}`; settings are those of the preset `{}`, {} seeds. {}\n\n## Runs\n\n{}\n{TABLE_NOTES}\n\n## The paper's statements\n\n{}\n## Learning curves\n\n{figures}",
        conditions.preset.as_str(),
        conditions.seeds,
        versions(deliveries),
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
