//! `form reproduce --check`: the results in the repository follow from the raw data beside them, and a changed figure is found.

use std::fs;
use std::path::{Path, PathBuf};

use crate::runs::run;

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn kept_results_follow_from_their_raw_data() {
    let checked = run(&root(), "reproduce --check --update README.md");
    assert_eq!(
        checked.code,
        Some(0),
        "{}{}",
        checked.stdout,
        checked.stderr
    );
    for name in [
        "results.md",
        "preset-paper/results.md",
        "preset-paper/trials.md",
        "zero-shot/results.md",
        "README.md",
    ] {
        let line = format!("agrees  {name}\n");
        assert!(checked.stdout.contains(&line), "{}", checked.stdout);
    }
}

#[test]
fn a_changed_figure_is_found() {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("results"), &folder.path().join("results"));
    let path = folder.path().join("results/runs.csv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("converged", "stalled", 1)).unwrap();
    let path = folder.path().join("results/unknown-tasks/results.md");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("100.0 %", "99.9 %", 1)).unwrap();
    let checked = run(folder.path(), "reproduce --check --json");
    assert_eq!(checked.code, Some(1), "{}", checked.stderr);
    let found: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(found["agrees"], false);
    let differing: Vec<&str> = (found["files"].as_array().unwrap().iter())
        .filter(|file| file["agrees"] == false)
        .filter_map(|file| file["file"].as_str())
        .collect();
    assert_eq!(differing, ["runs.csv", "unknown-tasks/results.md"]);
}

#[test]
fn results_that_do_not_say_what_made_them_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("results")).unwrap();
    let checked = run(folder.path(), "reproduce --check");
    assert_eq!(checked.code, Some(2), "{}", checked.stdout);
    assert!(checked.stderr.contains("results.md"), "{}", checked.stderr);
}
