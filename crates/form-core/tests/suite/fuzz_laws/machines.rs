//! The laws of what machines mean: checks tell the truth about it, and grounding preserves it.

use form_core::{
    BoundMachine, CompareOptions, Comparison, Error, Findings, GroundObservations, GroundOptions,
    NeverFires, Run, StateId, check, compare, ground, satisfies,
};

use super::inputs::{fixed_traces, small_machine, survives_its_files};

/// The most observable atoms of a machine that is tested over every set of them.
const MOST_ATOMS_IN_SETS: usize = 5;

/// A text read as a small `.form` file: what the checks say of the machine is so, and grounding keeps its behaviour.
pub fn machine_semantics(bytes: &[u8]) {
    let Some(machine) = small_machine(bytes) else {
        return;
    };
    let signature = machine.generic_signature();
    let bound = machine
        .bind(&signature)
        .expect("a machine binds to its own signature");
    let findings = check(&bound);
    witnesses_hold(&bound, &findings);
    runs_agree_with(&bound, &findings);
    survives_grounding(&bound, GroundObservations::Single);
    if signature.len() <= MOST_ATOMS_IN_SETS {
        survives_grounding(&bound, GroundObservations::All);
    }
}

/// Over the buffer of an overlap both formulae hold, by their definition.
fn witnesses_hold(bound: &BoundMachine, findings: &Findings) {
    for overlap in &findings.overlaps {
        let witness = &overlap.witness;
        assert!(!witness.newest.is_empty() && witness.newest.is_subset(&witness.seen));
        let buffer = [witness.seen.clone(), witness.newest.clone()];
        for edge in [overlap.first, overlap.second] {
            let formula = &bound.machine().edge(edge).formula;
            assert!(
                satisfies(&buffer, formula, bound.signature()),
                "{} does not hold on {}",
                bound.machine().describe_edge(edge),
                witness.describe(bound.signature())
            );
        }
    }
}

/// Runs take no edge that never fires, reach no state that cannot be reached, and accept from none that cannot.
fn runs_agree_with(bound: &BoundMachine, findings: &Findings) {
    let machine = bound.machine();
    for trace in fixed_traces(bound.signature()) {
        let mut run = Run::new(bound);
        let mut doomed = None;
        for observation in &trace {
            let from = run.state();
            if findings.cannot_accept.contains(&from) {
                doomed = Some(from);
            }
            let buffer = [run.seen().clone(), observation.clone()];
            let edges = bound.outgoing(from);
            let holds: Vec<_> = (edges.iter().copied())
                .filter(|edge| satisfies(&buffer, &machine.edge(*edge).formula, bound.signature()))
                .collect();
            let mut targets: Vec<StateId> =
                holds.iter().map(|edge| machine.edge(*edge).to).collect();
            targets.dedup();
            assert!(
                targets.len() < 2 || !findings.is_deterministic(),
                "said to be deterministic:\n{machine}"
            );
            let step = run.step(bound, observation);
            assert_eq!(step.edge, holds.first().copied(), "{machine}");
            for (edge, reason) in &findings.never_fire {
                assert!(
                    step.edge != Some(*edge)
                        && !(*reason == NeverFires::Contradiction && holds.contains(edge)),
                    "{} is said never to fire:\n{machine}",
                    machine.describe_edge(*edge)
                );
            }
            assert!(
                !findings.unreachable.contains(&run.state()),
                "{} is said to be unreachable:\n{machine}",
                machine.state_name(run.state())
            );
            assert!(
                doomed.is_none() || run.state() != machine.accept(),
                "acceptance is said to be impossible:\n{machine}"
            );
        }
    }
}

fn survives_grounding(bound: &BoundMachine, observations: GroundObservations) {
    let options = GroundOptions {
        observations,
        max_edges: 1_000,
    };
    let grounded = match ground(bound, &options) {
        Ok(grounded) => grounded,
        Err(Error::Limit { .. }) => return,
        Err(error) => panic!("not grounded: {error}\n{}", bound.machine()),
    };
    survives_its_files(&grounded);
    let other = grounded
        .bind(bound.signature())
        .expect("grounding names no other atoms");
    let options = CompareOptions {
        observations: observations.into(),
        max_steps: 200_000,
        ..CompareOptions::default()
    };
    match compare(bound, &other, &options) {
        Ok(Comparison::Equivalent { .. }) | Err(Error::Limit { .. }) => {}
        result => panic!(
            "{observations:?}: {result:?}\n{}\n{grounded}",
            bound.machine()
        ),
    }
}
