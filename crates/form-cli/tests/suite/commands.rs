//! What each command does with good input: its answer, its exit code, and what it prints where.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{Outcome, command, fixtures, form, form_reading};

/// The atoms of the paper's room: 12 checkpoints, two of each colour, the goal and lava.
const ROOM: &str = "yellow(o0)\nyellow(o1)\nred(o2)\nred(o3)\nblue(o4)\nblue(o5)\npurple(o6)\npurple(o7)\n\
                    grey(o8)\ngrey(o9)\ngreen(o10)\ngreen(o12)\ngoal\nlava\n";

/// A propositional machine that all four formats can say.
const PROPOSITIONAL: &str = "machine errand\ninitial u0\naccept  u_acc\nreject  u_rej\n\
                             u0 -> u1    : key and not lava\nu0 -> u_rej : lava\n\
                             u1 -> u_acc : door and not lava\nu1 -> u_rej : lava\n";

/// Runs a command line among the fixtures.
fn run(line: &str) -> Outcome {
    form(&fixtures(), &words(line))
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Runs a command line in a folder and expects it to succeed.
fn done(folder: &TempDir, line: &str) -> Outcome {
    let outcome = form(folder.path(), &words(line));
    assert_eq!(outcome.code, Some(0), "form {line}\n{}", outcome.stderr);
    outcome
}

/// A folder with these files in it.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The one JSON object that is all of standard output.
fn json(outcome: &Outcome) -> Value {
    let value: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert!(value.is_object(), "{value}");
    assert_eq!(outcome.stdout.lines().count(), 1);
    value
}

#[test]
fn json_is_one_object_and_nothing_else() {
    for (line, code) in [
        ("check good/red_goal.form", 0),
        ("check good/red_goal.form good/consistent.jsonl", 0),
        ("check good/red_goal.form good/inconsistent.jsonl", 1),
        ("check good/overlap.form --strict", 1),
        ("traces good/consistent.jsonl", 0),
        ("traces good/contradictory.jsonl", 1),
        ("ground good/red_goal.form --signature good/atoms.txt", 0),
        (
            "diff good/red_goal.form good/red_goal.form --signature good/atoms.txt",
            0,
        ),
        (
            "diff good/red_goal.form good/reward.form --signature good/atoms.txt",
            1,
        ),
    ] {
        let outcome = run(&format!("{line} --json"));
        assert_eq!(outcome.code, Some(code), "{line}\n{}", outcome.stderr);
        json(&outcome);
        let plain = run(line);
        assert_eq!(plain.code, Some(code), "{line}");
    }
}

#[test]
fn check_agrees_with_consistent_traces() {
    let outcome = run("check good/red_goal.form good/consistent.jsonl");
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""));
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn check_explains_the_first_disagreement() {
    let outcome = run("check good/red_goal.form good/inconsistent.jsonl");
    assert_eq!((outcome.code, &*outcome.stderr), (Some(1), ""));
    insta::assert_snapshot!(outcome.stdout);
    let found = json(&run(
        "check good/red_goal.form good/inconsistent.jsonl --json",
    ));
    assert_eq!(found["consistent"], false);
    assert_eq!(found["traces"]["inconsistent"], 2);
    let first = &found["first_disagreement"];
    assert_eq!((&first["line"], &first["after"]), (&3.into(), &3.into()));
    assert_eq!(
        (&first["expected"], &first["reached"]),
        (&"accepted".into(), &"rejected".into())
    );
    let all = found["disagreements"].as_array().unwrap();
    let lines: Vec<_> = all.iter().map(|one| &one["line"]).collect();
    assert_eq!(lines, [3, 4]);
}

#[test]
fn check_shows_an_overlap_with_its_witness() {
    let outcome = run("check good/overlap.form");
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""));
    insta::assert_snapshot!(outcome.stdout);
    assert_eq!(run("check good/overlap.form --strict").code, Some(1));
    assert_eq!(run("check good/red_goal.form --strict").code, Some(0));
}

