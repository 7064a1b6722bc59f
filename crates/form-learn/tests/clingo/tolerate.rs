//! The fewest misjudged traces against clingo, which minimises their weight, on larger problems with wrong traces.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::process::{Command, Stdio};

use form_core::{AtomSet, Kind, Trace};
use form_learn::asp::to_asp;
use form_learn::{Learner, Limits};

use crate::machines::larger_problem;
use crate::problems::{Problem, Random};

/// The problem with this number, with some kinds flipped, and the weights of its traces.
fn noisy(seed: u64) -> (Problem, Vec<u64>) {
    let (mut problem, _) = larger_problem(seed);
    let mut random = Random::new(seed + 77);
    for _ in 0..1 + random.below(4) {
        let i = random.below(problem.traces.len());
        let kind = *random.pick(&Kind::ALL);
        problem.traces[i] = Trace::with_mode(
            problem.traces[i].step_mode(),
            kind,
            problem.traces[i].steps().to_vec(),
        );
    }
    let weights = problem.traces.iter().map(|_| 1 + random.below(3) as u64);
    let weights = weights.collect();
    (problem, weights)
}

/// The program of the problem without its constraints on the ends of traces, with the weight of misjudged traces to minimise
/// instead of the cost.
fn program(problem: &Problem, weights: &[u64], states: usize) -> String {
    let hard = [":- goal(", ":- dead_end(", ":- running(", "#minimize"];
    let text = to_asp(
        &problem.signature,
        &problem.traces,
        &problem.options,
        states,
    )
    .unwrap();
    let mut text: String = (text.lines())
        .filter(|line| !hard.iter().any(|hard| line.starts_with(hard)))
        .flat_map(|line| [line, "\n"])
        .collect();
    // The nodes are numbered as there: in the order in which they are first met.
    let mut nodes: BTreeMap<(usize, &AtomSet), usize> = BTreeMap::new();
    for (i, (trace, weight)) in problem.traces.iter().zip(weights).enumerate() {
        let (mut before, mut node) = (0, 0);
        for step in trace.steps() {
            let next = nodes.len() + 1;
            (before, node) = (node, *nodes.entry((node, step)).or_insert(next));
        }
        let end = match trace.kind() {
            Kind::Goal => "u_acc",
            Kind::DeadEnd => "u_rej",
            Kind::Incomplete => "none",
        };
        let _ = writeln!(text, "ends({i},{node},{before},{end},{weight}).");
    }
    // A run that is over stays where it ended: it must not have been there before the end.
    text += "
        right(T) :- ends(T,N,M,E,_), st(N,E), not st(M,E), N > 0.
        right(T) :- ends(T,N,_,none,_), st(N,X), state(X).
        #minimize { W,T : ends(T,_,_,_,W), not right(T) }.
    ";
    text
}

/// The least weight of misjudged traces; `Ok(None)` if there is no machine, `Err` if clingo needs too long.
fn clingo(program: &str) -> Result<Option<u64>, ()> {
    let mut clingo = Command::new("clingo")
        .args([
            "--outf=2",
            "--opt-mode=opt",
            "--time-limit=15",
            "--warn=none",
            "-",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("clingo is installed");
    let mut input = clingo.stdin.take().unwrap();
    input.write_all(program.as_bytes()).unwrap();
    drop(input);
    let output = clingo.wait_with_output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    match answer["Result"].as_str().unwrap() {
        "UNSATISFIABLE" => Ok(None),
        "OPTIMUM FOUND" => {
            let models = answer["Call"][0]["Witnesses"].as_array().unwrap();
            Ok(Some(models.last().unwrap()["Costs"][0].as_u64().unwrap()))
        }
        _ => Err(()),
    }
}

#[test]
fn both_find_the_fewest_misjudged_traces() {
    let (mut compared, mut problems, mut unsettled) = (0, 0, 0);
    for seed in 0..160 {
        let (problem, weights) = noisy(seed);
        let mut learner = Learner::new(&problem.signature, &problem.options);
        for (trace, weight) in problem.traces.iter().zip(&weights) {
            learner.add_weighted(trace, *weight);
        }
        let limits = Limits {
            max_states: problem.max_states.min(3),
            ..Limits::default()
        };
        let ours = learner.learn_fewest_misjudged(&limits).unwrap();
        let mut fewest = u64::MAX;
        for level in &ours.levels {
            assert!(level.proven(), "problem {seed}");
            // With more states there is nothing worse: what fewer achieve counts.
            match clingo(&program(&problem, &weights, level.states)) {
                Ok(found) => fewest = fewest.min(found.unwrap_or(u64::MAX)),
                Err(()) => {
                    unsettled += 1;
                    break;
                }
            }
            assert_eq!(
                level.fewest_misjudged,
                fewest,
                "problem {seed}, {} states\n{}",
                level.states,
                problem.describe()
            );
            compared += 1;
            problems += usize::from(level.states == 2);
        }
    }
    assert!(
        problems >= 100,
        "{problems} problems, {compared} rows, {unsettled} unsettled"
    );
}
