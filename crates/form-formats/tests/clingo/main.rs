//! The answer set programs mean what the runtime does. Needs the program `clingo`: `cargo test --workspace --test clingo`.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../../form-core/tests/suite/machines.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod machines;

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use form_core::{AtomSet, Machine, Run, Signature, StateId, satisfies};
use form_formats::{to_asp, trace_to_asp};
use proptest::prelude::*;

use crate::machines::{GREEN_BUT_ONE, machine, signature, windowed_machines};

/// The shown atoms of the only answer set.
fn answer(program: &str) -> BTreeSet<String> {
    let mut child = Command::new("clingo")
        .args(["--outf=1", "--warn=all", "0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("`clingo` must be installed for these tests");
    let mut input = child.stdin.take().unwrap();
    input.write_all(program.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.is_empty(), "{errors}\n{program}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut answers = text.lines().filter(|line| !line.starts_with('%')).skip(1);
    let facts = |line: &str| -> BTreeSet<String> {
        let atoms = line.split(". ").map(|atom| atom.trim_end_matches('.'));
        atoms.map(str::to_owned).collect()
    };
    let answer = facts(
        answers
            .next()
            .unwrap_or_else(|| panic!("{text}\n{program}")),
    );
    let sets = text
        .lines()
        .filter(|line| line.starts_with("% Answer"))
        .count();
    assert_eq!(sets, 1, "{text}\n{program}");
    answer
}

/// The states that a run is in before and after each observation.
fn visited(machine: &Machine, signature: &Signature, trace: &[AtomSet]) -> Vec<StateId> {
    let bound = machine.bind(signature).unwrap();
    let mut run = Run::new(&bound);
    let mut states = vec![run.state()];
    for observation in trace {
        run.step(&bound, observation);
        states.push(run.state());
    }
    states
}

fn term(name: &str) -> String {
    if name.starts_with(|c: char| c.is_ascii_lowercase()) {
        name.to_owned()
    } else {
        format!("\"{name}\"")
    }
}

/// Two edges of one state whose formulae both hold at some step of the run, although they lead apart.
fn conflicts(
    machine: &Machine,
    signature: &Signature,
    trace: &[AtomSet],
    states: &[StateId],
) -> BTreeSet<[String; 3]> {
    let mut found = BTreeSet::new();
    let mut since = 0;
    for (t, state) in states.iter().enumerate().take(trace.len()) {
        if t > 0 && states[t - 1] != *state {
            since = t;
        }
        let buffer = &trace[since..=t];
        let holding: Vec<_> = (machine.edges_from(*state))
            .filter(|(_, edge)| satisfies(buffer, &edge.formula, signature))
            .map(|(_, edge)| edge.to)
            .collect();
        let name = |state| term(machine.state_name(state));
        for a in &holding {
            for b in holding.iter().filter(|b| *b != a) {
                found.insert([name(*state), name(*a), name(*b)]);
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The program visits the states that the runtime visits, accepts and rejects what it does, and warns of every
    /// overlap that the trace runs into.
    #[test]
    fn agrees_with_the_runtime(machine in windowed_machines(), trace in traces()) {
        let signature = signature();
        let states = visited(&machine, &signature, &trace);
        let program = to_asp(&machine, Some(&signature)) + &trace_to_asp(&trace, &signature);
        let answer = answer(&program);

        let run: BTreeSet<String> = (states.iter().enumerate())
            .map(|(t, state)| format!("st({t},{})", term(machine.state_name(*state))))
            .collect();
        let derived: BTreeSet<String> =
            answer.iter().filter(|atom| atom.starts_with("st(")).cloned().collect();
        prop_assert_eq!(run, derived, "{}", program);
        let last = states.last().copied();
        prop_assert_eq!(answer.contains("accepted"), last == Some(machine.accept()));
        prop_assert_eq!(answer.contains("rejected"), last == machine.reject());
        for [x, y, z] in conflicts(&machine, &signature, &trace, &states) {
            let warned = answer.contains(&format!("overlap({x},{y},{z})"))
                || answer.contains(&format!("overlap({x},{z},{y})"));
            prop_assert!(warned, "{} {} {}: {}", x, y, z, program);
        }
    }
}

#[test]
fn the_machine_of_the_paper_has_no_overlap() {
    let signature = Signature::parse(["green(o10)", "green(o12)", "goal", "lava"]).unwrap();
    let trace = [["green(o12)"], ["green(o10)"], ["goal"]]
        .map(|atoms| signature.observation(atoms).unwrap());
    let program = to_asp(&machine(GREEN_BUT_ONE), Some(&signature));
    let answer = answer(&(program + &trace_to_asp(&trace, &signature)));
    let expected = [
        "st(0,u0)",
        "st(1,u0)",
        "st(2,u1)",
        "st(3,u_acc)",
        "accepted",
    ];
    assert_eq!(answer, expected.map(str::to_owned).into());
}

/// Section 3.3's example of why a choice among instances proves nothing.
#[test]
fn exists_against_a_ground_atom_overlaps() {
    let signature = Signature::parse(["green(o10)", "green(o12)", "lava"]).unwrap();
    let apart = |other: &str| {
        let machine = machine(&format!(
            "initial u0\naccept u_acc\nu0 -> u_acc : exists X. green(X)\nu0 -> u1 : lava and not {other}"
        ));
        let answer = answer(&to_asp(&machine, Some(&signature)));
        !answer.contains("overlap(u0,u1,u_acc)")
    };
    assert!(!apart("green(o12)"));
    assert!(apart("exists X. green(X)"));
}

/// Observations over [`signature`], some of them empty, some dense.
fn traces() -> impl Strategy<Value = Vec<AtomSet>> {
    let ids: Vec<_> = signature().ids().collect();
    let few = prop::sample::subsequence(ids.clone(), 0..4);
    let many = prop::sample::subsequence(ids.clone(), ids.len() / 2..ids.len());
    let observation = prop_oneof![3 => few, 1 => many];
    prop::collection::vec(observation.prop_map(|ids| ids.into_iter().collect()), 0..12)
}
