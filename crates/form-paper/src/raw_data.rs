//! Raw data of experiments without run folders: one JSON object per line.

use std::path::Path;

use anyhow::{Context, Result};
use form_lab::{read_text, write_atomically};
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
