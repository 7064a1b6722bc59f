//! Writing results: to standard output, to files, and remarks to standard error.

use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result};

/// Writes a result to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

/// Prints one JSON object.
pub fn print_json(value: &serde_json::Value) -> Result<()> {
    print(&value.to_string())
}

/// Writes a result to a file, at once or not at all; to standard output if there is no file or it is `-`.
pub fn write(path: Option<&Path>, text: &str) -> Result<()> {
    let Some(path) = path.filter(|path| *path != Path::new("-")) else {
        return print(text);
    };
    let name = path
        .file_name()
        .with_context(|| format!("{}: not a file name", path.display()))?;
    let mut temporary = name.to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let written = std::fs::write(&temporary, text).and_then(|()| std::fs::rename(&temporary, path));
    written.with_context(|| {
        // The half-written file, if there is one, is of no use to anyone.
        let _ = std::fs::remove_file(&temporary);
        format!("cannot write {}", path.display())
    })
}

/// A remark for the reader, apart from the result.
pub fn remark(text: &str) {
    complain(text);
}

/// Writes to standard error; if even that is closed, there is nobody to tell.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Whether the reader of our output has gone away, as `head` does.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// `1 state`, `2 states`.
pub fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The text of a machine for a file: JSON if its name says so, else `.form`.
pub fn machine_text(machine: &form_core::Machine, path: Option<&Path>) -> String {
    if path.is_some_and(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    }) {
        machine.to_json() + "\n"
    } else {
        machine.to_string()
    }
}
