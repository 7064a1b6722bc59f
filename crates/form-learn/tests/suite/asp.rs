//! The answer set programs: what they look like and, with the feature `clingo-tests`, that their best answers are the
//! smallest machines.

use form_core::{Kind, Signature, Trace};
use form_learn::Options;
use form_learn::asp::to_asp;

use crate::brute_force::best;
use crate::problems::problem;

/// The program without the rules that are the same for every problem.
fn particular(program: &str) -> String {
    let (before, rest) = program.split_once("% The machine:").unwrap();
    let (_, tree) = rest.split_once("% The distinct observations").unwrap();
    let (tree, _) = tree.split_once("\n% Listing 1").unwrap();
    format!("{before}…\n% The distinct observations{tree}")
}

#[test]
fn a_tiny_problem() {
    let signature = Signature::parse(["yellow(o0)", "yellow(o1)", "Goal"]).unwrap();
    let step = |atom: &str| signature.observation([atom]).unwrap();
    let (y0, y1, goal) = (step("yellow(o0)"), step("yellow(o1)"), step("Goal"));
    let traces = [
        Trace::new(Kind::Goal, [y0.clone(), y1.clone(), goal.clone()]),
        Trace::new(Kind::Incomplete, [y0.clone(), goal.clone()]),
        Trace::new(Kind::DeadEnd, [goal, y1.union(&y0)]),
    ];
    let program = to_asp(&signature, &traces, &Options::default(), 2);
    insta::assert_snapshot!(particular(&program));
}

#[test]
fn options_change_the_program() {
    let signature = Signature::parse(["p(a)", "p(b)"]).unwrap();
    let write = |options: &Options| to_asp(&signature, &[], options, 2);
    let default = write(&Options::default());
    assert!(default.contains("alone(X,Y,E)") && default.contains("ready(Y,X)"));
    assert!(!default.contains("slot(1,0,0)") && !default.contains("slot(0,1,1)"));
    let other = write(&Options {
        first_order: false,
        max_disjuncts: 2,
        cyclic: true,
        forall_alone: false,
    });
    assert!(!other.contains("alone(X,Y,E)") && other.contains("found(Y,X)"));
    assert!(other.contains("slot(1,0,1)") && !other.contains("universal(a_pred"));
}

#[test]
fn brute_force_knows_small_answers() {
    // Twenty of the problems that the solvers are compared on: none is trivial for lack of anything to find.
    let answers: Vec<_> = (0..20).map(|seed| best(&problem(seed))).collect();
    assert!(answers.iter().flatten().count() >= 10, "{answers:?}");
    assert!(answers.iter().flatten().any(|(states, _)| *states > 1), "{answers:?}");
}

#[cfg(feature = "clingo-tests")]
mod clingo {
    use std::path::Path;
    use std::time::Duration;

    use form_core::{Kind, Machine, Signature, Trace, TraceFile};
    use form_learn::asp::{Outcome, learn_with_clingo, to_ilasp};
    use form_learn::{Limits, Options};

    use crate::brute_force::{MAX_SIZE, best};
    use crate::problems::{Problem, problem};

    /// Fails, not skips, where clingo is missing.
    fn learn(problem: &Problem) -> Outcome {
        let Problem { signature, traces, options, max_states } = problem;
        let limits = Limits { max_states: *max_states, ..Limits::default() };
        learn_with_clingo(signature, traces, options, &limits, Path::new("clingo")).unwrap()
    }

    #[test]
    fn its_optimum_is_that_of_brute_force() {
        let (mut same, mut none, mut beyond) = (0, 0, 0);
        for seed in 0..1000 {
            let problem = problem(seed);
            let expected = best(&problem);
            let found = match learn(&problem) {
                Outcome::Learnt(learnt) => Some((learnt.states, learnt.cost)),
                Outcome::NoMachine => None,
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
                _ => panic!("problem {seed}: {found:?}, not {expected:?}\n{}", problem.describe()),
            }
        }
        println!("{same} the same machine cost, {none} no machine, {beyond} beyond brute force");
        assert!(same + none >= 900, "{same} + {none}, {beyond} beyond");
    }

    fn all_yellow(each: usize) -> (Signature, Vec<Trace>) {
        let bytes = include_bytes!("../../../../examples/all_yellow.jsonl");
        let file = || TraceFile::new("all_yellow.jsonl", &bytes[..]).unwrap();
        let signature = file().signature().unwrap();
        let traces = file().traces(&signature).unwrap().into_iter().map(|(_, trace)| trace);
        let (goal, other): (Vec<_>, Vec<_>) = traces.partition(|trace| trace.kind() == Kind::Goal);
        let traces = goal.into_iter().take(each).chain(other.into_iter().take(each)).collect();
        (signature, traces)
    }

    #[test]
    fn the_all_yellow_task_of_the_paper() {
        let (signature, traces) = all_yellow(10);
        let start = std::time::Instant::now();
        let problem = Problem { signature, traces, options: Options::default(), max_states: 3 };
        let Outcome::Learnt(learnt) = learn(&problem) else {
            panic!("there is a machine")
        };
        println!("AllYellow, 20 traces: {:?}", start.elapsed());
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
        let limits = Limits { time: Some(Duration::from_millis(1)), ..Limits::default() };
        let clingo = Path::new("clingo");
        let outcome = learn_with_clingo(&signature, &traces, &Options::default(), &limits, clingo);
        assert_eq!(outcome.unwrap(), Outcome::TimedOut { states: 1 });
    }
}
