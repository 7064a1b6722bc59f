//! Raw data of experiments without run folders: one JSON object per line.

use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result};
use form_lab::{read_text, write_atomically};
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The file of tables in a folder of results, made from the raw data beside it.
pub(crate) const TABLES: &str = "results.md";

/// The objects of a file; none if there is no file.
pub(crate) fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = read_text(path)?;
    let objects = text.lines().zip(1..).map(|(line, number)| {
        serde_json::from_str(line)
            .with_context(|| format!("{}:{number}: damaged: remove the file", path.display()))
    });
    objects.collect()
}

/// The number of seeds that a command ends in.
pub(crate) fn seeds_of(command: &str) -> Result<u64> {
    let seeds = (command.rsplit(' ').next()).and_then(|seeds| seeds.parse().ok());
    seeds.with_context(|| format!("`{command}` does not end in a number of seeds"))
}

/// Writes a file, and makes its folder.
pub(crate) fn write_lines<'a, T: Serialize + 'a>(
    path: &Path,
    objects: impl IntoIterator<Item = &'a T>,
) -> Result<()> {
    let mut text = String::new();
    for object in objects {
        text += &serde_json::to_string(object)?;
        text.push('\n');
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    write_atomically(path, text.as_bytes())
}

/// Makes what is planned and not in a file, on all cores, and keeps each there as soon as it is made, in the order of the plan. `make`
/// returns nothing if it was interrupted.
pub(crate) fn make_missing<P: Sync, T: Serialize + DeserializeOwned + Send>(
    path: &Path,
    plan: &[P],
    is: impl Fn(&P, &T) -> bool + Sync,
    make: impl Fn(&P) -> Result<Option<T>> + Sync,
) -> Result<Vec<T>> {
    let kept: Vec<T> = read_lines(path)?;
    let missing: Vec<&P> = (plan.iter())
        .filter(|planned| !kept.iter().any(|made| is(planned, made)))
        .collect();
    let made = Mutex::new(kept);
    (missing.par_iter()).try_for_each(|planned| -> Result<()> {
        let (Some(one), Ok(mut made)) = (make(planned)?, made.lock()) else {
            return Ok(());
        };
        made.push(one);
        // Whichever was done first.
        made.sort_by_cached_key(|one| plan.iter().position(|planned| is(planned, one)));
        write_lines(path, made.iter())
    })?;
    Ok(made.into_inner().unwrap_or_default())
}