/// Such a machine cannot be what was meant, with or without traces.
#[test]
fn check_says_no_to_a_machine_that_never_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let text = "initial u0\naccept u_acc\nu0 -> u1 : a and not a\nu1 -> u_acc : b\n";
    fs::write(folder.path().join("never.form"), text).unwrap();
    let outcome = form(folder.path(), &["check", "never.form"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let said = "the machine never accepts: no run from u0 does";
    assert!(outcome.stdout.contains(said), "{}", outcome.stdout);
}

/// A machine in one line goes where a machine file does; a mistyped task is no file and no machine.
#[test]
fn machines_may_be_typed_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let shown = form(folder.path(), &["show", "forall X. yellow(X); goal"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.contains("2 states + accept, 2 edges"));
    let checked = form(
        folder.path(),
        &[
            "check",
            "forall X. yellow(X); goal",
            "--signature",
            "all-yellow",
        ],
    );
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    let same = form(
        folder.path(),
        &["diff", "forall X. yellow(X); goal", "all-yellow"],
    );
    assert_eq!(same.code, Some(0), "{}{}", same.stdout, same.stderr);
    for (typed, word) in [
        ("forall X. yellow(X; goal", "^"),
        ("all-yelow", "is `all-yellow` meant?"),
        ("nothing-like-it", "cannot open nothing-like-it"),
    ] {
        let wrong = form(folder.path(), &["check", typed]);
        assert_eq!(wrong.code, Some(2));
        assert!(wrong.stderr.contains(word), "{typed}: {}", wrong.stderr);
    }
}

/// Without a signature made-up objects stand for any.
#[test]
fn check_needs_no_signature() {
    let outcome = run("check good/red_goal.form");
    assert_eq!(outcome.code, Some(0));
    assert!(
        outcome.stdout.contains("no signature given"),
        "{}",
        outcome.stdout
    );
    let outcome = run("check good/red_goal.form --signature good/atoms.txt");
    assert!(
        outcome
            .stdout
            .contains("2 states + accept + reject, 4 edges, 4 atoms"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn gzipped_traces_are_read() {
    let folder = folder(&[]);
    let text = fs::read(fixtures().join("good/inconsistent.jsonl")).unwrap();
    let archive = fs::File::create(folder.path().join("inconsistent.jsonl.gz")).unwrap();
    let mut writer = flate2::write::GzEncoder::new(archive, flate2::Compression::default());
    std::io::Write::write_all(&mut writer, &text).unwrap();
    writer.finish().unwrap();
    fs::copy(
        fixtures().join("good/red_goal.form"),
        folder.path().join("red_goal.form"),
    )
    .unwrap();

    let zipped = form(
        folder.path(),
        &["check", "red_goal.form", "inconsistent.jsonl.gz"],
    );
    let plain = run("check good/red_goal.form good/inconsistent.jsonl");
    assert_eq!(zipped.code, plain.code);
    let renamed = zipped
        .stdout
        .replace("inconsistent.jsonl.gz", "good/inconsistent.jsonl");
    assert_eq!(renamed, plain.stdout);
}

#[test]
fn ground_gives_an_equivalent_machine() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for name in ["all_yellow", "green_but_one", "blue_all_yellow_7"] {
        let text = fs::read_to_string(examples.join(format!("{name}.form"))).unwrap();
        let folder = folder(&[("lifted.form", &text), ("room.txt", ROOM)]);
        for observations in ["all", "single"] {
            let rest = format!("--signature room.txt --observations {observations}");
            let outcome = done(
                &folder,
                &format!("ground lifted.form -o ground.json {rest}"),
            );
            assert_eq!(outcome.stdout, "", "the machine went to its file");
            let ground = fs::read_to_string(folder.path().join("ground.json")).unwrap();
            assert!(
                !ground.contains("exists") && !ground.contains("forall"),
                "{ground}"
            );
            let outcome = done(&folder, &format!("diff lifted.form ground.json {rest}"));
            assert!(
                outcome.stdout.starts_with("equivalent over "),
                "{}",
                outcome.stdout
            );
            let printed = done(&folder, &format!("ground lifted.form {rest}")).stdout;
            fs::write(folder.path().join("printed.form"), printed).unwrap();
            done(&folder, &format!("diff ground.json printed.form {rest}"));
        }
    }
}

#[test]
fn diff_finds_a_shortest_trace() {
    let line = "diff good/all_yellow.form good/any_yellow.form --signature good/yellow.txt";
    let outcome = run(line);
    assert_eq!((outcome.code, &*outcome.stderr), (Some(1), ""));
    insta::assert_snapshot!(outcome.stdout);
    let found = json(&run(&format!("{line} --json")));
    assert_eq!(found["equivalent"], false);
    assert_eq!(found["trace"].as_array().unwrap().len(), 2);
}

/// Machines that are the same but for the names of their states need no search, however many atoms there are.
#[test]
fn diff_of_the_same_machine_has_no_limit() {
    let outcome = run("diff broken/limit/many_atoms.form broken/limit/many_atoms.form");
    assert_eq!(
        (outcome.code, outcome.stdout.trim_end()),
        (
            Some(0),
            "equivalent: the same edges from the initial states on"
        )
    );
    let outcome = run("diff broken/limit/many_atoms.form broken/limit/many_atoms.form --json");
    let value = json(&outcome);
    assert_eq!(
        (&value["equivalent"], &value["pairs"]),
        (&true.into(), &0.into())
    );
}

#[test]
fn diff_can_leave_rewards_out() {
    let folder = folder(&[
        ("one.form", "initial u0\naccept u_acc\nu0 -> u_acc : goal\n"),
        (
            "half.form",
            "initial u0\naccept u_acc\nu0 -> u_acc : goal => 0.5\n",
        ),
    ]);
    assert_eq!(
        form(folder.path(), &["diff", "one.form", "half.form"]).code,
        Some(1)
    );
    done(&folder, "diff one.form half.form --ignore-rewards");
}

#[test]
fn convert_goes_round_through_all_formats() {
    let folder = folder(&[("errand.form", PROPOSITIONAL)]);
    let formats = [
        ("form", "errand.form"),
        ("json", "errand.json"),
        ("reference", "reference.txt"),
        ("toro-icarte", "toro.txt"),
    ];
    for (format, file) in &formats[1..] {
        done(
            &folder,
            &format!("convert errand.form {file} --to {format} --name errand"),
        );
    }
    for (_, from) in formats {
        for (format, _) in formats {
            done(&folder, &format!("convert {from} again --to {format}"));
            let outcome = done(&folder, "diff errand.form again");
            assert!(
                outcome.stdout.starts_with("equivalent"),
                "{from} to {format}"
            );
        }
    }
    // Our own formats keep everything, to the letter.
    done(&folder, "convert errand.json again.form");
    let again = fs::read_to_string(folder.path().join("again.form")).unwrap();
    assert_eq!(again, PROPOSITIONAL);
    done(&folder, "convert reference.txt again.form --name errand");
    let again = fs::read_to_string(folder.path().join("again.form")).unwrap();
    assert_eq!(again, PROPOSITIONAL);
}

#[test]
fn the_machines_of_the_reference_code() {
    let files = [
        (
            "all_yellow.txt",
            "'u0' # initial state\n('u0', 'u1', '∀X0, yellow_checkpoint(X0)') #\n('u1', 'u_acc', 'goal') #\n\
             ('u_acc', 'u_acc', 'True') #\n",
        ),
        (
            "green_but_one.txt",
            "'u0' # initial state\n('u0', 'u1', '∃X0, green_checkpoint(X0);~green_checkpoint(o12)') #\n\
             ('u0', 'u_rej', 'lava') #\n('u1', 'u_acc', 'goal') #\n('u_acc', 'u_acc', 'True') #\n\
             ('u_rej', 'u_rej', 'False') #\n",
        ),
    ];
    let folder = folder(&files);
    let mut all = String::new();
    for (name, _) in files {
        let outcome = done(&folder, &format!("convert {name} - --to form"));
        all += &format!("{}{}\n", outcome.stdout, outcome.stderr);
        let back = done(&folder, &format!("convert {name} back.txt --to reference"));
        assert_eq!(back.stdout, "");
        done(&folder, &format!("check {name}"));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_machines_of_toro_icarte() {
    let text = "0 # initial state\n[2] # terminal state\n(0,0,'!e&!n',ConstantRewardFunction(0))\n\
                (0,1,'e&!n',ConstantRewardFunction(0))\n(1,1,'!g&!n',ConstantRewardFunction(0))\n\
                (1,2,'g&!n',ConstantRewardFunction(1))\n";
    let folder = folder(&[("coffee.txt", text)]);
    let reject = done(&folder, "convert coffee.txt - --to form");
    let stay = done(&folder, "convert coffee.txt - --to form --undefined stay");
    let about = done(&folder, "convert coffee.txt coffee.form --json");
    assert_eq!(json(&about)["notes"].as_array().unwrap().len(), 1);
    insta::assert_snapshot!(format!(
        "{}{}\n{}{}",
        reject.stdout, reject.stderr, stay.stdout, stay.stderr
    ));
}

#[test]
fn traces_names_duplicates_and_contradictions_by_line() {
    let outcome = run("traces good/contradictory.jsonl");
    assert_eq!((outcome.code, &*outcome.stderr), (Some(1), ""));
    insta::assert_snapshot!(outcome.stdout);
    let empty = run("traces good/empty.jsonl");
    assert_eq!(empty.code, Some(0));
    assert!(
        empty.stdout.starts_with("0 distinct traces"),
        "{}",
        empty.stdout
    );
}

#[test]
fn bench_rows_have_their_fields() {
    let outcome = run("bench machine.step --json");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let table = json(&outcome);
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    let row = rows[0].as_object().unwrap();
    let fields: Vec<&str> = row.keys().map(String::as_str).collect();
    assert_eq!(fields, ["name", "value", "unit", "baseline", "ratio"]);
    assert_eq!(
        (&row["name"], &row["unit"]),
        (&"machine.step".into(), &"steps/s".into())
    );
    assert!(row["value"].as_f64().unwrap() > 0.0);
}

#[test]
fn networks_are_compared_with_pytorch() {
    let outcome = run("bench net.infer --json");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let table = json(&outcome);
    let [row] = &table["rows"].as_array().unwrap()[..] else {
        panic!("{table}")
    };
    assert_eq!(
        (&row["name"], &row["unit"]),
        (&"net.infer".into(), &"samples/s".into())
    );
    let baseline = row["baseline"]["value"].as_f64().unwrap();
    let ratio = row["value"].as_f64().unwrap() / baseline;
    assert!((row["ratio"].as_f64().unwrap() - ratio).abs() < 1e-9);
}

#[test]
fn learning_is_compared_with_the_paper() {
    let outcome = run("bench learn.green-but-one --json");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let table = json(&outcome);
    let [first_order, propositional] = &table["rows"].as_array().unwrap()[..] else {
        panic!("{table}")
    };
    for (row, name, paper) in [
        (first_order, "learn.green-but-one", 0.5),
        (propositional, "learn.green-but-one.propositional", 0.6),
    ] {
        assert_eq!((&row["name"], &row["unit"]), (&name.into(), &"s".into()));
        assert_eq!(row["baseline"]["value"], paper);
        let ratio = paper / row["value"].as_f64().unwrap();
        assert!((row["ratio"].as_f64().unwrap() / ratio - 1.0).abs() < 1e-9);
    }
}

#[test]
fn standard_input_is_read_for_a_dash() {
    let read = |name: &str| fs::read_to_string(fixtures().join(name)).unwrap();
    for (line, input, same) in [
        ("check -", "good/red_goal.form", "check good/red_goal.form"),
        (
            "convert - - --to json",
            "good/red_goal.form",
            "convert good/red_goal.form - --to json",
        ),
        (
            "traces -",
            "good/consistent.jsonl",
            "traces good/consistent.jsonl",
        ),
        (
            "check good/red_goal.form -",
            "good/consistent.jsonl",
            "check good/red_goal.form good/consistent.jsonl",
        ),
        (
            "check good/red_goal.form - --signature good/atoms.txt",
            "good/consistent.jsonl",
            "check good/red_goal.form good/consistent.jsonl --signature good/atoms.txt",
        ),
        (
            "ground good/red_goal.form --signature -",
            "good/atoms.txt",
            "ground good/red_goal.form --signature good/atoms.txt",
        ),
        (
            "diff - good/reward.form --signature good/atoms.txt",
            "good/red_goal.form",
            "diff good/red_goal.form good/reward.form --signature good/atoms.txt",
        ),
    ] {
        let piped = form_reading(&fixtures(), &words(line), &read(input));
        let named = run(same);
        assert_eq!(piped.code, named.code, "{line}\n{}", piped.stderr);
        let named = named
            .stdout
            .replace(&format!("then {input}"), "then standard input");
        assert_eq!(piped.stdout, named, "{line}");
    }
}

/// A pipe can be read only once, but its traces are needed twice: for the signature and for the replay.
#[cfg(unix)]
#[test]
fn traces_from_a_pipe_are_all_replayed() {
    let folder = folder(&[]);
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    let text = fs::read_to_string(fixtures().join("good/inconsistent.jsonl")).unwrap();
    let writer = {
        let pipe = pipe.clone();
        std::thread::spawn(move || fs::write(pipe, text))
    };
    let outcome = run(&format!(
        "check good/red_goal.form {} --json",
        pipe.display()
    ));
    writer.join().unwrap().unwrap();
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert_eq!(json(&outcome)["traces"]["inconsistent"], 2);
}

#[test]
fn what_a_first_line_declares_binds_its_own_file_only() {
    let files = [
        ("ab.form", "initial u0\naccept u1\nu0 -> u1 : a and b\n"),
        (
            "a.jsonl",
            "{\"signature\":[\"a\",\"b\"]}\n{\"kind\":\"incomplete\",\"steps\":[[\"c\"]]}\n",
        ),
        (
            "b.jsonl",
            "{\"signature\":[\"c\"]}\n{\"kind\":\"incomplete\",\"steps\":[[\"c\"]]}\n",
        ),
        (
            "c.jsonl",
            "{\"signature\":[\"a\",\"unused\"]}\n{\"kind\":\"incomplete\",\"steps\":[[\"a\"]]}\n",
        ),
        ("atoms.txt", "a\nb\n"),
    ];
    let folder = folder(&files);
    let refused = form(folder.path(), &words("check ab.form a.jsonl b.jsonl"));
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .stderr
            .contains("a.jsonl:2:33: `c` is not in the signature"),
        "{}",
        refused.stderr
    );
    // What a file declares need not be in a signature that is given, as long as it does not occur.
    done(&folder, "check ab.form c.jsonl --signature atoms.txt");
}

#[test]
fn without_a_signature_anything_else_may_be_observed() {
    let files = [
        (
            "not.form",
            "initial u0\naccept u1\nreject u2\nu0 -> u1 : not a\nu0 -> u2 : not b\n",
        ),
        ("a.form", "initial u0\naccept u1\nu0 -> u1 : not a\n"),
        ("b.form", "initial u0\naccept u1\nu0 -> u1 : b and not a\n"),
    ];
    let folder = folder(&files);
    let outcome = done(&folder, "check not.form --json");
    assert_eq!(json(&outcome)["deterministic"], false);
    assert_eq!(json(&outcome)["overlaps"][0]["newest"][0], "other");
    let outcome = form(folder.path(), &words("diff a.form b.form"));
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
}

#[test]
fn an_answer_beyond_the_limits_is_json_too() {
    let outcome = run("ground good/all_yellow.form --signature broken/limit/yellow.txt --json");
    assert_eq!(outcome.code, Some(1));
    assert_eq!(json(&outcome)["over_limit"]["limit"], 16);
}

#[test]
fn the_input_is_not_written_over() {
    let folder = folder(&[("errand.form", PROPOSITIONAL), ("atoms.txt", "goal\n")]);
    for line in [
        "convert errand.form errand.form",
        "show errand.form -o errand.form --format text",
        "ground errand.form --signature atoms.txt -o ./errand.form",
    ] {
        let outcome = form(folder.path(), &words(line));
        assert_eq!(outcome.code, Some(2), "{line}");
        assert!(
            outcome.stderr.contains("is the input"),
            "{}",
            outcome.stderr
        );
        let kept = fs::read_to_string(folder.path().join("errand.form")).unwrap();
        assert_eq!(kept, PROPOSITIONAL);
    }
}

/// As in `form check … | head -c 0`: the reader is gone before anything is written.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    for (line, code) in [
        ("check -", 0),
        ("check - --json", 0),
        ("check - good/inconsistent.jsonl", 1),
        ("convert - - --to form", 0),
        ("ground - --signature good/atoms.txt", 0),
    ] {
        let mut child = command(&fixtures(), &words(line))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        // The command cannot write before it has read this.
        let machine = fs::read(fixtures().join("good/red_goal.form")).unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &machine).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}\n{stderr}");
        assert!(
            !stderr.contains("panicked") && !stderr.contains("error"),
            "{line}\n{stderr}"
        );
    }
}

