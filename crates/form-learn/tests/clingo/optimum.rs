//! The best answers of the answer set programs are the smallest machines.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use form_core::{Kind, Machine, Signature, Trace, TraceFile};
use form_formats::atom_to_asp;
use form_learn::asp::{learn_with_clingo, to_ilasp};
use form_learn::{LearnOutcome, StopReason};
use form_learn::{Limits, Options};

use crate::brute_force::{MAX_SIZE, best};
use crate::problems::{Problem, problem, windowed_problem};

/// Fails, not skips, where clingo is missing.
fn learn(problem: &Problem) -> LearnOutcome {
    let Problem {
        signature,
        traces,
        options,
        max_states,
    } = problem;
    let limits = Limits {
        max_states: *max_states,
        ..Limits::default()
    };
    learn_with_clingo(signature, traces, options, &limits, Path::new("clingo")).unwrap()
}

#[test]
fn its_optimum_is_that_of_brute_force() {
    compare_with_brute_force(1000, problem);
}

#[test]
fn with_atoms_over_the_window_too() {
    compare_with_brute_force(400, windowed_problem);
}

fn compare_with_brute_force(problems: u64, problem: fn(u64) -> Problem) {
    let (mut same, mut none, mut beyond) = (0, 0, 0);
    for seed in 0..problems {
        let problem = problem(seed);
        let expected = best(&problem);
        let found = match learn(&problem) {
            LearnOutcome::Minimal(learnt) => Some((learnt.states, learnt.cost)),
            LearnOutcome::Stopped {
                reason: StopReason::States,
                ..
            } => None,
            other => panic!("{other:?}"),
        };
        match (found, expected) {
            (found, expected) if found == expected => {
                same += usize::from(found.is_some());
                none += usize::from(found.is_none());
            }
            // Brute force stops at a size; clingo may find a larger machine with fewer states.
            (Some((states, cost)), expected)
                if cost.size > MAX_SIZE && expected.is_none_or(|(more, _)| states < more) =>
            {
                beyond += 1;
            }
            _ => panic!(
                "problem {seed}: {found:?}, not {expected:?}\n{}",
                problem.describe()
            ),
        }
    }
    let settled = same + none;
    assert!(
        10 * settled >= 9 * problems as usize,
        "{same} + {none}, {beyond} beyond"
    );
}

fn all_yellow(each: usize) -> (Signature, Vec<Trace>) {
    let bytes = include_bytes!("../../../../examples/all_yellow.jsonl");
    let file = || TraceFile::new("all_yellow.jsonl", &bytes[..]).unwrap();
    let signature = file().signature().unwrap();
    let traces = file()
        .traces(&signature)
        .unwrap()
        .into_iter()
        .map(|(_, trace)| trace);
    let (goal, other): (Vec<_>, Vec<_>) = traces.partition(|trace| trace.kind() == Kind::Goal);
    let traces = goal
        .into_iter()
        .take(each)
        .chain(other.into_iter().take(each))
        .collect();
    (signature, traces)
}

