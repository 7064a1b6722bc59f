//! `form eval` and `form transfer`: what they print, what they write, and what they refuse.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::runs::{assert_same, contents, lasting, run, task_folder, train};

/// A quick run in `run`, and the task `more.toml` with more of what it is about.
fn trained(more: &str) -> tempfile::TempDir {
    let folder = task_folder();
    // With this seed the machine with its `forall` is learnt in four iterations.
    let outcome = train(folder.path(), 4, &format!("--seed 2 {more}"));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let task = fs::read_to_string(folder.path().join("tiny.toml")).unwrap();
    let more = task.replace("red = 2", "red = 4").replace("tiny", "more");
    fs::write(folder.path().join("more.toml"), more).unwrap();
    folder
}

/// Runs a command line that has to succeed; what it printed.
fn done(folder: &Path, line: &str) -> String {
    let outcome = run(folder, line);
    assert_eq!(outcome.code, Some(0), "form {line}: {}", outcome.stderr);
    outcome.stdout
}

fn json(text: &str) -> Value {
    assert_eq!(text.lines().count(), 1);
    serde_json::from_str(text).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn both_commands_help_with_examples() {
    let folder = task_folder();
    for name in ["eval", "transfer"] {
        let help = done(folder.path(), &format!("{name} --help"));
        assert!(help.contains(&format!("\n  form {name} runs/")), "{help}");
    }
}

#[test]
fn a_table_has_both_sorts_of_maps_and_of_actions() {
    let folder = trained("");
    let before = contents(&folder.path().join("run"));
    let text = done(folder.path(), "eval run --episodes 30");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "# run: tiny by form, after 4 iterations");
    assert!(
        lines[1].starts_with("maps      actions  episodes  success"),
        "{text}"
    );
    for (line, expected) in lines[2..].iter().zip([
        "training  sampled        30 ",
        "training  greedy         30 ",
        "held-out  sampled        30 ",
        "held-out  greedy         30 ",
    ]) {
        assert!(line.starts_with(expected), "{text}");
    }
    // Nothing is written.
    assert_same(&contents(&folder.path().join("run")), &before);
    // The numbers are those of the JSON object.
    let found = json(&done(folder.path(), "eval run --episodes 30 --json"));
    assert_eq!(
        (&found["task"], &found["iterations"]),
        (&"tiny".into(), &4.into())
    );
    let rows = found["evaluations"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for (row, line) in rows.iter().zip(&lines[2..]) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let success = format!("{:.1}", 100.0 * row["success"].as_f64().unwrap());
        assert_eq!(
            (words[0] == "held-out", words[3]),
            (row["held_out"] == true, &*success)
        );
        assert_eq!(row["return"], row["success"]);
        assert_eq!(words[1] == "greedy", row["greedy"] == true);
    }
    let one = json(&done(
        folder.path(),
        "eval run --episodes 30 --held-out --sample --json",
    ));
    assert_eq!(one["evaluations"], Value::Array(vec![rows[2].clone()]));
}

