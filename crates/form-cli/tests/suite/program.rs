//! What the program says of itself: completions for shells, manual pages, and what is missing on a computer.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::binary::{Outcome, command, fixtures, form};

/// Whether this computer has a program.
fn has(program: &str) -> bool {
    let asked = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

#[test]
fn shells_can_read_their_completions() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let outcome = form(&fixtures(), &["completions", shell]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        // Commands and options are all there; methods and tasks where the shell's scripts have a place for them.
        let words = [
            "transfer",
            "require-success",
            "single-policy",
            "green-but-one",
        ];
        let known = match shell {
            "elvish" | "powershell" => &words[..2],
            _ => &words[..],
        };
        for word in known {
            assert!(outcome.stdout.contains(word), "{shell}: {word}");
        }
        let file = folder.path().join(shell);
        fs::write(&file, &outcome.stdout).unwrap();
        if matches!(shell, "bash" | "zsh" | "fish") && has(shell) {
            let read = Command::new(shell).arg("-n").arg(&file).output().unwrap();
            let said = String::from_utf8(read.stderr).unwrap();
            assert!(read.status.success() && said.is_empty(), "{shell}: {said}");
        }
    }
    let unknown = form(&fixtures(), &["completions", "dos"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("powershell"), "{}", unknown.stderr);
}

/// What bash offers for the beginning of a command line.
#[cfg(unix)]
#[test]
fn bash_completes_tasks_and_methods() {
    let script = form(&fixtures(), &["completions", "bash"]).stdout;
    let offered = |words: &[&str]| {
        let line = words.join(" ");
        let program = format!(
            "{script}\nCOMP_WORDS=({line})\nCOMP_CWORD={}\n_form form {:?} {:?}\necho \"${{COMPREPLY[@]}}\"",
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        let said = Command::new("bash")
            .args(["-c", &program])
            .output()
            .unwrap();
        String::from_utf8(said.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(offered(&["form", "doc"]), "doctor");
    assert_eq!(
        offered(&["form", "train", "all-yellow-"]),
        "all-yellow-4 all-yellow-6"
    );
    assert_eq!(
        offered(&["form", "train", "--method", "rec"]),
        "recurrent-ppo"
    );
    assert_eq!(
        offered(&["form", "transfer", "--task", "gr"]),
        "green-but-one"
    );
}

#[test]
fn manual_pages_are_written_and_can_be_shown() {
    let folder = tempfile::tempdir().unwrap();
    let one = form(folder.path(), &["man"]);
    assert_eq!(one.code, Some(0));
    assert!(one.stdout.contains(".TH form 1"), "{}", one.stdout);
    let all = form(folder.path(), &["man", "--out", "man/man1", "--json"]);
    assert_eq!(all.code, Some(0), "{}", all.stderr);
    let said: Value = serde_json::from_str(&all.stdout).unwrap();
    let pages = said["pages"].as_array().unwrap();
    assert!(pages.len() > 15 && pages.contains(&"form-train.1".into()));
    for page in pages {
        let page = folder.path().join("man/man1").join(page.as_str().unwrap());
        let text = fs::read_to_string(&page).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"));
        if has("groff") {
            let shown = Command::new("groff")
                .args(["-man", "-Tutf8", "-ww"])
                .arg(&page)
                .output()
                .unwrap();
            let said = String::from_utf8(shown.stderr).unwrap();
            assert!(
                shown.status.success() && said.is_empty(),
                "{}: {said}",
                page.display()
            );
        }
    }
    assert_eq!(
        fs::read_to_string(folder.path().join("man/man1/form.1")).unwrap(),
        one.stdout
    );
    assert_eq!(form(folder.path(), &["man", "--json"]).code, Some(2));
}

/// Asks the doctor with only the programs of a folder on the path.
#[cfg(unix)]
fn doctor(path: &Path, temporary: &Path) -> (Outcome, Value) {
    let output = command(path, &["doctor", "--json"])
        .env("PATH", path)
        .env("TMPDIR", temporary)
        .output()
        .unwrap();
    let outcome = Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    let said = serde_json::from_str(&outcome.stdout).unwrap();
    (outcome, said)
}

#[cfg(unix)]
fn part<'a>(said: &'a Value, name: &str) -> &'a Value {
    let parts = said["parts"].as_array().unwrap();
    parts.iter().find(|part| part["name"] == name).unwrap()
}

#[cfg(unix)]
fn install(folder: &Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn a_doctor_finds_nothing_and_that_is_all_right() {
    let (folder, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (outcome, said) = doctor(folder.path(), temporary.path());
    assert_eq!((outcome.code, &said["works"]), (Some(0), &true.into()));
    for name in ["clingo", "ILASP", "Chromium", "Python", "formrl", "torch"] {
        let part = part(&said, name);
        assert_eq!(
            (&part["state"], &part["optional"]),
            (&"missing".into(), &true.into())
        );
        assert!(
            !part["for"].as_str().unwrap().is_empty() && !part["get"].as_str().unwrap().is_empty()
        );
    }
    assert_eq!(part(&said, "learning")["state"], "here");
}

#[cfg(unix)]
#[test]
fn a_doctor_says_what_programs_say() {
    let (folder, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    install(
        folder.path(),
        "clingo",
        "echo clingo version 9.8.7; echo more",
    );
    install(folder.path(), "ILASP", "exit 3");
    install(
        folder.path(),
        "python3",
        r#"echo '{"version": "3.12.1", "found": {"formrl": "0.1.0", "gymnasium": "0.29.1", "ray": "2.50.0"}}'"#,
    );
    let (outcome, said) = doctor(folder.path(), temporary.path());
    assert_eq!(outcome.code, Some(0));
    let states = [
        ("clingo", "here", "clingo version 9.8.7"),
        ("ILASP", "broken", "it exited with exit status: 3"),
        ("Python", "here", "3.12.1"),
        ("formrl", "here", "0.1.0"),
        ("gymnasium", "too-old", "0.29.1"),
        ("ray", "here", "2.50.0"),
    ];
    for (name, state, found) in states {
        let part = part(&said, name);
        assert_eq!(
            (&part["state"], &part["found"]),
            (&state.into(), &found.into()),
            "{name}"
        );
    }
    assert_eq!(part(&said, "torch")["state"], "missing");
    // What is in a Python that is too old is of no use.
    install(
        folder.path(),
        "python3",
        r#"echo '{"version": "3.9.2", "found": {"formrl": "0.1.0"}}'"#,
    );
    let (_, said) = doctor(folder.path(), temporary.path());
    assert_eq!(part(&said, "Python")["state"], "too-old");
    assert_eq!(part(&said, "formrl")["state"], "missing");
}

#[cfg(unix)]
#[test]
fn a_doctor_names_a_temporary_folder_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let (outcome, said) = doctor(folder.path(), &folder.path().join("nowhere"));
    // Only what is read from a pipe needs it.
    assert_eq!((outcome.code, &said["works"]), (Some(0), &true.into()));
    assert_eq!(part(&said, "temporary folder")["state"], "broken");
}

/// The Python of this computer, if there is one, is really asked; modules in the current folder are not imported.
#[cfg(unix)]
#[test]
fn a_doctor_imports_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let trap = "open('trapped', 'w').close()\n";
    for module in ["json.py", "platform.py", "formrl.py", "torch.py"] {
        fs::write(folder.path().join(module), trap).unwrap();
    }
    let output = command(folder.path(), &["doctor"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!folder.path().join("trapped").exists());
}