#[test]
fn the_all_yellow_task_of_the_paper() {
    let (signature, traces) = all_yellow(10);
    let problem = Problem {
        signature,
        traces,
        options: Options::default(),
        max_states: 3,
    };
    let LearnOutcome::Minimal(learnt) = learn(&problem) else {
        panic!("there is a machine")
    };
    insta::assert_snapshot!(learnt.machine, @r"
    machine learnt
    initial u0
    accept  u_acc
    u0 -> u1    : forall X. yellow(X)
    u1 -> u_acc : goal
    ");
}

#[test]
fn time_is_limited() {
    let (signature, traces) = all_yellow(20);
    let limits = Limits {
        time: Some(Duration::from_millis(1)),
        ..Limits::default()
    };
    let clingo = Path::new("clingo");
    let outcome = learn_with_clingo(&signature, &traces, &Options::default(), &limits, clingo);
    assert!(matches!(
        outcome.unwrap(),
        LearnOutcome::Stopped {
            reason: StopReason::Time,
            at_least_states: 1,
            ..
        }
    ));
}

/// The parts of a task for ILASP.
struct Task {
    background: String,
    /// The hypothesis space in order, each rule with its length.
    rules: Vec<(usize, String)>,
    meta: String,
    /// What must be derived, what must not, and the context.
    examples: Vec<(Vec<String>, Vec<String>, String)>,
}

fn task(text: &str) -> Task {
    let (background, rest) = text.split_once("% S_M").unwrap();
    let (space, rest) = rest.split_once("#inject(\"").unwrap();
    let (meta, rest) = rest.split_once("\").").unwrap();
    let words = |set: &str| -> Vec<String> {
        let words = set
            .trim_matches(['{', '}'])
            .split(", ")
            .filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let example = |text: &str| {
        let (sets, context) = text.split_once(", {\n").unwrap();
        let (_, sets) = sets.split_once(", ").unwrap();
        let (included, excluded) = sets.split_once("}, {").unwrap();
        let (context, _) = context.split_once("\n})").unwrap();
        (words(included), words(excluded), context.to_owned())
    };
    Task {
        background: background.to_owned(),
        rules: (space.lines().filter_map(|line| line.split_once(" ~ ")))
            .map(|(length, rule)| (length.parse().unwrap(), rule.to_owned()))
            .collect(),
        meta: meta.to_owned(),
        examples: rest.split("#pos(").skip(1).map(example).collect(),
    }
}

/// The atoms without arguments in the answer set of a program, or none if it has no answer set.
fn answer(program: &str) -> Option<Vec<String>> {
    let mut child = Command::new("clingo")
        .args(["--outf=2", "--warn=none", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`clingo` must be installed for these tests");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(program.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(value["Result"].is_string(), "{value}\n{program}");
    let model = value["Call"][0]["Witnesses"].as_array()?.last()?["Value"].clone();
    let atoms = model.as_array().unwrap().iter();
    Some(
        atoms
            .map(|atom| atom.as_str().unwrap().to_owned())
            .collect(),
    )
}

/// Whether the rules with these numbers solve the task, by ILASP's definition of a solution.
fn solves(task: &Task, chosen: &[usize]) -> bool {
    let active: String = chosen.iter().map(|i| format!("active({i}). ")).collect();
    let shown = "#defined active/1. #show accept/0. #show reject/0. #show early/0.\n";
    let hypothesis: String = chosen
        .iter()
        .map(|i| task.rules[*i].1.clone() + "\n")
        .collect();
    answer(&format!("{}\n{active}{shown}", task.meta)).is_some()
        && task.examples.iter().all(|(included, excluded, context)| {
            let program = format!("{}\n{hypothesis}\n{context}\n{shown}", task.background);
            let atoms = answer(&program).expect("background and rules have one answer set");
            included.iter().all(|atom| atoms.contains(atom))
                && !excluded.iter().any(|atom| atoms.contains(atom))
        })
}

/// The rules that a machine is made of.
fn rules(machine: &Machine) -> Vec<String> {
    let mut rules = Vec::new();
    for (i, edge) in machine.edges().iter().enumerate() {
        let before = machine.edges()[..i].iter();
        let k = before
            .filter(|other| (other.from, other.to) == (edge.from, edge.to))
            .count();
        let (from, to) = (machine.state_name(edge.from), machine.state_name(edge.to));
        rules.push(format!("ed({from},{to},{k})."));
        for (atom, positive) in edge.formula.literals() {
            let term = atom_to_asp(atom);
            let failing = format!("{},T)", term.strip_suffix(')').unwrap());
            let not = if positive { "not " } else { "" };
            rules.push(format!(
                "n_phi({from},{to},{k},T) :- {not}{failing}, step(T)."
            ));
        }
    }
    rules
}

#[test]
fn the_task_for_ilasp_is_solved_by_the_smallest_machine_and_by_no_part_of_it() {
    let solved = solved_for_ilasp(40, problem);
    assert!(solved >= 30, "{solved}");
    let solved = solved_for_ilasp(60, windowed_problem);
    assert!(solved >= 30, "{solved}");
}

/// How many of these problems have a smallest machine that solves the task for ILASP, no part of which does.
fn solved_for_ilasp(problems: u64, problem: fn(u64) -> Problem) -> usize {
    let mut solved = 0;
    for seed in 0..problems {
        let problem = problem(seed);
        let LearnOutcome::Minimal(learnt) = learn(&problem) else {
            continue;
        };
        let Problem {
            signature,
            traces,
            options,
            ..
        } = &problem;
        let task = task(&to_ilasp(signature, traces, options, learnt.states).unwrap());
        let place = |rule: &String| {
            task.rules
                .iter()
                .position(|(_, other)| other == rule)
                .unwrap()
        };
        let chosen: Vec<usize> = rules(&learnt.machine).iter().map(place).collect();
        let length: usize = chosen.iter().map(|i| task.rules[*i].0).sum();
        assert_eq!(length, learnt.cost.size);
        assert!(
            solves(&task, &chosen),
            "{}\n{}",
            problem.describe(),
            learnt.machine
        );
        for left_out in 0..chosen.len() {
            let mut part = chosen.clone();
            part.remove(left_out);
            assert!(
                !solves(&task, &part),
                "{}\n{}",
                problem.describe(),
                learnt.machine
            );
        }
        solved += 1;
    }
    solved
}
