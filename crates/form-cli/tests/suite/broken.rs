//! Broken inputs: every one is refused with a message that says what is wrong and where.
//!
//! A folder of fixtures holds the files of one format, and each is given to a command that reads it; what has to do with
//! several files or with the command line itself is in tables. The messages are kept as snapshots, to be read as a
//! user would read them.

use std::fmt::Write;

use crate::binary::{Outcome, fixtures, form, form_reading};

/// What a command said, as a snapshot shows it.
fn transcript(arguments: &[&str], outcome: &Outcome) -> String {
    let code = outcome.code.unwrap();
    format!(
        "$ form {}\n[{code}] {}\n",
        arguments.join(" "),
        outcome.stderr.trim_end()
    )
}

/// Runs a command that must fail: its answer is on standard error and there only, and names no folder of this computer.
fn refused(arguments: &[&str], input: &str, code: i32) -> Outcome {
    let outcome = form_reading(&fixtures(), arguments, input);
    let Outcome { stdout, stderr, .. } = &outcome;
    assert_eq!(outcome.code, Some(code), "{arguments:?}\n{stderr}");
    assert_eq!(stdout, "", "{arguments:?}");
    assert!(
        !stderr.contains(env!("CARGO_MANIFEST_DIR")),
        "{arguments:?}\n{stderr}"
    );
    outcome
}

/// The messages about every file of a folder, given to `command` in place of `FILE`.
fn messages(folder: &str, command: &[&str]) -> String {
    let entries = fixtures().join("broken").join(folder).read_dir().unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut all = String::new();
    for name in names {
        let path = format!("broken/{folder}/{name}");
        let arguments: Vec<&str> = command
            .iter()
            .map(|word| if *word == "FILE" { &path } else { *word })
            .collect();
        let outcome = refused(&arguments, "", 2);
        // Archives are broken as a whole; everything else has a line and a column.
        let place = outcome.stderr.strip_prefix(&format!("error: {path}:"));
        let place = place.unwrap_or_else(|| panic!("no place: {}", outcome.stderr));
        let numbers: Vec<&str> = place.splitn(3, ':').collect();
        assert!(
            name.ends_with(".gz") || numbers[..2].iter().all(|n| n.parse::<usize>().is_ok()),
            "no line and column: {}",
            outcome.stderr
        );
        let _ = writeln!(all, "{}", transcript(&arguments, &outcome));
    }
    all
}

/// The messages of command lines, each with the exit code it must have.
fn answers(cases: &[(&str, i32)]) -> String {
    let mut all = String::new();
    for (line, code) in cases {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let outcome = refused(&arguments, "", *code);
        let _ = writeln!(all, "{}", transcript(&arguments, &outcome));
    }
    all
}

#[test]
fn form_files() {
    let said = messages("form", &["check", "FILE"]);
    insta::assert_snapshot!(said);
}

#[test]
fn json_files() {
    let said = messages("json", &["check", "--json", "FILE"]);
    insta::assert_snapshot!(said);
}

#[test]
fn trace_files() {
    let said = messages("traces", &["traces", "FILE"]);
    insta::assert_snapshot!(said);
}

#[test]
fn signature_files() {
    let said = messages(
        "signature",
        &["ground", "good/red_goal.form", "--signature", "FILE"],
    );
    insta::assert_snapshot!(said);
}

#[test]
fn files_of_the_reference_code() {
    let said = messages("reference", &["convert", "FILE", "-", "--to", "form"]);
    insta::assert_snapshot!(said);
}

#[test]
fn files_of_toro_icarte() {
    let said = messages("toro-icarte", &["convert", "FILE", "-", "--to", "form"]);
    insta::assert_snapshot!(said);
}

