//! `form report` and `form train --live`: what they are asked, what they say, and where the page is.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::binary::{command, form};
use crate::runs::{arguments, assert_same, lasting, run, task_folder, train};

/// The arguments of a quick run that makes its page.
fn with_page(iterations: u32, more: &str) -> Vec<String> {
    let mut arguments = arguments(iterations, more);
    arguments.retain(|argument| argument != "--no-report");
    arguments
}

#[test]
fn a_run_that_is_over_has_its_page() {
    let folder = task_folder();
    let arguments = with_page(3, "");
    let outcome = form(
        folder.path(),
        &arguments.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""));
    assert!(
        outcome.stdout.contains("# report page: run/report.html\n"),
        "{}",
        outcome.stdout
    );
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("<title>tiny by form, seed 1</title>"));
    // Made again from the folder alone, it is the same.
    let again = run(folder.path(), "report run --episodes 32");
    assert_eq!((again.code, &*again.stdout), (Some(0), "run/report.html\n"));
    let same = fs::read_to_string(folder.path().join("run/report.html")).unwrap() == page;
    assert!(same, "another page");
}

#[test]
fn a_run_that_was_killed_while_its_page_was_made_gets_it_when_it_is_asked_to_go_on() {
    let folder = task_folder();
    assert_eq!(train(folder.path(), 2, "").code, Some(0));
    let unfinished = folder.path().join("run/.form-killed.partial");
    fs::write(&unfinished, "").unwrap();
    assert_eq!(
        run(folder.path(), "train --resume run --no-report").code,
        Some(0)
    );
    assert!(!unfinished.exists() && !folder.path().join("run/report.html").exists());
    assert_eq!(run(folder.path(), "train --resume run").code, Some(0));
    assert!(folder.path().join("run/report.html").exists());
}

/// The browser is a script that writes the page's address into a pipe: reading waits for it.
#[cfg(target_os = "linux")]
#[test]
fn a_page_is_opened_where_there_is_a_screen() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = task_folder();
    let path = folder.path().canonicalize().unwrap();
    let browser = path.join("xdg-open");
    fs::write(&browser, "#!/bin/sh\necho \"$1\" >\"$PAGE\"\n").unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    let pipe = path.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let said = |arguments: &[&str], screen: Option<&str>| {
        let mut command = command(&path, arguments);
        command.env_remove("WAYLAND_DISPLAY").env_remove("DISPLAY");
        command.envs(screen.map(|screen| ("DISPLAY", screen)));
        let programs = format!("{}:{}", path.display(), std::env::var("PATH").unwrap());
        let output = command.env("PATH", programs).env("PAGE", &pipe).output();
        String::from_utf8(output.unwrap().stderr).unwrap()
    };
    let mut training = with_page(2, "");
    training.push("--open".to_owned());
    let training: Vec<&str> = training.iter().map(String::as_str).collect();
    for arguments in [&training[..], &["report", "run", "--open"]] {
        assert!(!said(arguments, Some(":0")).contains("browser"));
        let (sender, opened) = mpsc::channel();
        let pipe = pipe.clone();
        std::thread::spawn(move || sender.send(fs::read_to_string(pipe)));
        let opened = opened
            .recv_timeout(Duration::from_secs(60))
            .unwrap()
            .unwrap();
        assert_eq!(
            opened.trim_end(),
            path.join("run/report.html").to_str().unwrap()
        );
    }
    let without = said(&["report", "run", "--open"], None);
    assert!(
        without.contains("open run/report.html yourself"),
        "{without}"
    );
}

#[test]
fn a_page_is_where_it_was_asked_for() {
    let folder = task_folder();
    assert_eq!(train(folder.path(), 2, "").code, Some(0));
    let outcome = run(
        folder.path(),
        "report run --replays 0 --out page.html --json",
    );
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let said: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(said["page"], "page.html");
    let bytes = fs::metadata(folder.path().join("page.html")).unwrap().len();
    assert_eq!(said["bytes"], bytes);
    assert_eq!(said["notes"], serde_json::json!([]));
    // All runs of a folder.
    fs::create_dir(folder.path().join("runs")).unwrap();
    fs::rename(folder.path().join("run"), folder.path().join("runs/one")).unwrap();
    assert_eq!(train(folder.path(), 2, "--seed 2").code, Some(0));
    fs::rename(folder.path().join("run"), folder.path().join("runs/two")).unwrap();
    let outcome = run(folder.path(), "report runs --replays 0");
    assert_eq!((outcome.code, &*outcome.stdout), (Some(0), "report.html\n"));
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("<title>2 runs</title>") && page.contains("runs/two/metrics.csv"));
    let outcome = run(folder.path(), "report runs --out runs");
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.contains("runs is a folder: name a file"),
        "{}",
        outcome.stderr
    );
    // A file that is no page is not written over.
    let before = fs::read(folder.path().join("runs/one/metrics.csv")).unwrap();
    let outcome = run(folder.path(), "report runs --out runs/one/metrics.csv");
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.contains("is not a page"),
        "{}",
        outcome.stderr
    );
    assert!(fs::read(folder.path().join("runs/one/metrics.csv")).unwrap() == before);
    let outcome = run(folder.path(), "report nowhere");
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("nowhere"), "{}", outcome.stderr);
}

