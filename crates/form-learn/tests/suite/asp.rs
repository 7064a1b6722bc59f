//! The answer set programs: what they look like. That their best answers are the smallest machines is tested with clingo, in
//! `tests/clingo`.

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
    let program = to_asp(&signature, &traces, &Options::default(), 2).unwrap();
    insta::assert_snapshot!(particular(&program));
}

#[test]
fn options_change_the_program() {
    let signature = Signature::parse(["p(a)", "p(b)"]).unwrap();
    let write = |options: &Options| to_asp(&signature, &[], options, 2).unwrap();
    let default = write(&Options::default());
    assert!(default.contains("alone(X,Y,E)") && default.contains("ready(Y,X)"));
    assert!(!default.contains("slot(1,0,0)") && !default.contains("slot(0,1,1)"));
    let other = write(&Options {
        first_order: false,
        max_disjuncts: 2,
        cyclic: true,
        forall_alone: false,
        ..Options::default()
    });
    assert!(!other.contains("alone(X,Y,E)") && other.contains("found(Y,X)"));
    assert!(other.contains("slot(1,0,1)") && !other.contains("universal(a_pred"));
}

#[test]
fn brute_force_knows_small_answers() {
    // Twenty of the problems that the solvers are compared on: none is trivial for lack of anything to find.
    let problems: Vec<_> = (0..20).map(problem).collect();
    let answers: Vec<_> = problems.iter().map(best).collect();
    let text = problems[1].describe();
    assert!(text.contains("\"steps\""), "{text}");
    assert!(answers.iter().flatten().count() >= 10, "{answers:?}");
    assert!(
        answers.iter().flatten().any(|(states, _)| *states > 1),
        "{answers:?}"
    );
}
