//! From run folders and lists to a table, and into a Markdown file.

use std::fs;
use std::path::Path;

use form_lab::{
    MetricsRow, Outcome, RunFolder, Table, TimingsRow, markdown_table, outcomes, replace_marked,
    update_marked,
};

fn said<T: std::fmt::Debug>(result: anyhow::Result<T>) -> String {
    format!("{:#}", result.unwrap_err())
}

/// A run with a success rate an iteration, 1000 steps and 2 seconds each.
fn run(path: &Path, config: &str, rates: &[Option<f64>]) {
    let (run, _lock) = RunFolder::create(path, config).unwrap();
    let mut metrics = Table::create(&run.metrics()).unwrap();
    let mut timings = Table::create(&run.timings()).unwrap();
    for (iteration, success) in (1..).zip(rates) {
        let row = MetricsRow {
            iteration,
            steps: iteration * 1000,
            success: *success,
            states: 3,
            edges: 2,
            ..MetricsRow::default()
        };
        metrics.append(&row).unwrap();
        let row = TimingsRow {
            iteration,
            seconds: iteration as f64 * 2.0,
            ..TimingsRow::default()
        };
        timings.append(&row).unwrap();
    }
}

fn config(method: &str, seed: u64) -> String {
    format!("task = \"all-yellow\"\nmethod = \"{method}\"\nseed = {seed}\n[ppo]\ngamma = 0.99\n")
}

#[test]
fn a_folder_of_runs_becomes_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    run(
        &at("deep/a"),
        &config("form", 1),
        &[Some(0.5), Some(0.995), Some(1.0), None],
    );
    run(
        &at("b"),
        &config("form", 2),
        &[None, Some(0.25), Some(0.9), Some(0.98)],
    );
    run(&at("c"), &config("ppo", 1), &[None]);
    run(&at("d"), &config("ppo", 2), &[]);
    fs::write(at("notes.txt"), "not a run").unwrap();
    let found = outcomes(folder.path()).unwrap();
    let solved = found.iter().find(|run| run.solved_steps.is_some()).unwrap();
    assert_eq!(
        *solved,
        Outcome {
            task: "all-yellow".to_owned(),
            method: "form".to_owned(),
            seed: 1,
            steps: 4000,
            seconds: Some(8.0),
            success: Some(1.0),
            solved_steps: Some(2000),
            solved_seconds: Some(4.0),
            states: 3,
            edges: 2,
        }
    );
    insta::assert_snapshot!(markdown_table(&found), @r"
    | task | method | seeds | success (range) | steps to 99 % | time to 99 % | machine |
    |---|---|---|---|---|---|---|
    | all-yellow | form | 2 | 99.0 % (98.0 to 100.0) | 2 k (1 of 2) | 4.0 s (1 of 2) | 3 states, 2 edges |
    | all-yellow | ppo | 2 | – | – | – | 0 to 3 states, 0 to 2 edges |
    ");
}

#[test]
fn lists_are_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let (json, toml) = (folder.path().join("a.json"), folder.path().join("a.toml"));
    fs::write(
        &json,
        r#"[{"task":"mine","method":"form","seed":3,"steps":2500000,"success":0.9,"solved_steps":1234567,"solved_seconds":600.0,"states":1,"edges":1},
            {"task":"green-but-one","method":"new","seed":3,"steps":10,"states":0,"edges":0},
            {"task":"mine","method":"form","seed":4,"steps":2500000,"success":1.0,"solved_steps":500,"solved_seconds":90000.0,"states":3,"edges":2}]"#,
    )
    .unwrap();
    let found = outcomes(&json).unwrap();
    insta::assert_snapshot!(markdown_table(&found), @r"
    | task | method | seeds | success (range) | steps to 99 % | time to 99 % | machine |
    |---|---|---|---|---|---|---|
    | green-but-one | new | 1 | – | – | – | – |
    | mine | form | 2 | 95.0 % (90.0 to 100.0) | 618 k | 12.6 h | 1 to 3 states, 1 to 2 edges |
    ");
    let mut listed = String::new();
    for outcome in &found {
        listed += &format!("[[results]]\n{}\n", toml::to_string(outcome).unwrap());
    }
    fs::write(&toml, listed).unwrap();
    assert_eq!(outcomes(&toml).unwrap(), found);
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = said(outcomes(folder.path()));
    assert!(empty.contains("there is no run in this folder"), "{empty}");
    let check = |name: &str, text: &str, expected: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let message = said(outcomes(&path));
        assert!(
            message.contains(name) && message.contains(expected),
            "{message}"
        );
    };
    check("a.json", "[{\"task\":1}]", "line 1 column 10");
    check("a.toml", "[[results]]\ntusk = \"x\"\n", "line 2, column 1");
    check("a.txt", "", "a .json or a .toml file");
    run(&folder.path().join("run"), "task = \"all-yellow\"\n", &[]);
    let message = said(outcomes(folder.path()));
    assert!(
        message.contains("config.toml") && message.contains("method"),
        "{message}"
    );
}

#[test]
fn the_marked_part_of_a_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("README.md");
    let file = |middle: &str| {
        format!(
            "# Title\r\n<!-- results:begin -->{middle}<!-- results:end -->\nThe end, no line end"
        )
    };
    fs::write(&path, file("\nold\n")).unwrap();
    for _ in 0..2 {
        update_marked(&path, "results", "| a |\n|---|\n").unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            file("\n\n| a |\n|---|\n\n")
        );
    }
}

#[test]
fn missing_markers_are_errors_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("README.md");
    let text = "<!-- other:begin --><!-- other:end -->\n<!-- results:end -->\n";
    fs::write(&path, text).unwrap();
    let message = said(update_marked(&path, "results", "x"));
    assert!(
        message.contains("README.md: there is no `<!-- results:begin -->`"),
        "{message}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let reversed = said(replace_marked("<!-- a:end --> <!-- a:begin -->", "a", ""));
    assert!(reversed.contains("exchange them"), "{reversed}");
    let twice = said(replace_marked(
        "<!-- a:begin -->\n<!-- a:end -->\n\n<!-- a:begin -->",
        "a",
        "",
    ));
    assert!(
        twice.contains("line 4: `<!-- a:begin -->` for the second time"),
        "{twice}"
    );
}
