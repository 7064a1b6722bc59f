//! `form train` when things go wrong: killed, interrupted, on a full disk, in damaged folders. Nothing is ever lost, and a run
//! that goes on comes to the result that it would have had.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use form_env::{Stream, generator};
use rand::RngExt;

use crate::binary::{command, form};
use crate::runs::{arguments, assert_same, contents, lasting, run, stopped, task_folder, train};

/// What can be told of a folder from outside: its files and how long they are.
fn look(run: &Path) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for folder in ["", "machines", "checkpoints"] {
        let Ok(entries) = fs::read_dir(run.join(folder)) else {
            continue;
        };
        for entry in entries.flatten() {
            // It may be gone by now.
            if let Ok(metadata) = entry.metadata() {
                let name = format!("{folder}/{}", entry.file_name().display());
                found.insert(name, metadata.len());
            }
        }
    }
    found
}

/// Twenty times the run is killed, each time after its folder has changed so and so often: in the middle of writing, often.
#[test]
fn killed_at_any_moment_it_goes_on_to_the_same_result() {
    let folder = task_folder();
    assert_eq!(train(folder.path(), 12, "").code, Some(0));
    let undisturbed = lasting(&folder.path().join("run"));
    let mut random = generator(1, Stream::Other(1));
    let (mut kills, mut finished, mut resumed) = (0, 0, 0);
    while kills < 20 || finished == 0 {
        let folder = task_folder();
        let path = folder.path().join("run");
        loop {
            let going_on = path.join("config.toml").exists();
            let arguments = match going_on {
                true => ["train", "--resume", "run", "--quiet"]
                    .map(str::to_owned)
                    .into(),
                false => arguments(12, ""),
            };
            resumed += u32::from(going_on);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let mut child = command(folder.path(), &arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut changes = random.random_range(1..60);
            let mut before = look(&path);
            let ended = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break Some(status);
                }
                let now = look(&path);
                if now != before {
                    before = now;
                    changes -= 1;
                }
                if changes == 0 {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    break None;
                }
            };
            match ended {
                None => kills += 1,
                Some(status) => {
                    let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
                    assert_eq!(status.code(), Some(0), "{said}");
                    break;
                }
            }
        }
        finished += 1;
        assert_same(&lasting(&path), &undisturbed);
    }
    assert!(resumed >= 10, "{kills} kills, resumed {resumed} times");
}

