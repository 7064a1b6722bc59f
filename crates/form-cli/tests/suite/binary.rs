//! Runs the real binary and keeps what came of it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a command left behind.
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The folder of input files, where commands run so that no message names a folder of this computer.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// A command that runs `form` in a folder.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_form"));
    command.current_dir(folder).args(arguments);
    command
}

/// Runs `form` in a folder with nothing to read.
pub fn form(folder: &Path, arguments: &[&str]) -> Outcome {
    form_reading(folder, arguments, "")
}

/// Runs `form` in a folder with `input` on its standard input.
pub fn form_reading(folder: &Path, arguments: &[&str], input: &str) -> Outcome {
    let mut child = command(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input may be gone before it is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let outcome = Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    let Outcome { code, stderr, .. } = &outcome;
    assert!(
        matches!(code, Some(0..=2)) && !stderr.contains("panicked"),
        "form {arguments:?}: {code:?}\n{stderr}"
    );
    outcome
}