#[test]
fn machines_that_do_not_fit_the_signature() {
    let said = answers(&[
        (
            "check broken/fit/no-predicate.form --signature good/atoms.txt",
            2,
        ),
        (
            "check broken/fit/no-constant.form --signature good/atoms.txt",
            2,
        ),
        (
            "check broken/fit/other-arity.form --signature good/atoms.txt",
            2,
        ),
        (
            "check broken/fit/no-instance.form --signature good/atoms.txt",
            2,
        ),
        (
            "check broken/fit/too-few.form --signature good/atoms.txt",
            2,
        ),
        (
            "check broken/fit/no-predicate.form good/consistent.jsonl",
            2,
        ),
        ("check good/red_goal.form good/empty.jsonl", 2),
        (
            "ground broken/fit/no-constant.form --signature good/atoms.txt",
            2,
        ),
        ("ground good/red_goal.form --signature good/empty.txt", 2),
        (
            "diff good/red_goal.form broken/fit/no-predicate.form --signature good/atoms.txt",
            2,
        ),
        (
            "diff good/red_goal.form broken/fit/no-predicate.form --observations good/consistent.jsonl",
            2,
        ),
        (
            "diff good/red_goal.form good/red_goal.form --signature good/reward.form",
            2,
        ),
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn limits_and_what_formats_cannot_say() {
    let said = answers(&[
        (
            "ground good/red_goal.form --signature good/atoms.txt --max-edges 1",
            1,
        ),
        (
            "ground good/all_yellow.form --signature broken/limit/yellow.txt",
            1,
        ),
        (
            "diff broken/limit/many_atoms.form broken/limit/other_atoms.form",
            1,
        ),
        (
            "ground good/red_goal.form --signature good/atoms.txt -o picture.svg",
            2,
        ),
        ("show good/red_goal.form --json -o red.json", 2),
        (
            "show good/red_goal.form --format asp --signature broken/limit/yellow.txt",
            2,
        ),
        ("diff good/reward.form good/red_goal.form", 2),
        ("convert good/red_goal.form - --to toro-icarte", 2),
        ("convert good/reward.form - --to reference", 2),
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn command_lines() {
    let said = answers(&[
        ("inspect good/red_goal.form", 2),
        ("check", 2),
        ("check good/red_goal.form --strictly", 2),
        ("ground good/red_goal.form", 2),
        (
            "ground good/red_goal.form --signature good/atoms.txt --observations both",
            2,
        ),
        (
            "ground good/red_goal.form --signature good/atoms.txt --max-edges many",
            2,
        ),
        (
            "ground good/red_goal.form --signature good/atoms.txt --json -o -",
            2,
        ),
        ("convert good/red_goal.form machine", 2),
        ("convert good/red_goal.form machine.txt", 2),
        ("convert good/red_goal.form - --to json --json", 2),
        ("convert good/red_goal.form - --to form --name red/goal", 2),
        ("traces", 2),
        ("bench machine.stop", 2),
        ("traces - -", 2),
    ]);
    insta::assert_snapshot!(said);
}

/// The system's own words differ from system to system.
#[cfg(unix)]
#[test]
fn files_and_folders() {
    let said = answers(&[
        ("check nowhere.form", 2),
        ("check broken", 2),
        ("check good/red_goal.form nowhere.jsonl", 2),
        ("check good/red_goal.form broken", 2),
        ("check good/red_goal.form --signature nowhere.txt", 2),
        ("check good/red_goal.form --signature broken", 2),
        ("check good/red_goal.form/inside", 2),
        ("traces nowhere.jsonl", 2),
        ("traces good/consistent.jsonl broken", 2),
        (
            "diff good/red_goal.form nowhere.form --signature good/atoms.txt",
            2,
        ),
        (
            "diff good/red_goal.form good/red_goal.form --observations nowhere.jsonl",
            2,
        ),
        ("convert good/red_goal.form nowhere/machine.form", 2),
        (
            "convert good/red_goal.form good/red_goal.form/machine.json",
            2,
        ),
        ("convert good/red_goal.form broken --to form", 2),
        ("convert good/red_goal.form .. --to form", 2),
        (
            "ground good/red_goal.form --signature good/atoms.txt -o nowhere/machine.form --json",
            2,
        ),
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn standard_input_is_named_in_messages() {
    let mut all = String::new();
    for (line, input) in [
        (
            "check - -",
            "initial u0\naccept u_acc\nu0 -> u_acc : goal\n",
        ),
        ("diff - -", "initial u0\naccept u_acc\nu0 -> u_acc : goal\n"),
        (
            "check -",
            "initial u0\naccept u_acc\nu0 -> u_acc : goal and\n",
        ),
        ("check -", "{\"initial\":\"u0\"}"),
        ("traces -", "{\"kind\":\"goal\"}"),
        (
            "check good/red_goal.form -",
            "{\"kind\":\"goal\",\"steps\":[[\"key\"]]}",
        ),
        ("ground good/red_goal.form --signature -", "red(o1)\nred(\n"),
        (
            "check good/red_goal.form - --signature good/atoms.txt",
            "{\"kind\":\"goal\",\"steps\":[[\"key\"]]}",
        ),
    ] {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let outcome = refused(&arguments, input, 2);
        let _ = writeln!(all, "{}", transcript(&arguments, &outcome));
    }
    insta::assert_snapshot!(all);
}

/// A result that cannot be written down is an error, not a panic.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = crate::binary::command(&fixtures(), &["check", "good/red_goal.form"])
        .stdout(full)
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.starts_with("error: cannot write to standard output: "),
        "{stderr}"
    );
}

/// Neither memory nor disk is filled with what has no end.
#[cfg(target_os = "linux")]
#[test]
fn devices_without_end() {
    for (arguments, reason) in [
        (
            &["show", "/dev/zero"][..],
            "/dev/zero: more than 268435456 bytes",
        ),
        (&["traces", "/dev/zero"], "/dev/zero:1: bytes in one line"),
        (&["traces", "/dev/urandom"], "/dev/urandom:"),
        (
            &["ground", "good/red_goal.form", "--signature", "/dev/zero"],
            "/dev/zero: bytes in a list of atoms",
        ),
    ] {
        let outcome = refused(arguments, "", 2);
        let stderr = &outcome.stderr;
        assert!(stderr.starts_with(&format!("error: {reason}")), "{stderr}");
    }
}

/// The hostile files ask for a shell: nothing of the sort may have happened.
#[test]
fn nothing_is_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    let code = "__import__('os').system('touch evaluated')";
    let machines = [
        format!("0\n[1]\n(0,1,'a',{code})\n"),
        format!("{code}\n[1]\n(0,1,'a',1)\n"),
        format!("'u0'\n('u0', 'u_acc', {code})\n('u_acc', 'u_acc', 'True')\n"),
        format!("'u0'\n('u0', 'u_acc', 'goal')\n{code}\n"),
    ];
    for machine in machines {
        std::fs::write(folder.path().join("hostile.txt"), &machine).unwrap();
        let outcome = form(folder.path(), &["check", "hostile.txt"]);
        assert_eq!(outcome.code, Some(2), "{machine}\n{}", outcome.stderr);
        assert_eq!(folder.path().read_dir().unwrap().count(), 1, "{machine}");
    }
}
