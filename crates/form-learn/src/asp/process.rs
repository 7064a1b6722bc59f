//! Running an external solver: fed through its standard input, stopped when the time is up or the user says so.

use std::io::{ErrorKind, Read, Write};
#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::outcome::StopReason;
use crate::problem::Limits;
use crate::watch::Watch;

/// Until when a search may go on. The memory of another program is its own.
pub(super) struct Deadline(Watch);

/// How a program ended.
pub(super) enum Ended {
    /// By itself.
    Finished(Output),
    /// Killed: the time was up.
    TimedOut,
    /// Killed: the search was interrupted.
    Interrupted,
}

/// What a program that ended by itself left behind.
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Deadline {
    pub(super) fn new(limits: &Limits) -> Self {
        Self(Watch::new(&Limits {
            memory: None,
            ..limits.clone()
        }))
    }

    fn reached(&self) -> Option<Ended> {
        Some(match self.0.reason()? {
            StopReason::Interrupted => Ended::Interrupted,
            _ => Ended::TimedOut,
        })
    }
}

impl Ended {
    /// What the program left behind, or why it was killed.
    pub(super) fn output(self) -> std::result::Result<Output, StopReason> {
        match self {
            Self::Finished(output) => Ok(output),
            Self::TimedOut => Err(StopReason::Time),
            Self::Interrupted => Err(StopReason::Interrupted),
        }
    }
}

impl Output {
    /// The error that says the program failed, with the end of what it printed.
    pub(super) fn failure(&self, program: &Path) -> Error {
        let mut lines: Vec<&str> = (self.stderr.lines().chain(self.stdout.lines()))
            .filter(|line| !line.trim().is_empty())
            .collect();
        lines.truncate(5);
        Error::ProgramFailed {
            program: program.to_owned(),
            status: self.status.to_string(),
            message: lines.join("; "),
        }
    }
}

/// Runs a program to its end or to the deadline, whichever comes first. `hint` says how to get it.
pub(super) fn run(
    program: &Path,
    arguments: &[&str],
    input: String,
    deadline: &Deadline,
    hint: &'static str,
) -> Result<Ended> {
    let io = |source| Error::Io {
        program: program.to_owned(),
        source,
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Ctrl-C at the terminal is for whoever set up the flag, and would end the program behind its back.
    #[cfg(unix)]
    if deadline.0.can_be_interrupted() {
        command.process_group(0);
    }
    let mut child = command.spawn().map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::MissingProgram {
            program: program.to_owned(),
            hint,
        },
        _ => io(source),
    })?;
    // Each pipe has its thread, so that none can fill up and block the program.
    let stdin = child.stdin.take();
    let writer = thread::spawn(move || {
        // A program that ends early closes the pipe; how it ended says why.
        let _ = stdin.map(|mut stdin| stdin.write_all(input.as_bytes()));
    });
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let status = match wait(&mut child, deadline).map_err(io)? {
        Ok(status) => status,
        // The threads end with the pipes; nobody needs what they read.
        Err(ended) => return Ok(ended),
    };
    let text = |bytes: thread::JoinHandle<Vec<u8>>| {
        let bytes = bytes.join().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let _ = writer.join();
    Ok(Ended::Finished(Output {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
    }))
}

/// Waits for the program, and kills it at the deadline.
fn wait(
    child: &mut Child,
    deadline: &Deadline,
) -> std::io::Result<std::result::Result<ExitStatus, Ended>> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ok(status));
        }
        if let Some(ended) = deadline.reached() {
            child.kill()?;
            child.wait()?;
            return Ok(Err(ended));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is still worth reporting.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        bytes
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limits: &Limits) -> Result<Ended> {
        let deadline = Deadline::new(limits);
        run(
            Path::new("sh"),
            &["-c", script],
            "in".to_owned(),
            &deadline,
            "a shell",
        )
    }

    #[test]
    fn what_it_prints_comes_back() {
        let ended = shell("cat; echo problem >&2; exit 3", &Limits::default()).unwrap();
        let Ended::Finished(output) = ended else {
            panic!("it ends by itself")
        };
        assert_eq!(
            (output.stdout.as_str(), output.status.code()),
            ("in", Some(3))
        );
        let message = output.failure(Path::new("sh")).to_string();
        assert_eq!(message, "`sh` failed (exit status: 3): problem; in");
    }

    #[test]
    fn it_is_killed_when_the_time_is_up() {
        let limits = Limits {
            time: Some(Duration::from_millis(20)),
            ..Limits::default()
        };
        assert!(matches!(
            shell("exec sleep 60", &limits),
            Ok(Ended::TimedOut)
        ));
    }

    #[test]
    fn it_is_killed_when_interrupted() {
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let limits = Limits {
            interrupt: Some(flag),
            ..Limits::default()
        };
        assert!(matches!(
            shell("exec sleep 60", &limits),
            Ok(Ended::Interrupted)
        ));
    }

    #[test]
    fn a_missing_program_is_told_apart() {
        let limits = Limits::default();
        let deadline = Deadline::new(&limits);
        let error = run(
            Path::new("no-such-solver"),
            &[],
            String::new(),
            &deadline,
            "get it",
        )
        .err()
        .unwrap();
        assert_eq!(
            error.to_string(),
            "cannot find the program `no-such-solver`: get it"
        );
    }
}
