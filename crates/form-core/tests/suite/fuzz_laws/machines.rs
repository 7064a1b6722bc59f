//! The laws of what machines mean: the formats of others keep it, checks tell the truth about it, and grounding
//! preserves it.

use form_core::{
    AtomSet, BoundMachine, CompareOptions, Comparison, Error, Findings, ForeignFormat,
    GroundObservations, GroundOptions, Machine, NeverFires, Progress, Run, Signature, StateId,
    ToroIcarteOptions, Undefined, check, compare, detect, ground, read_reference, read_toro_icarte,
    satisfies, write_reference, write_toro_icarte,
};

use super::{refused_well, survives_its_files, text_of};

/// Bounds on the machines whose meaning is gone into: edges, nodes of formulae, atoms that can be observed, and of
/// these where every set of them is.
const MOST_EDGES: usize = 12;
const MOST_NODES: usize = 96;
const MOST_ATOMS: usize = 10;
const MOST_ATOMS_IN_SETS: usize = 5;

/// A text read as a machine of the reference code.
pub fn foreign_reference(bytes: &[u8]) {
    let text = text_of(bytes);
    match read_reference(text) {
        Err(error) => refused_well(&error, text),
        Ok(read) => {
            survives_its_files(&read.machine);
            survives_reference(&read.machine);
        }
    }
}

/// A text read as a machine of Toro Icarte et al., with both readings of what their format leaves open.
pub fn foreign_toro_icarte(bytes: &[u8]) {
    let text = text_of(bytes);
    for undefined in [Undefined::Stay, Undefined::Reject] {
        match read_toro_icarte(text, &ToroIcarteOptions { undefined }) {
            Err(error) => refused_well(&error, text),
            Ok(read) => {
                survives_its_files(&read.machine);
                survives_toro_icarte(&read.machine);
            }
        }
    }
}

/// A text read as a small `.form` file: what the checks say of the machine is so, and grounding and the formats of
/// others keep its behaviour.
pub fn machine_semantics(bytes: &[u8]) {
    let Ok(machine) = text_of(bytes).parse::<Machine>() else {
        return;
    };
    let nodes: usize = (machine.edges().iter())
        .map(|edge| edge.formula.nodes().len())
        .sum();
    if machine.edges().len() > MOST_EDGES || nodes > MOST_NODES {
        return;
    }
    let signature = machine.generic_signature();
    if signature.len() > MOST_ATOMS {
        return;
    }
    let bound = machine
        .bind(&signature)
        .expect("a machine binds to its own signature");
    let findings = check(&bound);
    witnesses_hold(&bound, &findings);
    runs_agree_with(&bound, &findings);
    survives_reference(&machine);
    survives_toro_icarte(&machine);
    survives_grounding(&bound, GroundObservations::Single);
    if signature.len() <= MOST_ATOMS_IN_SETS {
        survives_grounding(&bound, GroundObservations::All);
    }
}

fn survives_reference(machine: &Machine) {
    let Some(text) = written(write_reference(machine)) else {
        return;
    };
    assert_eq!(detect(&text), Some(ForeignFormat::Reference), "{text}");
    let again = read_reference(&text)
        .unwrap_or_else(|error| panic!("does not read back: {error}\n{text}\n{machine}"));
    behave_alike(machine, &again.machine, &text, |state| {
        machine.state_name(state).to_owned()
    });
}

fn survives_toro_icarte(machine: &Machine) {
    let Some(text) = written(write_toro_icarte(machine)) else {
        return;
    };
    assert_eq!(detect(&text), Some(ForeignFormat::ToroIcarte), "{text}");
    for undefined in [Undefined::Stay, Undefined::Reject] {
        let again = read_toro_icarte(&text, &ToroIcarteOptions { undefined })
            .unwrap_or_else(|error| panic!("does not read back: {error}\n{text}\n{machine}"));
        behave_alike(machine, &again.machine, &text, |state| {
            match machine.progress(state) {
                Progress::Accepted => "u_acc".to_owned(),
                Progress::Rejected => "u_rej".to_owned(),
                Progress::Running => format!("u{}", state.index()),
            }
        });
    }
}

/// What a writer wrote, unless the format cannot say it.
fn written(result: form_core::Result<String>) -> Option<String> {
    match result {
        Ok(text) => Some(text),
        Err(Error::Inexpressible { .. } | Error::Limit { .. }) => None,
        Err(error) => panic!("refused for another reason: {error}"),
    }
}

/// Both machines go through the same states with the same rewards; `name` is what a state of the left is called on the
/// right.
fn behave_alike(left: &Machine, right: &Machine, text: &str, name: impl Fn(StateId) -> String) {
    let signature = with_a_spare(left);
    let bind = |machine: &Machine| {
        (machine.bind(&signature))
            .unwrap_or_else(|error| panic!("does not bind: {error}\n{left}\n{text}\n{right}"))
    };
    let (left, right) = (bind(left), bind(right));
    for trace in fixed_traces(&signature) {
        let (mut run, mut other) = (Run::new(&left), Run::new(&right));
        for observation in &trace {
            let rewards = [
                run.step(&left, observation).reward,
                other.step(&right, observation).reward,
            ];
            let states = [
                name(run.state()),
                right.machine().state_name(other.state()).to_owned(),
            ];
            assert!(
                rewards[0] == rewards[1] && states[0] == states[1],
                "{states:?} {rewards:?} on {}\n{}\n{text}\n{}",
                signature.describe(observation),
                left.machine(),
                right.machine()
            );
        }
    }
}

/// The machine's own atoms and one that it does not know.
fn with_a_spare(machine: &Machine) -> Signature {
    let spare = Signature::parse(["spare(atom, atom, atom)"]).expect("an atom");
    machine.generic_signature().union(&spare)
}

/// Traces of sparse and of dense observations, always the same ones for the same signature.
fn fixed_traces(signature: &Signature) -> Vec<Vec<AtomSet>> {
    let mut state = 0x2545_f491_u32;
    let mut chance = move |of_16: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % 16 < of_16
    };
    // One atom at a time, in order: completes every `forall`.
    let mut traces = vec![
        signature
            .ids()
            .map(|id| AtomSet::from_iter([id]))
            .collect::<Vec<_>>(),
    ];
    for density in [1, 3, 8, 13, 1, 3, 8, 13] {
        let mut trace: Vec<AtomSet> = (0..12)
            .map(|_| signature.ids().filter(|_| chance(density)).collect())
            .collect();
        trace.retain(|observation| !observation.is_empty());
        trace.dedup();
        traces.push(trace);
    }
    traces
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