#[test]
fn files_are_written_whole_or_not_at_all() {
    let folder = folder(&[("errand.form", PROPOSITIONAL), ("kept.form", "as it was\n")]);
    fs::create_dir(folder.path().join("taken")).unwrap();
    let before = names(folder.path());
    for line in [
        "convert errand.form taken --to form",
        "convert errand.form kept.form/inside.form",
        "convert errand.form kept.form --to form --name a/b",
        "ground errand.form --signature errand.form -o kept.form",
    ] {
        let outcome = form(folder.path(), &words(line));
        assert_eq!(outcome.code, Some(2), "{line}\n{}", outcome.stderr);
        assert_eq!(names(folder.path()), before, "{line}");
        let kept = fs::read_to_string(folder.path().join("kept.form")).unwrap();
        assert_eq!(kept, "as it was\n", "{line}");
    }
    done(&folder, "convert errand.form kept.form");
    assert_eq!(names(folder.path()), before, "only the file itself is left");
    let kept = fs::read_to_string(folder.path().join("kept.form")).unwrap();
    assert_eq!(kept, PROPOSITIONAL);
}

/// A pipe must not be replaced by a file, and neither must `/dev/null`.
#[cfg(unix)]
#[test]
fn pipes_are_written_to() {
    let folder = folder(&[("errand.form", PROPOSITIONAL)]);
    let made = std::process::Command::new("mkfifo")
        .arg(folder.path().join("pipe"))
        .status();
    assert!(made.unwrap().success());
    let path = folder.path().join("pipe");
    let reader = std::thread::spawn(move || fs::read_to_string(path).unwrap());
    done(&folder, "convert errand.form pipe --to form");
    // Were it a file now, the reader would wait for ever.
    let kind = folder.path().join("pipe").metadata().unwrap().file_type();
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&kind));
    assert_eq!(reader.join().unwrap(), PROPOSITIONAL);
    assert_eq!(names(folder.path()), ["errand.form", "pipe"]);
}

