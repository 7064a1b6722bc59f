//! Files that are written at once or not at all.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use pyo3::prelude::*;

use crate::errors;

/// Writes a file beside the one that is meant and puts it in its place when all went well; else nothing has changed.
pub fn replace<T>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> PyResult<T>,
) -> PyResult<T> {
    let failed = |error: std::io::Error| errors::file(path, &error);
    let Some(name) = path.file_name() else {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    };
    // A pipe or device, such as /dev/null, would be replaced by a file.
    let kind = path.metadata().map(|found| found.file_type());
    if kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir()) {
        let problem = "a pipe or a device, not a file";
        return Err(failed(std::io::Error::other(problem)));
    }
    let mut temporary = name.to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let mut out = BufWriter::new(File::create(&temporary).map_err(failed)?);
    let written = write(&mut out).and_then(|value| {
        out.flush().map_err(failed)?;
        std::fs::rename(&temporary, path).map_err(failed)?;
        Ok(value)
    });
    // The half-written file is of no use to anyone; if it cannot be removed either, the first error says why.
    written.inspect_err(|_| drop(std::fs::remove_file(&temporary)))
}