#[test]
fn what_is_wrong_with_a_folder_is_said_beside_the_page() {
    let folder = task_folder();
    assert_eq!(train(folder.path(), 2, "").code, Some(0));
    fs::write(folder.path().join("run/metrics.csv"), "iteration\n1\n").unwrap();
    fs::remove_dir_all(folder.path().join("run/checkpoints")).unwrap();
    let outcome = run(folder.path(), "report run");
    assert_eq!(
        (outcome.code, &*outcome.stdout),
        (Some(0), "run/report.html\n")
    );
    for note in [
        "run: run/metrics.csv:1:10: the columns are",
        "run: missing in its folder: checkpoints",
    ] {
        assert!(outcome.stderr.contains(note), "{note}: {}", outcome.stderr);
    }
}

/// A table or the traces without content, with or without a header, are noted where other files know better.
#[test]
fn emptied_files_are_noted() {
    let folder = task_folder();
    assert_eq!(train(folder.path(), 4, "").code, Some(0));
    let run_folder = folder.path().join("run");
    for (name, note) in [
        (
            "metrics.csv",
            "metrics.csv ends with iteration 0, result.json says 4",
        ),
        (
            "timings.csv",
            "run/timings.csv has no rows, and the run made 4 iterations",
        ),
        (
            "policies.csv",
            "run/policies.csv has no rows, and timings.csv has updates of policies",
        ),
        (
            "traces.jsonl",
            "run/traces.jsonl has no traces, and the run kept ",
        ),
    ] {
        let path = run_folder.join(name);
        let before = fs::read_to_string(&path).unwrap();
        let header = format!("{}\n", before.lines().next().unwrap());
        for left in ["", &header] {
            fs::write(&path, left).unwrap();
            let outcome = run(folder.path(), "report run --replays 0 --json");
            let said: Value = serde_json::from_str(&outcome.stdout).unwrap();
            assert_eq!(said["notes"].as_array().unwrap().len(), 1, "{said}");
            assert!(said["notes"][0].as_str().unwrap().contains(note), "{said}");
        }
        fs::write(&path, before).unwrap();
    }
    // So is that of an unfinished run.
    fs::remove_file(run_folder.join("result.json")).unwrap();
    fs::write(run_folder.join("metrics.csv"), "").unwrap();
    let outcome = run(folder.path(), "report run --replays 0");
    let note = "run/metrics.csv has no rows, and the run made 4 iterations";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
}

/// A run with --live, and the address of its page.
fn live(folder: &Path, iterations: u32) -> (Child, String) {
    let arguments = arguments(iterations, "--live");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut child = command(folder, &arguments)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    let (_, address) = line.split_once("live page is at http://").unwrap();
    (child, address.trim_end_matches('/').to_owned())
}

/// The data of the page as they are now; none if nobody answers.
fn news(address: &str) -> Option<Value> {
    let mut stream = TcpStream::connect(address).ok()?;
    let request = "GET /data.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    serde_json::from_str(body).ok()
}

#[test]
fn a_run_can_be_looked_at_while_it_trains() {
    let folder = task_folder();
    let (mut child, address) = live(folder.path(), 100_000);
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let iterations = |data: &Value| {
        data["runs"][0]["curves"]["iteration"]
            .as_array()
            .unwrap()
            .len()
    };
    let first = news(&address).unwrap();
    let tiny = (&first["runs"][0]["task"], &first["live"]["seconds"]);
    assert_eq!(tiny, (&"tiny".into(), &2.into()));
    let grown =
        |_: usize| news(&address).is_some_and(|data| iterations(&data) > iterations(&first));
    let grew = (0..10_000).any(grown);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(grew, "the page does not follow the run");
}

#[test]
fn a_run_is_the_same_whether_somebody_looks_or_not() {
    let (seen, alone) = (task_folder(), task_folder());
    let (mut child, address) = live(seen.path(), 30);
    let looks = std::iter::from_fn(|| news(&address)).count();
    assert!(child.wait().unwrap().success());
    assert!(looks > 0);
    assert_eq!(train(alone.path(), 30, "").code, Some(0));
    let files = |folder: &Path| lasting(&folder.join("run"));
    assert_same(&files(seen.path()), &files(alone.path()));
}

#[test]
fn a_port_that_is_taken_leaves_no_run_behind() {
    let folder = task_folder();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let outcome = train(folder.path(), 2, &format!("--live {port}"));
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.contains("the port is in use"),
        "{}",
        outcome.stderr
    );
    assert!(!folder.path().join("run").exists());
}
