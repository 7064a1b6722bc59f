//! Writing results: to standard output, to files, and remarks to standard error.

use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Writes a result to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let end: &[u8] = if text.ends_with('\n') { b"" } else { b"\n" };
    out.write_all(text.as_bytes())
        .and_then(|()| out.write_all(end))
        .and_then(|()| out.flush())
        .context("cannot write to standard output")
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
    if path.is_dir() {
        bail!("cannot write {}: it is a folder", path.display());
    }
    let name = path
        .file_name()
        .with_context(|| format!("{}: not a file name", path.display()))?;
    let mut temporary = name.to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary);
    // A device or a pipe, such as /dev/null, must be written to: a file must not take its place.
    let is_special = (path.metadata()).is_ok_and(|found| !found.is_file() && !found.is_dir());
    let written = if is_special {
        std::fs::write(path, text)
    } else {
        std::fs::write(&temporary, text)
            .and_then(|()| std::fs::rename(&temporary, path))
            // The half-written file, if there is one, is of no use to anyone.
            .inspect_err(|_| drop(std::fs::remove_file(&temporary)))
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// A remark for the reader, apart from the result.
pub fn remark(text: &str) {
    complain(text);
}

/// Writes to standard error; if even that is closed, there is nobody to tell.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// An error and its causes in one message; a cause that the message above it repeats is not said again.
pub fn message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !message.ends_with(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
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
