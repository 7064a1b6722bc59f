//! Whether kept results follow from their raw data: curves, tables and verdicts are made again and compared byte by byte.

use std::path::Path;

use anyhow::{Context, Result};
use form_lab::read_text;

use crate::plan::{Experiment, PlanOptions, plan_runs};
use crate::raw_data::TABLES;
use crate::results::write_results;
use crate::runner::Runner;
use crate::trials::{self, PRESET_PAPER, trials_table};
use crate::{label_noise, scaling, table_3, unknown_tasks, zero_shot};

/// A kept file, and whether the raw data give the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedFile {
    /// Its name, relative to the folder of results.
    pub name: String,
    /// Whether it is what the raw data give.
    pub agrees: bool,
}

/// The command that a folder of results says it was made by.
pub fn recorded_command(folder: &Path) -> Result<String> {
    let path = folder.join(TABLES);
    let text = read_text(&path)?;
    let command = text
        .split_once("Made by `")
        .and_then(|(_, rest)| rest.split_once('`'));
    let (command, _) =
        command.with_context(|| format!("{}: does not say what made it", path.display()))?;
    Ok(command.to_owned())
}

/// Makes the results of runs again, from their folders under `runner`, and compares them with what `folder` has.
pub fn check_runs(
    folder: &Path,
    runner: &Runner,
    experiments: &[Experiment],
    options: &PlanOptions,
) -> Result<Vec<CheckedFile>> {
    let outcomes = runner.outcomes(&plan_runs(experiments, options)?)?;
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    let command = recorded_command(folder)?;
    let made = write_results(
        scratch.path(),
        runner,
        experiments,
        options,
        &outcomes,
        &command,
    )?;
    let checked = made.files.into_iter().map(|name| {
        let bytes = std::fs::read(scratch.path().join(&name))?;
        let agrees = std::fs::read(folder.join(&name)).is_ok_and(|kept| kept == bytes);
        Ok(CheckedFile { name, agrees })
    });
    checked.collect()
}

/// Makes the tables of the experiments without run folders again, and pictures, from the raw data in their folders under `folder`. A
/// folder that is not there is not checked.
pub fn check_tables(folder: &Path) -> Result<Vec<CheckedFile>> {
    type Remake = fn(&Path, &str) -> Result<String>;
    let files: [(&str, &str, Remake); 6] = [
        ("zero-shot", TABLES, zero_shot::remake_tables),
        ("unknown-tasks", TABLES, unknown_tasks::remake_tables),
        ("table-3", TABLES, table_3::remake_tables),
        ("scaling", TABLES, scaling::remake_tables),
        ("scaling", scaling::PICTURE, scaling::remake_picture),
        ("label-noise", TABLES, label_noise::remake_tables),
    ];
    let mut checked = Vec::new();
    let mut compare = |name: &str, file: &str, text: &str| -> Result<()> {
        checked.push(CheckedFile {
            name: format!("{name}/{file}"),
            agrees: read_text(&folder.join(name).join(file))? == text,
        });
        Ok(())
    };
    for (name, file, remake) in files {
        let own = folder.join(name);
        if own.join(file).is_file() {
            compare(name, file, &remake(&own, &recorded_command(&own)?)?)?;
        }
    }
    // No one command made them.
    let own = folder.join(PRESET_PAPER);
    if trials::are_kept(&own) {
        compare(PRESET_PAPER, trials::TABLE, &trials_table(&own)?)?;
    }
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_tables_are_made_from_the_kept_data() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
        let checked = check_tables(&folder).unwrap();
        assert_eq!(checked.len(), 7);
        for file in checked {
            assert!(file.agrees, "{}", file.name);
        }
    }
}
