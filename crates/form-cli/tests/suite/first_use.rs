//! Mistakes of first-time users, and misleading messages that they once got: each of these once behaved differently.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::binary::{command, fixtures, form};
use crate::runs::{assert_same, contents, lasting, run, stopped, task_folder, train};

/// That a command line is refused with all of these words, and without these.
fn refused(folder: &Path, line: &str, with: &[&str], without: &[&str]) {
    let outcome = run(folder, line);
    assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stderr);
    for part in with {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
    for part in without {
        assert!(!outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
}

#[test]
fn wrong_values_are_refused_for_what_they_are() {
    let folder = task_folder();
    let path = folder.path();
    refused(
        path,
        "train --live tiny.toml",
        &["name the task before --live"],
        &[],
    );
    for line in [
        "train tiny.toml --seed -1",
        "eval run --seed -1",
        "record tiny.toml --each -1",
        "draw tiny.toml --map -1",
    ] {
        refused(
            path,
            line,
            &["expected a whole number, 0 or more"],
            &["tip:"],
        );
    }
    refused(path, "train tiny.toml --iterations 0", &["1 or more"], &[]);
    for (set, said) in [
        ("shaping=false", "needs shaped rewards"),
        ("network.memory=4", "only methods with a single policy"),
        ("iterations=0", "iterations = 0"),
        ("learning.max_states=0", "learning.max_states = 0"),
        ("ppo.gamma=2", "ppo.gamma = 2: must be between 0 and 1"),
        ("ppo.epochs=0", "ppo.epochs = 0"),
    ] {
        refused(path, &format!("train tiny.toml --set {set}"), &[said], &[]);
    }
    assert!(!path.join("runs").exists());
}

#[test]
fn a_machine_that_does_not_fit_is_named_with_its_task() {
    let folder = task_folder();
    let machine = "machine m\ninitial u0\naccept u1\nu0 -> u1 : pink(o9)\n";
    fs::write(folder.path().join("pink.form"), machine).unwrap();
    refused(
        folder.path(),
        "train tiny.toml --method handcrafted --machine pink.form",
        &["pink.form", "the task tiny.toml", "pink(o9)"],
        &[],
    );
}

#[test]
fn errors_of_the_system_are_said_once() {
    let folder = task_folder();
    let path = folder.path();
    let once = "there is no such file or folder";
    for line in [
        "show nowhere.form",
        "eval nowhere",
        "convert all-yellow no/x.form",
        "learn nowhere.jsonl",
    ] {
        refused(path, line, &[once], &["os error", "partial", ".tmp"]);
    }
    let twice = "nowhere.toml: nowhere.toml";
    refused(
        path,
        "train nowhere.toml",
        &["nowhere.toml"],
        &[twice, "os error"],
    );
    refused(
        path,
        "run all-yellow --policy nowhere.bin",
        &["nowhere.bin"],
        &["os error"],
    );
    for line in [
        "learn walks.jsonl --json -o -",
        "ground all-yellow --json -o -",
        "convert all-yellow - --json",
    ] {
        refused(path, line, &["both want standard output"], &[]);
    }
}

/// Event logs that are no file, have other separators or one word for two ends, and options that leave nothing to learn.
#[test]
fn what_cannot_become_traces_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("log.csv"), "case,activity,outcome\n1,pay,cured\n").unwrap();
    fs::write(
        path.join("semicolons.csv"),
        "case;activity;outcome\n1;pay;cured\n",
    )
    .unwrap();
    fs::write(
        path.join("a.jsonl"),
        "{\"kind\":\"goal\",\"steps\":[[\"a\"]]}\n",
    )
    .unwrap();
    for (line, said) in [
        (
            "convert - x.jsonl",
            "standard input: traces are made of event logs",
        ),
        (
            "convert semicolons.csv x.jsonl",
            "separated by commas, and here by `;`",
        ),
        (
            "convert log.csv x.jsonl --outcome outcome --goal cured --dead-end cured",
            "the outcome `cured` is to mean a goal and a dead end",
        ),
        (
            "learn a.jsonl --lifted --propositional",
            "'--lifted' cannot be used with '--propositional'",
        ),
    ] {
        refused(path, line, &[said], &[]);
    }
    assert!(!path.join("x.jsonl").exists());
}