#[test]
fn the_threads_do_not_matter_and_the_seed_does() {
    let folder = trained("");
    let line = "eval run --episodes 64 --json";
    let one = done(folder.path(), &format!("{line} --threads 1"));
    assert_eq!(done(folder.path(), &format!("{line} --threads 3")), one);
    assert_ne!(done(folder.path(), &format!("{line} --seed 9")), one);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let folder = trained("");
    let path = folder.path();
    fs::create_dir(path.join("empty")).unwrap();
    for (line, expected) in [
        ("eval", "required"),
        ("eval missing", "missing: there is no such file or folder"),
        (
            "eval empty",
            "empty is not a run folder, it has no config.toml",
        ),
        ("eval tiny.toml", "tiny.toml is a file, not a run folder"),
        (
            "eval run --episodes 0",
            "expected a number from 1 to 100000",
        ),
        ("eval run --greedy --sample", "cannot be used with"),
    ] {
        let outcome = run(path, line);
        assert_eq!(outcome.code, Some(2), "form {line}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(expected),
            "form {line}: {}",
            outcome.stderr
        );
    }
    let refused = |expected: &str| {
        let outcome = run(path, "eval run --episodes 5");
        assert_eq!((outcome.code, &*outcome.stdout), (Some(2), ""));
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    };
    let last = path.join("run/checkpoints/final.safetensors");
    let whole = fs::read(&last).unwrap();
    fs::write(&last, &whole[..whole.len() - 7]).unwrap();
    refused("run/checkpoints/final.safetensors");
    // As if it had not come to its end.
    fs::remove_file(&last).unwrap();
    done(path, "eval run --episodes 5");
    fs::remove_file(path.join("run/checkpoints/latest.safetensors")).unwrap();
    refused("run: the run is over, but its checkpoint is gone");
    let outcome = run(path, "eval run --episodes 5 --require-success 2");
    assert!(
        outcome.stderr.contains("expected a rate"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_success_rate_can_be_asked_for() {
    let folder = trained("");
    let line = "eval run --episodes 20 --held-out --require-success";
    assert_eq!(run(folder.path(), &format!("{line} 0")).code, Some(0));
    let outcome = run(folder.path(), &format!("{line} 1"));
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("below the 1 of --require-success"));
}

#[test]
fn zero_shot_writes_nothing_but_where_it_is_told_to() {
    let folder = trained("");
    let before = names(folder.path());
    let line = "transfer run --task more.toml --retrain none --episodes 20";
    let text = done(folder.path(), line);
    assert!(
        text.starts_with("# run in more, zero-shot\n# policy u0: "),
        "{text}"
    );
    assert!(
        text.contains(", 0 adapted, 0 fresh; not trained further: zero-shot\n"),
        "{text}"
    );
    assert_eq!(
        text.lines().filter(|line| line.contains("  20  ")).count(),
        4
    );
    assert_eq!(names(folder.path()), before);
    let said = json(&done(folder.path(), &format!("{line} --json --out zero")));
    let written = fs::read_to_string(folder.path().join("zero/evaluation.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), said);
    // The folder is a run's: measured there, the policies are as good.
    let again = json(&done(folder.path(), "eval zero --episodes 20 --json"));
    assert_eq!(again["evaluations"], said["evaluations"]);
    assert_eq!(again["task"], "more");
}

#[test]
fn partial_training_says_what_it_trains_and_why() {
    let folder = trained("--progress bits");
    let line = "transfer run --task more.toml --iterations 3";
    let outcome = run(folder.path(), &format!("{line} --verbose --out new"));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for said in [
        "1 adapted, 0 fresh; trained further: it waits for other atoms (new: red(o2), red(o3))",
        "  indicators.0.weight: adapted, 2 columns kept, 2 fresh",
        "  trunk.0.weight: loaded",
        "0 adapted, 0 fresh; not trained further: it waits for the same atoms as before",
        "run folder: new",
    ] {
        assert!(outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
    }
    assert!(
        outcome.stdout.contains("# 3 iterations, "),
        "{}",
        outcome.stdout
    );
    let said = json(&done(
        folder.path(),
        &format!("{line} --out json --json --quiet"),
    ));
    assert_eq!(
        (&said["from"], &said["task"]),
        (&"run".into(), &"more".into())
    );
    let retrained: Vec<&Value> = (said["policies"].as_array().unwrap().iter())
        .map(|policy| &policy["retrained"])
        .collect();
    assert_eq!(retrained, [&Value::from(true), &Value::from(false)]);
    // It is a run like any other, and its configuration makes it again.
    let runs = ["new", "json", "again"].map(|name| folder.path().join(name));
    assert_same(&lasting(&runs[1]), &lasting(&runs[0]));
    for name in ["result.json", "checkpoints/final.safetensors"] {
        fs::remove_file(runs[0].join(name)).unwrap();
    }
    done(folder.path(), "train --resume new --quiet");
    assert_same(&lasting(&runs[0]), &lasting(&runs[1]));
    fs::remove_dir_all(folder.path().join("run")).unwrap();
    done(
        folder.path(),
        "train --config new/config.toml --out again --quiet",
    );
    assert_same(&lasting(&runs[2]), &lasting(&runs[1]));
}

#[test]
fn runs_without_one_policy_per_state_are_transferred_too() {
    for method in ["single-policy", "ppo", "recurrent-ppo"] {
        let memory = if method == "recurrent-ppo" {
            "--set network.memory=4 --set network.sequence=32"
        } else {
            ""
        };
        let folder = trained(&format!("--method {method} {memory}"));
        let line = "transfer run --task more.toml --iterations 2 --quiet --json --out new";
        let said = json(&done(folder.path(), line));
        assert_eq!(
            (&said["method"], &said["iterations"]),
            (&method.into(), &2.into())
        );
        assert_eq!(said["policies"][0]["name"], "policy");
        assert_eq!(said["policies"][0]["retrained"], true);
    }
}

#[test]
fn what_cannot_be_transferred_is_refused_before_there_is_a_folder() {
    let folder = trained("");
    let path = folder.path();
    let task = fs::read_to_string(path.join("tiny.toml")).unwrap();
    let pale = (task.replace("red = 2", "purple = 2")).replace("forall X. red(X)", "goal");
    fs::write(path.join("pale.toml"), pale).unwrap();
    let before = names(path);
    for (line, expected) in [
        ("transfer run", "--task"),
        (
            "transfer missing --task more.toml",
            "missing: there is no such",
        ),
        ("transfer run --task no-such-task", "no-such-task"),
        (
            "transfer run --task pale.toml",
            "the machine of run does not fit the task tiny",
        ),
        ("transfer run --task pale.toml --retrain none", "red"),
        (
            "transfer run --task tiny.toml",
            "no policy would be trained",
        ),
        (
            "transfer run --task more.toml --policies u0,u9",
            "unknown policy `u9`; known policies: ",
        ),
        (
            "transfer run --task more.toml --policies u0 --retrain full",
            "remove --retrain",
        ),
        ("transfer run --task more.toml --retrain some", "partial"),
        (
            "transfer run --task more.toml --episodes 5",
            "need --retrain none",
        ),
        (
            "transfer run --task more.toml --set gamma=1",
            "unknown setting",
        ),
        (
            "transfer run --task more.toml --out run",
            "already holds a run",
        ),
    ] {
        let outcome = run(path, line);
        assert_eq!(outcome.code, Some(2), "form {line}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(expected),
            "form {line}: {}",
            outcome.stderr
        );
        assert_eq!(names(path), before, "form {line} left something behind");
    }
}