/// Ctrl-C and being told to end: the run stops, says how to go on, and goes on.
#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let folder = task_folder();
    for signal in ["INT", "TERM"] {
        let path = folder.path().join("run");
        let mut arguments = arguments(1_000_000, "");
        arguments.retain(|argument| argument != "--quiet");
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut child = command(folder.path(), &arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut lines = String::new();
        // The first line about an iteration shows that it trains.
        while !lines.contains(" of 1000000: ") {
            assert!(said.read_line(&mut lines).unwrap() > 0, "{lines}");
        }
        let kill = format!("kill -{signal} {}", child.id());
        let killed = Command::new("sh").args(["-c", &kill]).status().unwrap();
        assert!(killed.success());
        let rest = std::io::read_to_string(said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
        assert!(
            rest.contains("interrupted after iteration")
                && rest.contains("resume with: form train --resume run"),
            "{rest}"
        );
        assert!(!path.join("result.json").exists());
        let log = fs::read_to_string(path.join("run.log")).unwrap();
        let last = log.lines().last().unwrap();
        assert!(last.starts_with("interrupted after iteration"), "{last}");
        fs::remove_dir_all(&path).unwrap();
    }
}

#[test]
fn two_processes_do_not_train_into_one_folder() {
    let folder = task_folder();
    let mut arguments = arguments(1_000_000, "");
    arguments.retain(|argument| argument != "--quiet");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut child = command(folder.path(), &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "run folder: run\n");
    let second = [
        run(folder.path(), "train --resume run"),
        form(folder.path(), &arguments),
    ];
    child.kill().unwrap();
    child.wait().unwrap();
    for outcome in second {
        assert_eq!(outcome.code, Some(2));
        assert!(
            outcome.stderr.contains("run: another process is training"),
            "{}",
            outcome.stderr
        );
    }
}

/// The disk is full: no file may grow beyond this number of blocks of 512 bytes.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing() {
    let whole = task_folder();
    assert_eq!(train(whole.path(), 12, "").code, Some(0));
    let undisturbed = lasting(&whole.path().join("run"));
    let checkpoint = undisturbed["checkpoints/final.safetensors"].len();
    let folder = task_folder();
    let path = folder.path().join("run");
    let mut failures = 0;
    // At first not even a table fits, and at last a checkpoint does.
    for blocks in [1, 2, 4, 8, 16, checkpoint / 512, checkpoint / 512 + 200] {
        let arguments = match path.join("config.toml").exists() {
            true => ["train", "--resume", "run", "--quiet"]
                .map(str::to_owned)
                .into(),
            false => arguments(12, ""),
        };
        // The signal is ignored, so that a write that does not fit is an error, as it is on a full disk.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let output = Command::new("sh")
            .current_dir(folder.path())
            .args(["-c", &script, env!("CARGO_BIN_EXE_form")])
            .args(&arguments)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        if output.status.success() {
            continue;
        }
        failures += 1;
        assert_eq!(output.status.code(), Some(2), "{blocks} blocks: {said}");
        assert!(
            said.contains("run/") && said.contains("File too large"),
            "{blocks} blocks: {said}"
        );
        // Nothing half-written lies about.
        let left = look(&path);
        assert!(
            !left.keys().any(|name| name.contains("partial")),
            "{left:?}"
        );
    }
    assert!(failures >= 5, "{failures}");
    // There is room again.
    if !path.join("result.json").exists() {
        let outcome = run(folder.path(), "train --resume run --quiet");
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
    assert_same(&lasting(&path), &undisturbed);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_can_only_be_read_is_an_error_that_names_it() {
    let folder = task_folder();
    let outcome = run(folder.path(), "train tiny.toml --out /sys/form-run");
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome
            .stderr
            .contains("cannot make the folder /sys/form-run")
            && outcome.stderr.contains("choose another folder"),
        "{}",
        outcome.stderr
    );
}

/// Damages a stopped run, tries to go on with it, and finds it as damaged as before, and nothing else.
fn refused(damage: impl FnOnce(&Path), expected: &[&str]) {
    let (folder, path) = stopped();
    damage(&path);
    let before = contents(&path);
    let outcome = run(folder.path(), "train --resume run");
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    for part in expected {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
    assert_same(&contents(&path), &before);
}

fn edit(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

const LATEST: &str = "checkpoints/latest.safetensors";

#[test]
fn a_damaged_checkpoint_is_refused() {
    let name = &["run/checkpoints/latest.safetensors", "cannot resume"][..];
    for place in [3, 100, 1000, 9000] {
        refused(
            |run| edit(&run.join(LATEST), |bytes| bytes[place] ^= 0x10),
            name,
        );
    }
    refused(
        |run| edit(&run.join(LATEST), |b| b.truncate(b.len() / 2)),
        name,
    );
    refused(|run| edit(&run.join(LATEST), Vec::clear), name);
    refused(|run| fs::remove_file(run.join(LATEST)).unwrap(), name);
}

#[test]
fn a_damaged_table_is_refused() {
    for table in ["metrics.csv", "timings.csv", "policies.csv"] {
        let name = format!("run/{table}");
        refused(|run| fs::remove_file(run.join(table)).unwrap(), &[&name]);
        refused(
            |run| fs::write(run.join(table), "rubbish\n").unwrap(),
            &[&format!("{name}:1:1: the columns are")],
        );
        let rubbish = |bytes: &mut Vec<u8>| {
            let line = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            bytes.splice(line..line, b"rubbish\n".iter().copied());
        };
        refused(
            |run| edit(&run.join(table), rubbish),
            &[&format!("{name}:2:"), "repair the line"],
        );
    }
    let cut = |bytes: &mut Vec<u8>| {
        let line = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        bytes.truncate(line);
    };
    refused(
        |run| edit(&run.join("metrics.csv"), cut),
        &[
            "run/metrics.csv: the checkpoint was made after iteration 4",
            "row 1 is wrong or missing",
        ],
    );
}

#[test]
fn missing_machines_and_traces_are_named() {
    for number in ["000", "001"] {
        let name = format!("machines/{number}.form");
        refused(
            |run| fs::remove_file(run.join(&name)).unwrap(),
            &[&format!("run/{name} is missing"), "form train --config"],
        );
    }
    let traces = "run/traces.jsonl";
    refused(
        |run| fs::remove_file(run.join("traces.jsonl")).unwrap(),
        &[traces],
    );
    refused(
        |run| fs::write(run.join("traces.jsonl"), "rubbish\n").unwrap(),
        &[traces],
    );
    refused(
        |run| fs::write(run.join("traces.jsonl"), "").unwrap(),
        &[traces, "0 traces, but the checkpoint was made with"],
    );
    refused(
        |run| fs::remove_file(run.join("task.toml")).unwrap(),
        &["run/task.toml"],
    );
}

#[test]
fn a_changed_configuration_is_refused() {
    let path = "run/config.toml";
    let replace = |from: &'static str, to: &'static str| {
        move |run: &Path| {
            let config = run.join("config.toml");
            let text = fs::read_to_string(&config).unwrap();
            assert!(text.contains(from));
            fs::write(&config, text.replace(from, to)).unwrap();
        }
    };
    refused(
        replace("seed = 1", "seed = 2"),
        &[path, "seed is 2 and was 1"],
    );
    refused(
        replace("lambda = 0.95", "lambda = 0.9"),
        &[path, "ppo.lambda is 0.9"],
    );
    refused(replace("seed = 1", "sede = 1"), &[path, "sede"]);
    refused(replace("worlds = 8", "worlds = 0"), &[path, "worlds = 0"]);
    refused(
        |run| fs::write(run.join("config.toml"), "").unwrap(),
        &[path],
    );
    refused(
        |run| fs::remove_file(run.join("config.toml")).unwrap(),
        &["run is not a run folder, it has no config.toml"],
    );
}

/// A remark in the configuration is no change of it, and half a row at the end of a table no loss.
#[test]
fn what_does_not_matter_is_no_obstacle() {
    let whole = task_folder();
    assert_eq!(train(whole.path(), 4, "").code, Some(0));
    let (folder, path) = stopped();
    for table in ["metrics.csv", "timings.csv", "policies.csv"] {
        edit(&path.join(table), |bytes| bytes.extend(b"5,12"));
    }
    fs::write(path.join("machines/999.form"), "half a mach").unwrap();
    fs::write(path.join("machines/mine.form"), "").unwrap();
    fs::write(path.join("checkpoints/.partial-x"), "half").unwrap();
    let mut traces = fs::File::options()
        .append(true)
        .open(path.join("traces.jsonl"))
        .unwrap();
    writeln!(traces, "{{\"kind\":\"goal\",\"steps\":[[\"goal\"]]}}").unwrap();
    let config = fs::read(path.join("config.toml")).unwrap();
    edit(&path.join("config.toml"), |bytes| bytes.extend(b"# mine\n"));
    let outcome = run(folder.path(), "train --resume run --quiet");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    fs::write(path.join("config.toml"), config).unwrap();
    // What is not the run's stays.
    fs::remove_file(path.join("machines/mine.form")).unwrap();
    assert_same(&lasting(&path), &lasting(&whole.path().join("run")));
}

#[test]
fn a_policy_that_breaks_is_named_and_the_run_stays() {
    let folder = task_folder();
    let outcome = train(folder.path(), 50, "--set ppo.learning_rate=1e38");
    assert_eq!(outcome.code, Some(2));
    for part in [
        "the policy of state u",
        "training diverged",
        "run/checkpoints/latest.safetensors holds the run up to iteration",
    ] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    // It does so again: nothing else was to be expected.
    let before = lasting(&folder.path().join("run"));
    let again = run(folder.path(), "train --resume run --quiet");
    assert_eq!((again.code, again.stderr), (Some(2), outcome.stderr));
    assert_same(&lasting(&folder.path().join("run")), &before);
}