#[test]
fn the_usage_of_training_says_how_to_go_on() {
    let help = form(&fixtures(), &["train", "--help"]).stdout;
    for part in [
        "form train [OPTIONS] <TASK>",
        "--config <FILE>",
        "--resume <DIR> [--iterations <N>]",
    ] {
        let usage: Vec<&str> = help.split("Arguments:").collect();
        assert!(usage[0].contains(part), "{part}: {help}");
    }
}

#[test]
fn tasks_are_machines() {
    let folder = task_folder();
    let path = folder.path();
    let shown = run(path, "show all-yellow");
    assert!(
        shown.code == Some(0) && shown.stdout.contains("yellow(X)"),
        "{}",
        shown.stderr
    );
    let own = run(path, "show tiny.toml --json");
    let own: Value = serde_json::from_str(&own.stdout).unwrap();
    assert_eq!(own["edges"][0]["formula"], "forall X. red(X)");
    // What can be observed comes with the task.
    let ground = run(path, "ground tiny.toml -o ground.form");
    assert_eq!(ground.code, Some(0), "{}", ground.stderr);
    let same = run(path, "diff tiny.toml ground.form");
    assert_eq!(same.code, Some(0), "{}{}", same.stdout, same.stderr);
    assert_eq!(
        run(
            path,
            "diff all-yellow green-but-one --signature green-but-one"
        )
        .code,
        Some(1)
    );
    let check = run(path, "check tiny.toml");
    assert!(check.stdout.contains("4 atoms"), "{}", check.stdout);
    // A file of that name comes first.
    fs::copy(path.join("ground.form"), path.join("all-yellow")).unwrap();
    assert!(!run(path, "show all-yellow").stdout.contains("yellow(X)"));
    refused(path, "ground ground.form", &["--signature"], &[]);
}

