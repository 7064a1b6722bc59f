//! `form learn --explain`: why the machine is as it is.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::{Outcome, form};

/// Runs `form learn` on a shipped trace file.
fn learn(task: &str, arguments: &[&str]) -> Outcome {
    let examples: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let file = format!("{task}.jsonl");
    form(&examples, &[&["learn", &file], arguments].concat())
}

/// The output without what depends on the machine it runs on and on the way the solver takes.
fn steady(text: &str) -> String {
    let mut in_table = false;
    let line = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        in_table = in_table && cells != ["#"] || cells.get(1) == Some(&"states");
        if let ["#", states, _, _, _, _, result @ ..] = &cells[..]
            && in_table
            && *states != "states"
        {
            return format!("# {states} N N N T {}", result.join(" "));
        }
        let is_time = |word: &str| word.contains('.') && word.parse::<f64>().is_ok();
        let masked: Vec<&str> = (line.split(' '))
            .map(|word| if is_time(word) { "T" } else { word })
            .collect();
        masked.join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_edge_is_explained() {
    let outcome = learn("all_yellow", &["--explain"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    insta::assert_snapshot!(steady(&outcome.stdout));
}

#[test]
fn a_choice_is_said_to_be_one() {
    let outcome = learn("green_but_one", &["--explain"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for part in [
        "# u0 -> u1 : exists X. green(X) and not green(o12) and not lava\n",
        "#   with at least `exists X. green(X) and not green(o12)` forced by ",
        "#   the rest is a choice among machines of the same size, by the fixed order; another one has\n",
        "#   the absence of further literals is a choice among machines of the same size, by the fixed order",
        "#   among machines that come no later in that order, the whole edge is forced by ",
    ] {
        assert!(outcome.stdout.contains(part), "{part}\n{}", outcome.stdout);
    }
    // What is printed is a machine file all the same.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("learnt.form"), &outcome.stdout).unwrap();
    let shown = form(folder.path(), &["show", "learnt.form"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
}

#[test]
fn the_explanation_as_json() {
    let outcome = learn("blue_all_yellow_7", &["--explain", "--json"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let explanation = &found["explanation"];
    assert_eq!(explanation["stopped"], Value::Null);
    let proven = |proof: &Value| {
        assert_eq!(proof["irreducible"], true, "{proof}");
        let traces = proof["traces"].as_array().unwrap();
        assert!((1..=8).contains(&traces.len()), "{proof}");
        for trace in traces {
            let place = trace["trace"].as_str().unwrap();
            let line = place.strip_prefix("blue_all_yellow_7.jsonl:").unwrap();
            // The first line declares the signature.
            assert!(
                (2..=41).contains(&line.parse::<usize>().unwrap()),
                "{place}"
            );
            let is_goal = trace["kind"] == "goal";
            assert!(trace["whole"] == true || !is_goal, "{trace}");
        }
    };
    proven(&explanation["states"]);
    let edges = explanation["edges"].as_array().unwrap();
    let formulae: Vec<&str> = (edges.iter())
        .map(|edge| edge["formula"].as_str().unwrap())
        .collect();
    let expected = [
        "exists X. blue(X)",
        "forall X. yellow(X)",
        "purple(o7)",
        "goal",
    ];
    assert_eq!(formulae, expected);
    for edge in edges {
        assert_eq!(edge["level"], "size");
        assert_eq!(
            (&edge["core"], &edge["alternative"]),
            (&Value::Null, &Value::Null)
        );
        proven(&edge["proof"]);
    }
    let rounds = found["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 4);
    let refuted: Vec<bool> = (rounds.iter())
        .map(|round| round["refuted"].as_bool().unwrap())
        .collect();
    assert_eq!(refuted, [true, true, true, false]);
    for name in ["counterexamples", "steps", "solver_calls", "clauses"] {
        assert!(rounds.iter().all(|round| round[name].is_u64()), "{name}");
    }
    // Without the option there is none.
    let outcome = learn("all_yellow", &["--json"]);
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(found.get("explanation"), None);
}

#[test]
fn only_what_the_built_in_solver_proved_is_explained() {
    for (arguments, message) in [
        (["--solver", "clingo"], "needs the built-in solver"),
        (["--solver", "ilasp"], "needs the built-in solver"),
        (["--export", "asp"], "--export learns none"),
    ] {
        let outcome = learn("all_yellow", &[&arguments[..], &["--explain"]].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}");
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
    }
    let outcome = learn("all_yellow", &["--max-states", "1", "--explain"]);
    assert_eq!(outcome.code, Some(1));
    let nothing = "no explanation: no machine was proven minimal";
    assert!(outcome.stdout.contains(nothing), "{}", outcome.stdout);
    let outcome = learn("all_yellow", &["--max-states", "1", "--explain", "--json"]);
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(found.get("explanation"), Some(&Value::Null));
}
