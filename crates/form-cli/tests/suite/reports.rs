//! `form report` and `form train --live`: what they are asked, what they say, and where the page is.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};

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
