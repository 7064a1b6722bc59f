//! Explanations of the paper's machines, limits that are values, and what each number of states took.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use form_core::{Kind, Signature, Trace};
use form_learn::{
    Criterion, Error, LearnOutcome, Learner, Learnt, Limits, Options, Proof, StopReason,
};

use super::learner::shipped;

fn whole(task: &str) -> (Learner, Learnt) {
    let (signature, traces) = shipped(task);
    let mut learner = Learner::new(&signature, &Options::default());
    for trace in &traces {
        learner.add(trace);
    }
    match learner.learn(&Limits::default()).unwrap() {
        LearnOutcome::Minimal(learnt) => (learner, learnt),
        outcome => panic!("{outcome:?}"),
    }
}

fn parts(proof: &Proof) -> usize {
    assert!(proof.irreducible);
    proof.traces.len()
}

#[test]
fn the_paper_s_machines_are_forced_by_a_handful_of_traces() {
    for (task, most) in [
        ("all_yellow", 4),
        ("green_but_one", 6),
        ("blue_all_yellow_7", 8),
    ] {
        let (learner, learnt) = whole(task);
        let explanation = learner.explain(&Limits::default()).unwrap();
        assert_eq!(explanation.stopped, None);
        assert!(
            parts(explanation.states.as_ref().unwrap()) <= most,
            "{task}"
        );
        for reason in &explanation.edges {
            let reason = reason.as_ref().unwrap();
            assert!(parts(&reason.proof) <= most, "{task}");
            // Where to say "not lava" is a matter of taste, and nothing else is.
            assert_eq!(
                reason.criterion == Criterion::Order,
                task == "green_but_one"
            );
            if let Some(core) = &reason.forced {
                assert!(parts(&core.proof) <= most, "{task}");
            }
        }
        if task == "green_but_one" {
            let cores = explanation.edges.iter().flatten();
            let cores: Vec<String> = cores
                .map(|reason| reason.forced.as_ref().unwrap().literals.to_string())
                .collect();
            let first = "exists X. green(X) and not green(o12)";
            assert_eq!(cores, [first, "lava", "goal", "lava"], "{}", learnt.machine);
        }
        // The same once more: nothing depends on what was asked before.
        if task == "all_yellow" {
            assert_eq!(learner.explain(&Limits::default()).unwrap(), explanation);
        }
    }
}

#[test]
fn states_that_can_change_their_numbers_make_no_difference() {
    let signature = Signature::parse(["a", "b", "c", "d"]).unwrap();
    let mut learner = Learner::new(&signature, &Options::default());
    let traces = [
        (Kind::Goal, "a+b c"),
        (Kind::Goal, "a d"),
        (Kind::Goal, "b c d a d"),
        (Kind::Goal, "d b a+b d c"),
        (Kind::Goal, "d c a c b d"),
        (Kind::Incomplete, "a+b d a d"),
        (Kind::Incomplete, "a c a+b c"),
    ];
    for (kind, steps) in traces {
        let steps = steps.split(' ').map(|step| step.split('+'));
        let steps = steps.map(|atoms| signature.observation(atoms).unwrap());
        learner.add(&Trace::new(kind, steps));
    }
    let outcome = learner.learn(&Limits::default()).unwrap();
    let machine = &outcome.learnt().unwrap().machine;
    // Both branches begin with `a`: which of them comes first is arbitrary.
    let labels: Vec<String> = (machine.edges().iter())
        .map(|edge| edge.formula.to_string())
        .collect();
    assert_eq!(labels, ["a and b", "a and not b", "c", "d"]);
    let explanation = learner.explain(&Limits::default()).unwrap();
    let levels: Vec<Criterion> = explanation
        .edges
        .iter()
        .flatten()
        .map(|r| r.criterion)
        .collect();
    assert_eq!(levels, [Criterion::Size; 4]);
}

#[test]
fn a_limit_leaves_what_was_explained_before() {
    let (learner, learnt) = whole("all_yellow");
    let stopped = |limits: &Limits| {
        let explanation = learner.explain(limits).unwrap();
        assert!(!explanation.is_irreducible());
        assert_eq!(explanation.states, None);
        assert_eq!(explanation.edges, vec![None; learnt.machine.edges().len()]);
        explanation.stopped
    };
    let time = Limits {
        time: Some(Duration::ZERO),
        ..Limits::default()
    };
    assert_eq!(stopped(&time), Some(StopReason::Time));
    let interrupt = Limits {
        interrupt: Some(Arc::new(AtomicBool::new(true))),
        ..Limits::default()
    };
    assert_eq!(stopped(&interrupt), Some(StopReason::Interrupted));
}

#[test]
fn only_a_minimal_machine_can_be_explained() {
    let (signature, traces) = shipped("all_yellow");
    let mut learner = Learner::new(&signature, &Options::default());
    let refused = |learner: &Learner| {
        let explanation = learner.explain(&Limits::default());
        matches!(explanation, Err(Error::NothingToExplain))
    };
    assert!(refused(&learner));
    for trace in &traces[1..] {
        learner.add(trace);
    }
    assert!(refused(&learner));
    learner.learn(&Limits::default()).unwrap();
    assert!(!refused(&learner));
    // A trace that the machine has not been replayed on.
    learner.add(&traces[0]);
    assert!(refused(&learner));
    learner.learn(&Limits::default()).unwrap();
    assert!(!refused(&learner));
}

#[test]
fn rounds_count_counterexamples_and_their_steps() {
    let (learner, _) = whole("green_but_one");
    for round in learner.rounds() {
        // Each question but the last few found a machine, and each machine was refuted by a few traces.
        assert!(
            round.counterexamples <= 16 * round.solver_calls,
            "{round:?}"
        );
        assert!(round.counterexamples <= round.steps, "{round:?}");
    }
    let all: usize = learner.rounds().iter().map(|r| r.counterexamples).sum();
    assert!(
        (1..=learner.traces()).contains(&all),
        "{:?}",
        learner.rounds()
    );
}
