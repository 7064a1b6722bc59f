//! What the laws of several crates share: reading an input, what a refusal must have, and traces to compare machines on.

use form_core::{AtomSet, Error, Machine, Signature};

/// Bounds on the machines whose meaning is tested: edges, nodes of formulae, observable atoms.
const MOST_EDGES: usize = 12;
const MOST_NODES: usize = 96;
const MOST_ATOMS: usize = 10;

/// The text of an input: as much of it as is UTF-8.
pub fn text_of(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// Through `.form` and through JSON the machine stays the same.
pub fn survives_its_files(machine: &Machine) {
    let form = machine.to_string();
    let again: Machine = (form.parse())
        .unwrap_or_else(|error| panic!("the .form text does not read back: {error}\n{form}"));
    assert_eq!(again, *machine, "through .form:\n{form}");
    let json = machine.to_json();
    let again = Machine::from_json(&json)
        .unwrap_or_else(|error| panic!("the JSON does not read back: {error}\n{json}"));
    assert_eq!(again, *machine, "through JSON:\n{json}");
}

/// The error has a message, and a place that lies in the text.
pub fn refused_well(error: &Error, text: &str) {
    let message = in_words(error);
    assert!(!message.trim().is_empty(), "an error without a message");
    let Some((line, column)) = error.position() else {
        panic!("an error without a place: {message}");
    };
    let lines: Vec<&str> = text.split('\n').collect();
    assert!(
        (1..=lines.len()).contains(&line),
        "line {line} of {}: {message}",
        lines.len()
    );
    let width = lines[line - 1].chars().count();
    assert!(
        (1..=width + 1).contains(&column),
        "column {column} of {width}: {message}"
    );
}

/// The message of an error and those of its sources, all of them rendered.
fn in_words(error: &Error) -> String {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        message += &format!("\n{error}");
        cause = error.source();
    }
    message
}

/// A text read as a `.form` file, if the machine is small enough to test its meaning.
pub fn small_machine(bytes: &[u8]) -> Option<Machine> {
    let machine: Machine = text_of(bytes).parse().ok()?;
    let nodes: usize = (machine.edges().iter())
        .map(|edge| edge.formula.nodes().len())
        .sum();
    let small = machine.edges().len() <= MOST_EDGES
        && nodes <= MOST_NODES
        && machine.generic_signature().len() <= MOST_ATOMS;
    small.then_some(machine)
}

/// Traces of sparse and of dense observations, always the same ones for the same signature.
pub fn fixed_traces(signature: &Signature) -> Vec<Vec<AtomSet>> {
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