#[test]
fn a_run_that_had_too_few_iterations_is_given_more() {
    let whole = task_folder();
    assert_eq!(train(whole.path(), 7, "").code, Some(0));
    let expected = lasting(&whole.path().join("run"));
    let folder = task_folder();
    assert_eq!(train(folder.path(), 4, "").code, Some(0));
    let path = folder.path().join("run");
    let over = run(folder.path(), "train --resume run --quiet");
    assert!(
        over.code == Some(0)
            && over
                .stdout
                .contains("form train --resume run --iterations N"),
        "{}",
        over.stdout
    );
    let before = contents(&path);
    for too_few in [1, 4] {
        let line = format!("train --resume run --iterations {too_few}");
        refused(
            folder.path(),
            &line,
            &["has already made 4 iterations"],
            &[],
        );
    }
    assert_same(&contents(&path), &before);
    let longer = run(
        folder.path(),
        "train --resume run --iterations 7 --quiet --no-report",
    );
    assert_eq!(longer.code, Some(0), "{}", longer.stderr);
    assert_same(&lasting(&path), &expected);
    // Killed before the first of the new iterations, it goes on without being told again.
    let (folder, path) = stopped();
    let config = path.join("config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("iterations = 4", "iterations = 7")).unwrap();
    assert_eq!(
        run(folder.path(), "train --resume run --quiet --no-report").code,
        Some(0)
    );
    assert_same(&lasting(&path), &expected);
}

#[test]
fn a_damaged_run_that_is_given_more_iterations_stays_as_it_is() {
    type Damage = fn(&Path);
    let damages: [(Damage, &str); 3] = [
        (
            |run| fs::remove_file(run.join("traces.jsonl")).unwrap(),
            "traces.jsonl",
        ),
        (
            |run| {
                let text = fs::read_to_string(run.join("task.toml")).unwrap();
                let changed = text.replace("steps = 120", "steps = 90");
                fs::write(run.join("task.toml"), changed).unwrap();
            },
            "the task was changed",
        ),
        (
            |run| {
                let text = fs::read_to_string(run.join("metrics.csv")).unwrap();
                let rows: Vec<&str> = text.lines().take(2).collect();
                fs::write(run.join("metrics.csv"), rows.join("\n") + "\n").unwrap();
            },
            "metrics.csv",
        ),
    ];
    let folder = task_folder();
    assert_eq!(train(folder.path(), 2, "").code, Some(0));
    let path = folder.path().join("run");
    let whole = contents(&path);
    for (damage, said) in damages {
        for (name, bytes) in &whole {
            fs::write(path.join(name), bytes).unwrap();
        }
        damage(&path);
        let before = contents(&path);
        refused(
            folder.path(),
            "train --resume run --iterations 4 --quiet",
            &[said],
            &[],
        );
        assert_same(&contents(&path), &before);
    }
}

#[test]
fn a_longer_run_has_no_page_of_the_shorter_one() {
    let folder = task_folder();
    assert_eq!(train(folder.path(), 1, "").code, Some(0));
    let page = folder.path().join("run/report.html");
    fs::write(&page, "of one iteration").unwrap();
    let line = "train --resume run --iterations 2 --quiet --no-report";
    assert_eq!(run(folder.path(), line).code, Some(0));
    assert!(!page.exists());
}

#[test]
fn a_run_that_is_over_for_another_reason_is_not_given_more() {
    let folder = task_folder();
    let ended = train(folder.path(), 4, "--set learning.max_states=1");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let before = contents(&folder.path().join("run"));
    refused(
        folder.path(),
        "train --resume run --iterations 9",
        &[
            "more iterations would change nothing",
            "learning.max_states",
        ],
        &[],
    );
    assert_same(&contents(&folder.path().join("run")), &before);
    // Killed before that was written down, it is over for the same reason.
    fs::remove_file(folder.path().join("run/result.json")).unwrap();
    refused(
        folder.path(),
        "train --resume run --iterations 9",
        &["more iterations would change nothing"],
        &[],
    );
}

#[test]
fn a_changed_task_is_not_evaluated() {
    let folder = task_folder();
    assert_eq!(train(folder.path(), 2, "").code, Some(0));
    let task = folder.path().join("run/task.toml");
    let text = fs::read_to_string(&task).unwrap();
    // A remark is no change.
    fs::write(&task, format!("{text}# mine\n")).unwrap();
    assert_eq!(run(folder.path(), "eval run --episodes 3").code, Some(0));
    fs::write(&task, text.replace("steps = 120", "steps = 90")).unwrap();
    for line in [
        "eval run --episodes 3",
        "transfer run --task tiny.toml --retrain none --episodes 3",
    ] {
        refused(
            folder.path(),
            line,
            &["run/task.toml: the task was changed"],
            &[],
        );
    }
    let (folder, path) = stopped();
    let text = fs::read_to_string(path.join("task.toml")).unwrap();
    fs::write(
        path.join("task.toml"),
        text.replace("steps = 120", "steps = 90"),
    )
    .unwrap();
    refused(
        folder.path(),
        "train --resume run",
        &["the task was changed"],
        &[],
    );
}

#[test]
fn a_run_without_checkpoints_is_not_said_to_go_on() {
    let folder = task_folder();
    assert_eq!(train(folder.path(), 2, "").code, Some(0));
    fs::remove_dir_all(folder.path().join("run/checkpoints")).unwrap();
    refused(
        folder.path(),
        "eval run",
        &["the run is over", "--config run/config.toml"],
        &["--resume"],
    );
    let line = "train --resume run --iterations 9";
    refused(
        folder.path(),
        line,
        &["--config run/config.toml --iterations 9"],
        &[],
    );
}

#[test]
fn a_page_goes_to_standard_output() {
    let folder = task_folder();
    assert_eq!(train(folder.path(), 2, "").code, Some(0));
    let before = fs::read_dir(folder.path()).unwrap().count();
    let page = run(folder.path(), "report run --replays 0 -o -");
    assert_eq!(page.code, Some(0), "{}", page.stderr);
    assert!(page.stdout.starts_with("<!") && page.stdout.contains("</html>"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before);
    refused(
        folder.path(),
        "report run -o - --json",
        &["both want standard output"],
        &[],
    );
}

#[test]
fn results_are_not_replaced_by_fewer() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    fs::create_dir(&results).unwrap();
    fs::write(
        results.join("runs.csv"),
        "run,task\nall-yellow/form-1,all-yellow\n",
    )
    .unwrap();
    fs::write(results.join("results.md"), "mine\n").unwrap();
    let look = || {
        let mut found: Vec<_> = fs::read_dir(&results)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        found.sort();
        let texts: Vec<_> = found.iter().map(|file| fs::read(file).unwrap()).collect();
        (found, texts)
    };
    let before = look();
    let none = run(folder.path(), "reproduce all-yellow --seeds 1 --budget 0s");
    assert_eq!(none.code, Some(1), "{}", none.stderr);
    assert!(
        none.stderr.contains("results is not changed") && none.stderr.contains("--budget"),
        "{}",
        none.stderr
    );
    assert_eq!(look(), before);
    // Neither are those of other experiments.
    let other = run(
        folder.path(),
        "reproduce green-but-one --seeds 1 --budget 0s",
    );
    assert_eq!(other.code, Some(1), "{}", other.stderr);
    assert!(folder.path().join("results-2/results.md").exists());
    refused(
        folder.path(),
        "reproduce green-but-one --seeds 1 --budget 0s --out results",
        &["name another folder with --out"],
        &[],
    );
    assert_eq!(look(), before);
}

/// Tells a process to stop.
#[cfg(unix)]
fn interrupt(process: u32) {
    let kill = format!("kill -INT {process}");
    assert!(
        Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap()
            .success()
    );
}

#[cfg(unix)]
#[test]
fn an_evaluation_is_interrupted_in_the_middle() {
    let folder = task_folder();
    assert_eq!(train(folder.path(), 2, "").code, Some(0));
    let line = ["eval", "run", "--episodes", "100000", "--threads", "1"];
    let mut child = command(folder.path(), &line)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    said.read_line(&mut first).unwrap();
    assert!(first.starts_with("# run: tiny"), "{first}");
    interrupt(child.id());
    let mut rest = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut rest)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
    assert!(rest.contains("interrupted after 0 complete rows"), "{rest}");
}

