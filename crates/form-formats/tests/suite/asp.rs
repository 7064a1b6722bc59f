//! The answer set programs: what they look like. That they mean what the runtime does is tested with clingo, in `tests/clingo`.

use form_core::Signature;
use form_formats::{to_asp, trace_to_asp};

use crate::machines::{GREEN_BUT_ONE, MIXED, deep, machine};

/// The program without the rules that are the same for every machine.
fn particular(text: &str, signature: Option<&Signature>) -> String {
    let program = to_asp(&machine(text), signature);
    let (own, _) = program.split_once("\n% An edge holds when").unwrap();
    own.to_owned()
}

#[test]
fn a_machine_of_the_paper() {
    let signature = Signature::parse(["green(o10)", "green(o12)", "goal", "lava"]).unwrap();
    insta::assert_snapshot!(particular(GREEN_BUT_ONE, Some(&signature)));
}

#[test]
fn nested_formulae_and_odd_names() {
    insta::assert_snapshot!(particular(MIXED, None));
}

#[test]
fn a_trace() {
    let signature = Signature::parse(["yellow(o1)", "Goal", "on(a, B)"]).unwrap();
    let steps = [
        signature.observation(["yellow(o1)", "on(a, B)"]).unwrap(),
        signature.observation([""; 0]).unwrap(),
        signature.observation(["Goal"]).unwrap(),
    ];
    insta::assert_snapshot!(trace_to_asp(&steps, &signature), @r#"
    obs(on(a,"B"),0). obs(yellow(o1),0). step(0).
    step(1).
    obs("Goal",2). step(2).
    last(2).
    "#);
    assert_eq!(trace_to_asp(&[], &signature), "");
}

#[test]
fn deep_formulae_do_not_exhaust_the_stack() {
    let program = to_asp(&deep(), None);
    assert_eq!(program.matches("obs(a,T)").count(), 50_000);
}
