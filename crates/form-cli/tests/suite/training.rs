//! `form train`: what it is asked, what it says, and what its folder holds.

use std::fs;

use serde_json::Value;

use crate::runs::{TASK, arguments, assert_same, lasting, run, task_folder, train};

#[test]
fn a_run_leaves_everything_in_its_folder() {
    let folder = task_folder();
    let outcome = train(folder.path(), 6, "");
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""));
    for said in [
        "u1 -> u_acc : goal",
        "# all iterations were made before the run converged",
        "# 6 iterations, ",
        "# run folder: run; next: form eval run",
    ] {
        assert!(outcome.stdout.contains(said), "{said}: {}", outcome.stdout);
    }
    let files = lasting(&folder.path().join("run"));
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    for name in [
        "checkpoints/final.safetensors",
        "checkpoints/latest.safetensors",
        "config.toml",
        "machines/000.form",
        "machines/000.svg",
        "machines/001.form",
        "machines/001.svg",
        "metrics.csv",
        "policies.csv",
        "task.toml",
        "traces.jsonl",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let metrics = String::from_utf8(files["metrics.csv"].clone()).unwrap();
    // The header, the evaluation before training, and six iterations.
    assert_eq!(metrics.lines().count(), 8);
    // The traces can be learnt from again, and the machine that comes out is the run's.
    let learnt = run(folder.path(), "learn run/traces.jsonl -o again.form");
    assert_eq!(learnt.code, Some(0), "{}", learnt.stderr);
    let last = (names.iter().rev())
        .find(|name| name.ends_with(".form"))
        .unwrap();
    assert_eq!(
        fs::read(folder.path().join("again.form")).unwrap(),
        files[*last]
    );
}

#[test]
fn the_configuration_and_the_threads_decide_nothing_else() {
    let folder = task_folder();
    assert_eq!(train(folder.path(), 6, "--threads 2").code, Some(0));
    let first = lasting(&folder.path().join("run"));
    fs::remove_file(folder.path().join("tiny.toml")).unwrap();
    let again = "train --config run/config.toml --out again --quiet --threads 1";
    assert_eq!(run(folder.path(), again).code, Some(0));
    assert_same(&lasting(&folder.path().join("again")), &first);
    // Another seed is another run.
    let other = "train --config run/config.toml --seed 2 --out other --quiet";
    assert_eq!(run(folder.path(), other).code, Some(0));
    let other = lasting(&folder.path().join("other"));
    assert!(other["metrics.csv"] != first["metrics.csv"]);
}

#[test]
fn the_result_is_one_json_object() {
    let folder = task_folder();
    let outcome = train(folder.path(), 4, "--json --require-success 1");
    // A few steps of training do not solve it.
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("below the 1 of --require-success"));
    let said: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(said["ending"], "out-of-iterations");
    assert_eq!(
        (&said["task"], &said["run"]),
        (&"tiny".into(), &"run".into())
    );
    assert_eq!(said["iterations"], 4);
    let mut written: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("run/result.json")).unwrap())
            .unwrap();
    written["run"] = "run".into();
    assert_eq!(said, written);
    // It is over, and stays so.
    let again = run(folder.path(), "train --resume run --json");
    assert_eq!(again.code, Some(0));
    assert_eq!(serde_json::from_str::<Value>(&again.stdout).unwrap(), said);
    assert!(
        again.stderr.contains("run: the run is over"),
        "{}",
        again.stderr
    );
}

