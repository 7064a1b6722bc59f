//! Running an external solver: its input on standard input, killed at the time limit or on an interrupt.

use std::io::{ErrorKind, Read, Write};
#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::options::Limits;
use crate::outcome::StopReason;

/// The exit status and the output of a program that was not killed.
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// The time limit and the interrupt. The memory limit is about this process, not about another program.
pub(super) fn budget(limits: &Limits) -> Budget {
    Budget::new(&Limits {
        memory: None,
        ..limits.clone()
    })
}

impl Output {
    /// The error that says that the program failed, with the first lines of its output.
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

/// Runs a program until it ends or a limit is reached. `hint` says how to get the program.
pub(super) fn run(
    program: &Path,
    arguments: &[&str],
    input: String,
    budget: &Budget,
    hint: &'static str,
) -> Result<Result<Output, StopReason>> {
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
    // Ctrl-C at the terminal is handled through the interrupt flag: the program must not get the signal itself.
    #[cfg(unix)]
    if budget.can_be_interrupted() {
        command.process_group(0);
    }
    let mut child = command.spawn().map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::MissingProgram {
            program: program.to_owned(),
            hint,
        },
        _ => io(source),
    })?;
    // One thread per pipe, so that none can fill up and block the program.
    let stdin = child.stdin.take();
    let writer = thread::spawn(move || {
        // A program that ends early closes the pipe; how it ended says why.
        let _ = stdin.map(|mut stdin| stdin.write_all(input.as_bytes()));
    });
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let status = match wait(&mut child, budget).map_err(io)? {
        Ok(status) => status,
        // The threads end with the pipes; their output is not needed.
        Err(reason) => return Ok(Err(reason)),
    };
    let text = |bytes: thread::JoinHandle<Vec<u8>>| {
        let bytes = bytes.join().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let _ = writer.join();
    Ok(Ok(Output {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
    }))
}

/// Waits for the program, and kills it when a limit is reached.
fn wait(child: &mut Child, budget: &Budget) -> std::io::Result<Result<ExitStatus, StopReason>> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ok(status));
        }
        if let Some(reason) = budget.exhausted() {
            child.kill()?;
            child.wait()?;
            return Ok(Err(reason));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Output before an error is still worth reporting.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        bytes
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limits: &Limits) -> Result<Output, StopReason> {
        let (program, arguments) = (Path::new("sh"), ["-c", script]);
        let input = "in".to_owned();
        run(program, &arguments, input, &budget(limits), "a shell")
            .expect("every system has a shell")
    }

    #[test]
    fn its_output_comes_back() {
        let output = shell("cat; echo problem >&2; exit 3", &Limits::default());
        let output = output.ok().unwrap();
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
        let stopped = shell("exec sleep 60", &limits).err();
        assert_eq!(stopped, Some(StopReason::Time));
    }

    #[test]
    fn it_is_killed_when_interrupted() {
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let limits = Limits {
            interrupt: Some(flag),
            ..Limits::default()
        };
        let stopped = shell("exec sleep 60", &limits).err();
        assert_eq!(stopped, Some(StopReason::Interrupted));
    }

    #[test]
    fn a_missing_program_is_its_own_error() {
        let missing = Path::new("no-such-solver");
        let ran = run(missing, &[], String::new(), &Budget::default(), "get it");
        let error = ran.err().unwrap();
        assert_eq!(
            error.to_string(),
            "cannot find the program `no-such-solver`: get it"
        );
    }
}
