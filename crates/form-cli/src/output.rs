//! Writing results to standard output and files, and remarks to standard error.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use form_core::Machine;
use form_lab::{cannot, write_atomically};

use crate::Answer;

/// Writes a text to standard output, with a final line end.
pub fn print(text: &str) -> Result<()> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    print_bytes(&[text.as_bytes(), end.as_bytes()])
}

/// Writes to standard output. A reader that has closed the pipe, as `head` does, is no error.
fn print_bytes(parts: &[&[u8]]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written =
        (parts.iter().try_for_each(|part| out.write_all(part))).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

/// A path quoted for a shell, for suggested commands.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Prints one JSON object.
pub fn print_json(value: &serde_json::Value) -> Result<()> {
    print(&value.to_string())
}

/// Writes a result to a file atomically, or to standard output if there is no file or it is `-`.
pub fn write(path: Option<&Path>, text: &str) -> Result<()> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(_) => write_bytes(path, text.as_bytes()),
        None => print(text),
    }
}

/// As `write`, for bytes.
pub fn write_bytes(path: Option<&Path>, bytes: &[u8]) -> Result<()> {
    let Some(path) = path.filter(|path| *path != Path::new("-")) else {
        return print_bytes(&[bytes]);
    };
    if path.is_dir() {
        bail!("cannot write {}: it is a folder", path.display());
    }
    if path.file_name().is_none() {
        bail!("{}: not a file name", path.display());
    }
    // A device or a pipe, such as /dev/null, is written to: a file must not replace it.
    let is_special = (path.metadata()).is_ok_and(|found| !found.is_file() && !found.is_dir());
    match is_special {
        true => std::fs::write(path, bytes).map_err(|error| cannot("write", path, error)),
        false => write_atomically(path, bytes),
    }
}

/// A remark or an error message on standard error; a failure to write it is ignored.
pub fn remark(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The answer of work that would exceed its limit: "no". Other errors stay errors.
pub fn over_limit(error: form_core::Error, json: bool) -> Result<Answer> {
    let form_core::Error::Limit { what, limit, hint } = &error else {
        return Err(error.into());
    };
    if json {
        print_json(
            &serde_json::json!({ "over_limit": { "what": what, "limit": limit, "hint": hint } }),
        )?;
    } else {
        remark(&format!("no answer within the limits: {error}"));
    }
    Ok(Answer::No)
}

/// Refuses to overwrite the input.
pub fn refuse_overwriting(input: &Path, output: Option<&Path>) -> Result<()> {
    let same = |output: &Path| match (input.canonicalize(), output.canonicalize()) {
        (Ok(input), Ok(output)) => input == output,
        _ => false,
    };
    match output.filter(|output| same(output)) {
        Some(output) => bail!("{} is the input: write to another file", output.display()),
        None => Ok(()),
    }
}

/// An error and its causes in one message, without repetitions and without the numbers of the system's errors.
pub fn message(error: &anyhow::Error) -> String {
    without_error_numbers(&form_lab::message(error))
}

/// A message without ` (os error 2)`: the system's words before it say the same.
fn without_error_numbers(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.parse::<i32>().is_ok() => text += rest,
            _ => text += &format!(" (os error {part}"),
        }
    }
    text
}

/// `1 state`, `2 states`.
pub fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// What a trace is called, behind its place: ` (id 17)`, or nothing.
pub fn called(id: Option<&str>) -> String {
    id.map_or_else(String::new, |id| format!(" (id {id})"))
}

/// `3 traces (1 goal, 0 dead-end, 2 incomplete)`, where the noun is `trace`.
pub fn count_kinds([goal, dead_end, incomplete]: [u64; 3], noun: &str) -> String {
    let all = goal + dead_end + incomplete;
    format!(
        "{} ({goal} goal, {dead_end} dead-end, {incomplete} incomplete)",
        count(all as usize, noun)
    )
}

/// Says on standard error which traces were written to a file; standard output speaks for itself.
pub fn remark_traces(path: &Path, kinds: [u64; 3], atoms: usize) {
    if path != Path::new("-") {
        remark(&format!(
            "{}: {} over {}",
            path.display(),
            count_kinds(kinds, "trace"),
            count(atoms, "atom")
        ));
    }
}

/// The text of a machine for a file: `.form` or JSON, by its extension.
pub fn machine_text(machine: &Machine, path: Option<&Path>) -> Result<String> {
    let extension = path
        .and_then(Path::extension)
        .map(OsStr::to_ascii_lowercase);
    match extension.as_deref().and_then(OsStr::to_str) {
        None | Some("form") => Ok(machine.to_string()),
        Some("json") => Ok(machine.to_json() + "\n"),
        Some(other) => bail!("machines are written as .form or .json, not .{other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_have_no_numbers() {
        let check = |text: &str, expected: &str| assert_eq!(without_error_numbers(text), expected);
        check("a: No such file (os error 2)", "a: No such file");
        check("a (os error 2): b (os error 13) c", "a: b c");
        check("what is (os error x)?", "what is (os error x)?");
    }

    #[test]
    fn suggested_paths_can_be_pasted() {
        let check = |path: &str, expected: &str| assert_eq!(quoted(Path::new(path)), expected);
        check("runs/all-yellow-form-1", "runs/all-yellow-form-1");
        check("my run", "'my run'");
        check("it's", r"'it'\''s'");
        check("$(x)", "'$(x)'");
    }
}
