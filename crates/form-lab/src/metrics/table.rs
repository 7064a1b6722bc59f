//! A table as a CSV file that survives a kill at any byte.
//!
//! Rows are appended and handed to the operating system one by one. A run that resumes after iteration k cuts off every later row,
//! and a last line without its line end never counts.

use std::fs::File;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use anyhow::{Result, anyhow, bail};

use super::Row;
use crate::atomic_files::{append, cannot, read_text, write_atomically};

/// A table that rows are appended to.
#[derive(Debug)]
pub struct Table<R> {
    path: PathBuf,
    file: File,
    rows: PhantomData<fn(&R)>,
}

impl<R: Row> Table<R> {
    /// Creates a table with its header, replacing an existing file.
    pub fn create(path: &Path) -> Result<Self> {
        write_atomically(path, header::<R>()?.as_bytes())?;
        Self::append_to(path)
    }

    /// Opens the table of a run that resumes after an iteration, or from its start: later rows and a half-written last line are cut
    /// off atomically. A missing table is created; a table of an earlier version gets the current columns.
    pub fn resume(path: &Path, iteration: Option<u64>) -> Result<Self> {
        Self::resume_with(path, iteration, |_| {})
    }

    /// As [`resume`](Self::resume), with a change to every row.
    pub(crate) fn resume_with(
        path: &Path,
        iteration: Option<u64>,
        change: impl FnMut(&mut R),
    ) -> Result<Self> {
        if !path.exists() {
            return Self::create(path);
        }
        let text = read_text(path)?;
        let mut kept: Vec<R> = parse(path, complete_lines(&text))?
            .into_iter()
            .filter(|row: &R| iteration.is_some_and(|last| row.iteration() <= last))
            .collect();
        kept.iter_mut().for_each(change);
        write_atomically(path, &rows_as_lines(&kept, true)?)?;
        Self::append_to(path)
    }

    /// Appends a row. The operating system has it when this returns.
    pub fn append(&mut self, row: &R) -> Result<()> {
        append(
            &mut self.file,
            &self.path,
            &rows_as_lines(from_ref(row), false)?,
        )
    }

    /// Flushes all rows to the disk, so that after a power failure no checkpoint is ahead of its table.
    pub fn sync(&self) -> Result<()> {
        (self.file.sync_data()).map_err(|error| cannot("write", &self.path, error))
    }

    fn append_to(path: &Path) -> Result<Self> {
        let file = File::options()
            .append(true)
            .open(path)
            .map_err(|error| cannot("write", path, error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            rows: PhantomData,
        })
    }
}

/// Reads the rows of a table. A half-written last line, left by a killed process, is ignored.
pub fn read_rows<R: Row>(path: &Path) -> Result<Vec<R>> {
    parse(path, complete_lines(&read_text(path)?))
}

/// Reads the rows of a table up to the first bad one, with its error. A truncated last line is an error, too.
pub(crate) fn read_good_rows<R: Row>(path: &Path) -> (Vec<R>, Option<anyhow::Error>) {
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let complete = complete_lines(&text);
    let (rows, problem) = good_rows(path, complete);
    let cut = (complete.len() < text.len()).then(|| {
        let line = complete.lines().count() + 1;
        anyhow!(
            "{}:{line}: the last line is truncated and ignored",
            path.display()
        )
    });
    (rows, problem.or(cut))
}

/// The text up to its last line end.
fn complete_lines(text: &str) -> &str {
    &text[..text.rfind('\n').map_or(0, |end| end + 1)]
}

fn header<R: Row>() -> Result<String> {
    let text = String::from_utf8(rows_as_lines(&[R::default()], true)?)?;
    let (first, _) = text.split_once('\n').unwrap_or_default();
    Ok(format!("{first}\n"))
}

/// Rows as CSV lines, with or without the header.
fn rows_as_lines<R: Row>(rows: &[R], with_header: bool) -> Result<Vec<u8>> {
    if rows.is_empty() && with_header {
        return Ok(header::<R>()?.into_bytes());
    }
    let mut writer = csv::WriterBuilder::new()
        .has_headers(with_header)
        .from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    Ok(writer.into_inner()?)
}