const GOALS: &str = "{\"signature\":[\"p(a)\",\"p(b)\",\"goal\"]}\n\
    {\"kind\":\"goal\",\"steps\":[[\"p(a)\"],[\"p(b)\"],[\"goal\"]]}\n\
    {\"kind\":\"goal\",\"steps\":[[\"p(b)\"],[\"p(a)\"],[\"goal\"]]}\n\
    {\"kind\":\"incomplete\",\"steps\":[[\"goal\"],[\"p(a)\"],[\"goal\"]]}\n\
    {\"kind\":\"incomplete\",\"steps\":[[\"goal\"],[\"p(b)\"],[\"goal\"],[\"p(b)\"],[\"goal\"]]}\n";

#[test]
fn learn_finds_the_smallest_machine_and_says_so() {
    let folder = folder(&[("goals.jsonl", GOALS)]);
    let outcome = done(&folder, "learn goals.jsonl -o learnt.form");
    assert!(
        outcome.stdout.contains("u0 -> u1    : forall X. p(X)"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("proven minimal"),
        "{}",
        outcome.stdout
    );
    done(&folder, "check learnt.form goals.jsonl --strict");
    let found = json(&done(&folder, "learn goals.jsonl --threads 1 --json"));
    assert_eq!(
        (&found["proof"], &found["states"], &found["cost"]),
        (&"minimal".into(), &2.into(), &4.into())
    );
    assert_eq!(
        (&found["proven"], &found["lower_bound"]),
        (&true.into(), &2.into())
    );
    let found = json(&done(
        &folder,
        "learn goals.jsonl --propositional --max-disjuncts 2 --json",
    ));
    assert_eq!(
        (&found["proof"], &found["states"]),
        (&"minimal".into(), &3.into())
    );
}

#[test]
fn learn_stops_at_its_limits_with_what_was_proven() {
    let folder = folder(&[("goals.jsonl", GOALS)]);
    let outcome = form(
        folder.path(),
        &words("learn goals.jsonl --max-states 1 --json"),
    );
    let found = json(&outcome);
    assert_eq!((outcome.code, &found["proof"]), (Some(1), &"states".into()));
    assert_eq!(found["at_least"]["states"], 2);
    let outcome = form(folder.path(), &words("learn goals.jsonl --time-limit 0ms"));
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome.stdout.contains(
            // A chain is found without a solver, at once.
            "stopped at the time limit: the best machine so far has 2 states + accept, 4 edges and literals; proven: at least 1 state"
        ),
        "{}",
        outcome.stdout
    );
    for limit in ["--work-limit", "--conflict-limit"] {
        let outcome = form(
            folder.path(),
            &words(&format!("learn goals.jsonl {limit} 0 --json")),
        );
        let found = json(&outcome);
        assert_eq!((outcome.code, &found["proof"]), (Some(1), &"work".into()));
    }
    let outcome = form(
        folder.path(),
        &words("learn goals.jsonl --time-limit 0ms --json"),
    );
    let found = json(&outcome);
    assert_eq!((outcome.code, &found["proof"]), (Some(1), &"time".into()));
    assert_eq!(
        (&found["proven"], &found["lower_bound"], &found["states"]),
        (&false.into(), &1.into(), &2.into())
    );
    assert!(found["machine"]["edges"].is_array(), "{found}");
    assert!(found["seconds"].is_number(), "{found}");
    for wrong in [
        "--time-limit 5x",
        "--max-states 0",
        "--max-disjuncts 0",
        "--solver minisat",
    ] {
        let outcome = form(folder.path(), &words(&format!("learn goals.jsonl {wrong}")));
        assert_eq!(outcome.code, Some(2), "{wrong}");
    }
}

#[test]
fn learn_names_traces_that_contradict_each_other() {
    let outcome = run("learn good/contradictory.jsonl");
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome.stdout.contains("good/contradictory.jsonl:"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn learn_writes_the_problem_for_other_solvers() {
    let folder = folder(&[("goals.jsonl", GOALS)]);
    let program = done(&folder, "learn goals.jsonl --export asp --max-states 2").stdout;
    assert!(program.contains("#minimize"), "{program}");
    let task = done(&folder, "learn goals.jsonl --export ilasp --max-states 2").stdout;
    assert!(task.contains("#inject"), "{task}");
    // Nothing is installed where there is no path to look in.
    let output = command(folder.path(), &words("learn goals.jsonl --solver ilasp"))
        .env("PATH", "")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("cannot find the program"), "{stderr}");
}
