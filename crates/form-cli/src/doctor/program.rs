//! Finds a program on the PATH and runs it with a time limit.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// The first of some programs that is on the PATH.
pub fn find(names: &[&str], path: &OsStr) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(path)
        // A relative entry would find files of the current folder.
        .filter(|folder| folder.is_absolute())
        .collect();
    (names.iter())
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .map(|file| match std::env::consts::EXE_EXTENSION {
            "" => file,
            end => file.with_extension(end),
        })
        .find(|file| can_run(file))
}

#[cfg(unix)]
fn can_run(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    (file.metadata()).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn can_run(file: &Path) -> bool {
    file.is_file()
}

/// The maximum output of a version.
const MOST: u64 = 1 << 16;

/// The output of a program, or why there is none.
pub fn ask(program: &Path, arguments: &[&str], patience: Duration) -> Result<String, String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start it: {error}"))?;
    let deadline = Instant::now() + patience;
    let (sender, receiver) = channel();
    if let Some(output) = child.stdout.take() {
        // The thread is left behind if the program never closes its output.
        std::thread::spawn(move || {
            let mut said = Vec::new();
            let _ = output.take(MOST).read_to_end(&mut said);
            let _ = sender.send(said);
        });
    }
    let silent = || format!("no answer within {} s", patience.as_secs());
    let said = receiver.recv_timeout(patience);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) if said.is_ok() => break status,
            Ok(None) if said.is_ok() && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            _ => {
                // If it cannot be killed, it is left running.
                let _ = child.kill();
                let _ = child.wait();
                return Err(silent());
            }
        }
    };
    let said = String::from_utf8_lossy(&said.unwrap_or_default()).into_owned();
    match status.success() {
        true => Ok(said),
        false => Err(format!("it exited with {status}")),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn script(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn programs_are_found_on_the_path_alone() {
        let folder = tempfile::tempdir().unwrap();
        let second = script(folder.path(), "second", "", 0o755);
        script(folder.path(), "no_program", "", 0o644);
        let path = folder.path().as_os_str();
        assert_eq!(find(&["first", "second"], path), Some(second));
        assert_eq!(find(&["no_program"], path), None);
        assert_eq!(find(&["sh"], path), None);
        // Not even where the path names the current folder.
        assert_eq!(find(&["Cargo.toml", "sh"], OsStr::new(".::bin")), None);
    }

    #[test]
    fn programs_answer_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, text: &str| script(folder.path(), name, text, 0o755);
        let patience = Duration::from_secs(60);
        let good = ask(&make("good", "echo version $1"), &["7"], patience);
        assert_eq!(good.as_deref(), Ok("version 7\n"));
        let bad = ask(&make("bad", "exit 3"), &[], patience).unwrap_err();
        assert!(bad.contains('3'), "{bad}");
        // One that says no end of things is told to stop, and one that says nothing is not waited for.
        assert!(ask(&make("chatter", "exec yes"), &[], patience).is_err());
        let silent = make("silent", "exec sleep 600");
        let silent = ask(&silent, &[], Duration::from_millis(50)).unwrap_err();
        assert!(silent.contains("no answer"), "{silent}");
    }
}
