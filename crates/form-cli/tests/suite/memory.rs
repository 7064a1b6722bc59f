//! `form check` streams: its memory does not depend on the number of traces.
//!
//! The traces go in through a pipe, and the child's peak is read while it still waits for more.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const TRACE: &str = r#"{"kind":"goal","steps":[["yellow(o0)"],["blue(o4)"],["yellow(o1)"],["goal"]]}
"#;
const MEGABYTE: usize = 1 << 20;

/// The peak memory of checking this many bytes of traces.
fn peak_of_check(bytes: usize) -> usize {
    let signature = Path::new(env!("CARGO_TARGET_TMPDIR")).join("memory_signature.txt");
    fs::write(&signature, "yellow(o0)\nyellow(o1)\nblue(o4)\ngoal\n")
        .expect("a file in the tests' own folder");
    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/all_yellow.form");
    let mut child = Command::new(env!("CARGO_BIN_EXE_form"))
        .arg("check")
        .arg(machine)
        .arg("-")
        .arg("--signature")
        .arg(signature)
        // The blocks in flight grow with the cores.
        .env("RAYON_NUM_THREADS", "2")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary under test starts");
    let mut stdin = child.stdin.take().expect("a pipe was asked for");
    let block = TRACE.repeat(1_000);
    let blocks = bytes.div_ceil(block.len());
    for _ in 0..blocks {
        stdin
            .write_all(block.as_bytes())
            .expect("it reads to the end");
    }
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it is running");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains(&format!("{} traces", blocks * 1_000)),
        "{said}"
    );
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next())
        .expect("Linux states the peak");
    1024 * peak.parse::<usize>().expect("a number of kilobytes")
}

#[test]
fn check_needs_no_more_memory_for_more_traces() {
    let (few, many) = (peak_of_check(2 * MEGABYTE), peak_of_check(40 * MEGABYTE));
    assert!(
        many < few + 8 * MEGABYTE,
        "{few} bytes for 2 MB of traces, {many} for 40 MB"
    );
}
