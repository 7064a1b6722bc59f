//! The help of every command: it has examples, and they work. The commands are those of clap, so that none is forgotten.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::binary::{fixtures, form};
use crate::book::commands::lines;

/// The commands. `form man` writes one page for each that clap knows.
fn commands() -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let outcome = form(folder.path(), &["man", "--out", "pages", "--json"]);
    let said: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let pages = said["pages"].as_array().unwrap().iter();
    let names = pages.filter_map(|page| page.as_str()?.strip_prefix("form-")?.strip_suffix(".1"));
    let names: Vec<String> = names.map(str::to_owned).collect();
    assert!(names.len() >= 20, "{names:?}");
    names
}

/// The examples in a command's help, without their first word.
fn examples(command: &str) -> Vec<String> {
    let help = form(&fixtures(), &[command, "--help"]).stdout;
    // The terminal's width may break an example: the next line then belongs to it.
    (help.split("\n  form ").skip(1))
        .map(|example| example.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn every_command_helps_with_an_example() {
    for name in commands() {
        for flag in ["--help", "-h"] {
            let outcome = form(&fixtures(), &[&name, flag]);
            assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""), "{name}");
            let example = format!("\n  form {name}");
            assert!(outcome.stdout.contains(&example), "{}", outcome.stdout);
        }
    }
    let all = form(&fixtures(), &["--help"]).stdout;
    for name in commands() {
        assert!(all.contains(&format!("\n  {name} ")), "{name}: {all}");
    }
}

/// Every example runs in a folder that has the shipped files, made small as the examples of the book are. Training comes first: other
/// commands need its runs.
#[test]
fn the_examples_of_the_help_run() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for shipped in ["examples", "results/runs/all-yellow"] {
        copy(&root.join(shipped), &folder.path().join(shipped));
    }
    for home in [
        ".zfunc",
        ".config/fish/completions",
        ".local/share/bash-completion/completions",
    ] {
        fs::create_dir_all(folder.path().join(home)).unwrap();
    }
    let mut commands = commands();
    commands.sort_by_key(|name| name != "train");
    let mut ran = 0;
    for name in commands {
        let examples = examples(&name);
        assert!(!examples.is_empty(), "{name}");
        for example in examples {
            // Other programs, such as clingo, need not be installed.
            let own = example.split('|').next().unwrap_or_default();
            for line in lines(&format!("form {own}")) {
                run(folder.path(), &line.text);
                ran += usize::from(line.runs);
            }
        }
    }
    assert!(ran >= 40, "only {ran} examples ran");
}

fn run(folder: &Path, line: &str) {
    let binary = Path::new(env!("CARGO_BIN_EXE_form")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-euc", line])
        .current_dir(folder)
        .env("HOME", folder)
        .env("PATH", format!("{}:{path}", binary.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{line}\n{said}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).unwrap()),
        }
    }
}