#[test]
fn folders_are_named_after_runs() {
    let folder = task_folder();
    let mut arguments = arguments(1, "--method handcrafted --seed 3");
    arguments.retain(|argument| argument != "--out" && argument != "run");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    for expected in ["runs/tiny-handcrafted-3", "runs/tiny-handcrafted-3-2"] {
        let outcome = crate::binary::form(folder.path(), &arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(outcome.stdout.contains(&format!("run folder: {expected};")));
        assert!(folder.path().join(expected).join("result.json").is_file());
    }
}

#[test]
fn progress_is_plain_lines_where_there_is_no_terminal() {
    let folder = task_folder();
    let mut arguments = arguments(3, "");
    arguments.retain(|argument| argument != "--quiet");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = crate::binary::form(folder.path(), &arguments);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(lines[0], "run folder: run");
    assert!(
        outcome.stderr.contains("machine 001 learnt from"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("-> u_acc : goal"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("iteration 3 of 3: "),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("counterexample incomplete: "),
        "{}",
        outcome.stderr
    );
    assert!(!outcome.stderr.contains('\x1b'));
}

#[test]
fn what_is_asked_wrongly_is_refused_before_there_is_a_folder() {
    let folder = task_folder();
    fs::write(
        folder.path().join("pink.form"),
        "initial u0\naccept u1\nu0 -> u1 : exists X. pink(X)\n",
    )
    .unwrap();
    for (line, expected) in [
        ("train", "required"),
        ("train no-such-task", "no-such-task"),
        ("train missing.toml", "missing.toml"),
        ("train tiny.toml --method magic", "magic"),
        (
            "train tiny.toml --set gamma=1",
            "--set gamma=1: unknown setting `gamma`",
        ),
        (
            "train tiny.toml --set ppo.gamma",
            "--set ppo.gamma: expected a name and a value",
        ),
        ("train tiny.toml --set worlds=0", "worlds = 0"),
        (
            "train tiny.toml --seed 18446744073709551615",
            "seed = 18446744073709551615",
        ),
        ("train tiny.toml --machine missing.form", "missing.form"),
        ("train tiny.toml --machine pink.form", "pink"),
        (
            "train tiny.toml --machine pink.form --method ppo",
            "uses no machine",
        ),
        ("train tiny.toml --resume run", "cannot be used with"),
        ("train --resume run --seed 3", "cannot be used with"),
        ("train --resume run", "run: there is no such file or folder"),
        (
            "train --resume tiny.toml",
            "tiny.toml is a file, not a run folder",
        ),
        ("train --config tiny.toml", "tiny.toml"),
        ("train --config missing/config.toml", "missing/config.toml"),
        (
            "train tiny.toml --threads 0",
            "expected a number from 1 to 256",
        ),
        ("train tiny.toml --require-success 99", "expected a rate"),
        (
            "train tiny.toml --out tiny.toml/run",
            "a part of the path is a file",
        ),
    ] {
        let outcome = run(folder.path(), line);
        assert_eq!(outcome.code, Some(2), "form {line}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(expected),
            "form {line}: {}",
            outcome.stderr
        );
        let runs = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(runs, 2, "form {line} left something behind");
    }
}

/// A task with a count, which the learner has no words for unless it is told.
fn counting_task() -> String {
    TASK.replace("forall X. red(X)", "atleast 2 X. red(X)")
        .replace("red = 2", "red = 3")
}

/// A learnt machine that is not that of the task is told from it, with the settings that the task's machine needs.
#[test]
fn a_machine_that_differs_from_that_of_the_task_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("count.toml"), counting_task()).unwrap();
    let quick = "train count.toml --method reach-avoid --quiet --no-report --layouts 3";
    let needs = "the task's machine needs learning.counts = 2 for `atleast 2 X. red(X)`";

    let wrong = run(
        folder.path(),
        &format!("{quick} --iterations 3 --out wrong"),
    );
    assert_eq!(wrong.code, Some(0), "{}", wrong.stderr);
    let differs = "# the learnt machine differs from the task's own on what can be observed: they part after ";
    let line = wrong.stdout.lines().find(|line| line.starts_with(differs));
    assert!(
        line.unwrap().ends_with(&format!("; {needs}")),
        "{}",
        wrong.stdout
    );
    let result = |name: &str| -> Value {
        let text = fs::read_to_string(folder.path().join(name).join("result.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(result("wrong")["equivalent"], false);
    assert_eq!(
        result("wrong")["difference"].as_str(),
        line.unwrap().strip_prefix("# ")
    );

    let right = run(
        folder.path(),
        &format!("{quick} --set learning.counts=2 --out right"),
    );
    assert!(!right.stdout.contains("differs"), "{}", right.stdout);
    let right = result("right");
    assert_eq!(
        (&right["equivalent"], &right["difference"]),
        (&true.into(), &Value::Null)
    );
}

/// Where no machine is found, the hint names what this task needs, and what its maps rule out.
#[test]
fn the_hint_without_a_machine_depends_on_the_task() {
    let folder = tempfile::tempdir().unwrap();
    let varied = counting_task().replace("red = 3", "red = [2, 3]");
    fs::write(folder.path().join("varied.toml"), varied).unwrap();
    let line = "train varied.toml --method reach-avoid --quiet --no-report --layouts 3 --out run --set exploration.work_limit=500";
    let outcome = run(folder.path(), line);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
    let message = "# no machine was found that agrees with all traces with the work allowed (exploration.work_limit); the task's machine needs learning.counts = 2 for `atleast 2 X. red(X)`, and learning.counts, learning.joins and learning.once need the same objects on all maps";
    assert!(outcome.stdout.contains(message), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("differs"), "{}", outcome.stdout);
}
