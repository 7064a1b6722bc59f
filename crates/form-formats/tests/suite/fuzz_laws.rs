//! What must hold of every input in a foreign format, however broken: the laws that the fuzz targets and the replay of kept
//! inputs share. Those of form-core hold here too, so its helpers are used.

#[path = "../../../form-core/tests/suite/fuzz_laws/inputs.rs"]
mod inputs;

use form_core::{Error, Machine, MachineStatus, Run, Signature, StateId};
use form_formats::{
    MachineFormat, ToroIcarteOptions, Unmatched, read_ltlf, read_reference, read_toro_icarte,
    write_reference, write_toro_icarte,
};

use inputs::{fixed_traces, refused_well, small_machine, survives_its_files, text_of};

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
    for unmatched in [Unmatched::Stay, Unmatched::Reject] {
        match read_toro_icarte(text, &ToroIcarteOptions { unmatched }) {
            Err(error) => refused_well(&error, text),
            Ok(read) => {
                survives_its_files(&read.machine);
                survives_toro_icarte(&read.machine);
            }
        }
    }
}

/// A text read as a formula of LTLf.
pub fn ltlf(bytes: &[u8]) {
    let text = text_of(bytes);
    match read_ltlf(text) {
        // What is too large has no place.
        Err(Error::Limit { .. }) => {}
        Err(error) => refused_well(&error, text),
        Ok(read) => survives_its_files(&read.machine),
    }
}

/// A text read as a small `.form` file: the foreign formats keep its behaviour.
pub fn machine_semantics(bytes: &[u8]) {
    if let Some(machine) = small_machine(bytes) {
        survives_reference(&machine);
        survives_toro_icarte(&machine);
    }
}

fn survives_reference(machine: &Machine) {
    let Some(text) = written(write_reference(machine)) else {
        return;
    };
    assert_eq!(
        MachineFormat::detect(&text),
        MachineFormat::Reference,
        "{text}"
    );
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
    assert_eq!(
        MachineFormat::detect(&text),
        MachineFormat::ToroIcarte,
        "{text}"
    );
    for unmatched in [Unmatched::Stay, Unmatched::Reject] {
        let again = read_toro_icarte(&text, &ToroIcarteOptions { unmatched })
            .unwrap_or_else(|error| panic!("does not read back: {error}\n{text}\n{machine}"));
        // A file may need `steps all`; what is compared are the edges.
        let again = again.machine.with_step_mode(machine.step_mode());
        behave_alike(machine, &again, &text, |state| {
            match machine.status(state) {
                MachineStatus::Accepted => "u_acc".to_owned(),
                MachineStatus::Rejected => "u_rej".to_owned(),
                MachineStatus::Running => format!("u{}", state.index()),
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