/// A machine of twelve states is found at once, and no proof that fewer do not suffice for a long time.
#[cfg(unix)]
#[test]
fn an_interrupted_search_says_what_it_has() {
    let family = form_paper::MachineFamily::Chain;
    let signature = family.signature().unwrap();
    let mut lines = vec![format!("{{\"signature\":{:?}}}", texts(&signature))];
    for trace in family.sample(12, 30, 1).unwrap() {
        lines.push(trace.to_json(&signature));
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chain.jsonl"), lines.join("\n")).unwrap();
    let line = ["learn", "chain.jsonl", "--max-states", "14", "--json"];
    let mut child = command(folder.path(), &line)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut shown = BufReader::new(child.stderr.take().unwrap());
    let mut last = String::new();
    while !last.contains("proven: at least") {
        last.clear();
        assert!(shown.read_line(&mut last).unwrap() > 0, "it has ended");
        assert!(
            last.contains("trying") || last.contains("preparing"),
            "{last}"
        );
    }
    interrupt(child.id());
    let mut answer = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut answer)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{answer}");
    let found: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(
        (&found["proof"], &found["proven"]),
        (&"interrupted".into(), &false.into())
    );
    assert!(found["lower_bound"].as_u64() >= Some(2), "{found}");
    // The best machine so far, if there is one yet.
    if found["machine"].is_object() {
        assert!(found["lower_bound"].as_u64() <= found["states"].as_u64());
    }
}

#[cfg(unix)]
fn texts(signature: &form_core::Signature) -> Vec<String> {
    signature.atoms().iter().map(ToString::to_string).collect()
}

#[cfg(unix)]
#[test]
fn an_interrupted_recording_is_kept() {
    let folder = task_folder();
    let line = [
        "record",
        "tiny.toml",
        "--each",
        "100000000",
        "--episodes",
        "100000000",
        "-o",
        "walks.jsonl",
    ];
    let mut child = command(folder.path(), &line)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Only once it listens to signals it has a second thread.
    let threads = format!("/proc/{}/task", child.id());
    if cfg!(target_os = "linux") {
        while fs::read_dir(&threads).unwrap().count() < 2 {
            assert!(child.try_wait().unwrap().is_none());
        }
        interrupt(child.id());
        let mut rest = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut rest)
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
        assert!(rest.contains("interrupted"), "{rest}");
        assert_eq!(run(folder.path(), "traces walks.jsonl").code, Some(0));
    } else {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