fn parse<R: Row>(path: &Path, text: &str) -> Result<Vec<R>> {
    match good_rows(path, text) {
        (rows, None) => Ok(rows),
        (_, Some(error)) => Err(error),
    }
}

/// The rows up to the first bad one, with its error.
fn good_rows<R: Row>(path: &Path, text: &str) -> (Vec<R>, Option<anyhow::Error>) {
    if text.is_empty() {
        // Killed before the header was written.
        return (Vec::new(), None);
    }
    let names = match columns::<R>(path, text) {
        Ok(names) => names,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let names: Vec<&str> = names.split(',').collect();
    let mut rows = Vec::new();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    // Replaces the names in the file. Reading them moves on to the first row.
    if let Err(error) = reader.headers() {
        return (rows, Some(misread(path, text, &names, &error)));
    }
    reader.set_headers(names.iter().collect());
    for row in reader.deserialize() {
        match row {
            Ok(row) => rows.push(row),
            Err(error) => return (rows, Some(misread(path, text, &names, &error))),
        }
    }
    (rows, None)
}

/// The current names of the columns, if the header is known.
fn columns<R: Row>(path: &Path, text: &str) -> Result<String> {
    let expected = header::<R>()?;
    let expected = expected.trim_end();
    let found = text.lines().next().unwrap_or_default();
    if let Some((_, now)) = R::EARLIER.iter().find(|(before, _)| *before == found) {
        return Ok((*now).to_owned());
    }
    if found != expected {
        let same = (found.chars().zip(expected.chars())).take_while(|(a, b)| a == b);
        bail!(
            "{}:1:{}: the columns are `{found}`, not `{expected}`: this is a table of another kind or another version",
            path.display(),
            same.count() + 1
        );
    }
    Ok(expected.to_owned())
}

/// A read error with its line, column and field name.
fn misread(path: &Path, text: &str, names: &[&str], error: &csv::Error) -> anyhow::Error {
    let line = error.position().map_or(1, csv::Position::line);
    let (field, problem) = match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let field = err.field().unwrap_or(0) as usize;
            (
                field,
                format!("{}: {}", names.get(field).unwrap_or(&"row"), err.kind()),
            )
        }
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            let last = (*len.min(expected_len) as usize).saturating_sub(1);
            (last, format!("{len} fields, not {expected_len}"))
        }
        _ => (0, error.to_string()),
    };
    let text = text.lines().nth(line as usize - 1).unwrap_or_default();
    let column = start_of_field(text, field);
    anyhow!(
        "{}:{line}:{column}: {problem}: repair the line, or remove it",
        path.display()
    )
}

/// The column, from 1, at which a field starts.
fn start_of_field(line: &str, field: usize) -> usize {
    let mut quoted = false;
    let commas = line.chars().enumerate().filter(|(_, char)| {
        quoted ^= *char == '"';
        *char == ',' && !quoted
    });
    match field.checked_sub(1) {
        None => 1,
        Some(before) => commas.map(|(at, _)| at + 2).nth(before).unwrap_or(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::MetricsRow;

    /// The file is /dev/full, so the error of the operating system is real.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_that_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let mut table = Table::append_to(&path).unwrap();
        let row = |iteration| MetricsRow {
            iteration,
            ..MetricsRow::default()
        };
        let message = format!("{:#}", table.append(&row(1)).unwrap_err());
        assert!(
            message.contains("metrics.csv: the disk is full: make room"),
            "{message}"
        );
        // Room is made: the row that failed must not turn up later, as it would if it were kept in a buffer.
        let other = Table::<MetricsRow>::create(&folder.path().join("other.csv")).unwrap();
        table.file = other.file;
        table.append(&row(2)).unwrap();
        drop(table);
        assert_eq!(read_rows::<MetricsRow>(&other.path).unwrap(), [row(2)]);
    }
}
