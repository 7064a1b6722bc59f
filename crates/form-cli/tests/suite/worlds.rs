//! The commands about worlds: tasks, pictures, recorded walks.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::binary::{Outcome, form};

/// Runs a command line in a folder.
fn run(folder: &Path, line: &str) -> Outcome {
    form(folder, &line.split_whitespace().collect::<Vec<_>>())
}

/// The root of the repository, where the shipped examples are.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn done(folder: &Path, line: &str) -> String {
    let outcome = run(folder, line);
    assert_eq!(
        (outcome.code, &*outcome.stderr),
        (Some(0), ""),
        "form {line}"
    );
    outcome.stdout
}

#[test]
fn tasks_are_listed_and_shown() {
    insta::assert_snapshot!(done(root(), "tasks"));
    insta::assert_snapshot!(done(root(), "tasks examples/two_rooms.toml"));
    let listed: Value = serde_json::from_str(&done(root(), "tasks --json")).unwrap();
    let names: Vec<&str> = (listed["tasks"].as_array().unwrap().iter())
        .map(|task| task["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "all-yellow",
            "all-yellow-4",
            "all-yellow-6",
            "green-but-one",
            "blue-all-yellow-7",
            "any-two-yellow",
            "yellow-and-blue",
            "key-and-door"
        ]
    );
    let one: Value = serde_json::from_str(&done(root(), "tasks green-but-one --json")).unwrap();
    assert_eq!(one["lava"], 5);
    assert_eq!(one["checkpoints"]["green"], 3);
    assert_eq!(one["signature"].as_array().unwrap().len(), 15);
}

#[test]
fn a_task_can_be_started_from_another() {
    let folder = tempfile::tempdir().unwrap();
    let text = done(folder.path(), "tasks green-but-one --toml");
    fs::write(folder.path().join("mine.toml"), &text).unwrap();
    assert_eq!(done(folder.path(), "tasks mine.toml --toml"), text);
    assert_eq!(
        done(folder.path(), "draw mine.toml --seed 5"),
        done(folder.path(), "draw green-but-one --seed 5")
    );
}

#[test]
fn a_world_is_drawn_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let printed = done(folder.path(), "draw green-but-one --seed 7 --map 2");
    done(
        folder.path(),
        "draw green-but-one --seed 7 --map 2 -o world.txt",
    );
    assert_eq!(read("world.txt"), printed.as_bytes());
    assert_eq!(printed.lines().count(), 13);
    assert!(
        !printed.contains('\x1b'),
        "no colours where nobody sees them"
    );
    assert_ne!(
        printed,
        done(
            folder.path(),
            "draw green-but-one --seed 7 --map 2 --held-out"
        )
    );
    done(folder.path(), "draw green-but-one -o world.svg");
    assert!(read("world.svg").starts_with(b"<svg "));
    done(folder.path(), "draw green-but-one -o world.png --scale 8");
    assert!(read("world.png").starts_with(b"\x89PNG"));
    done(
        folder.path(),
        "draw green-but-one --episode solved -o episode.gif --scale 8",
    );
    assert!(read("episode.gif").starts_with(b"GIF89a"));
    done(
        folder.path(),
        "draw green-but-one --episode random --steps 5 -o episode.svg",
    );
    let svg = String::from_utf8(read("episode.svg")).unwrap();
    assert!(svg.contains("<animateTransform"));
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = String::new();
    for line in [
        "draw all-green",
        "draw nowhere.toml",
        "draw all-yellow -o picture.jpeg",
        "draw all-yellow -o picture",
        "draw all-yellow -o episode.gif",
        "draw all-yellow --episode solved",
        "draw all-yellow --episode solved -o episode.png",
        "draw all-yellow -o picture.png --scale 1000",
        "play all-yellow",
        "record all-green",
        "tasks --toml",
    ] {
        let outcome = run(folder.path(), line);
        assert_eq!(
            (outcome.code, &*outcome.stdout),
            (Some(2), ""),
            "form {line}"
        );
        all += &format!("$ form {line}\n{}\n", outcome.stderr);
    }
    insta::assert_snapshot!(all);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn recorded_walks_are_the_same_for_the_same_seed_and_agree_with_the_task() {
    let folder = tempfile::tempdir().unwrap();
    let examples = root().join("examples");
    for (task, machine, lines) in [
        ("all-yellow", "all_yellow", 11),
        ("green-but-one", "green_but_one", 16),
    ] {
        let line = format!("record {task} --each 5 --seed 3");
        let traces = done(folder.path(), &line);
        assert_eq!(traces.lines().count(), lines, "{traces}");
        assert_eq!(done(folder.path(), &line), traces);
        assert_ne!(
            done(folder.path(), &format!("record {task} --each 5 --seed 4")),
            traces
        );
        fs::write(folder.path().join("traces.jsonl"), &traces).unwrap();
        let machine = examples.join(machine).with_extension("form");
        done(
            folder.path(),
            &format!("check {} traces.jsonl", machine.display()),
        );
    }
}

#[test]
fn too_few_walks_are_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = run(
        folder.path(),
        "record green-but-one --each 1000 --episodes 100 -o traces.jsonl",
    );
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("of 1000 goal traces in 1"),
        "{}",
        outcome.stderr
    );
    let written = fs::read_to_string(folder.path().join("traces.jsonl")).unwrap();
    assert!(written.lines().count() > 100);
}
