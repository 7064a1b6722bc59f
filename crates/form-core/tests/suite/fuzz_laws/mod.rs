//! What must hold of every input, however broken: the laws that the fuzz targets and the replay of kept inputs share.
//!
//! Each law panics when it is broken. An input that is refused must be refused with a message and a place that lies in
//! it; one that is accepted must survive being written and read again, and mean the same afterwards.

mod machines;
mod traces;

use form_core::{AtomSet, Error, Formula, Machine, Notation, Signature, satisfies};

pub use machines::{foreign_reference, foreign_toro_icarte, machine_semantics};
pub use traces::traces;

/// The text of an input: as much of it as is UTF-8.
fn text_of(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// A text read as a formula: both notations read back as the same formula, and where it binds, the compiled form
/// agrees with Definition 3.3.
pub fn formula(bytes: &[u8]) {
    let text = text_of(bytes);
    match text.parse::<Formula>() {
        Err(error) => refused_well(&error, text),
        Ok(formula) => {
            for notation in [Notation::Ascii, Notation::Unicode] {
                let written = formula.display(notation).to_string();
                let again: Formula = (written.parse())
                    .unwrap_or_else(|error| panic!("{written:?} does not read back: {error}"));
                assert_eq!(again, formula, "{notation:?}: {written:?}");
            }
            compiled_agrees_with_definition(&formula);
        }
    }
}

/// A text read as a `.form` file: it survives `.form` and JSON.
pub fn machine_form(bytes: &[u8]) {
    let text = text_of(bytes);
    match text.parse::<Machine>() {
        Err(error) => refused_well(&error, text),
        Ok(machine) => survives_its_files(&machine),
    }
}

/// A text read as the JSON of a machine: it survives JSON and `.form`.
pub fn machine_json(bytes: &[u8]) {
    let text = text_of(bytes);
    match Machine::from_json(text) {
        Err(error) => refused_well(&error, text),
        Ok(machine) => survives_its_files(&machine),
    }
}

fn survives_its_files(machine: &Machine) {
    let form = machine.to_string();
    let again: Machine = (form.parse())
        .unwrap_or_else(|error| panic!("the .form text does not read back: {error}\n{form}"));
    assert_eq!(again, *machine, "through .form:\n{form}");
    let json = machine.to_json();
    let again = Machine::from_json(&json)
        .unwrap_or_else(|error| panic!("the JSON does not read back: {error}\n{json}"));
    assert_eq!(again, *machine, "through JSON:\n{json}");
}

fn refused_well(error: &Error, text: &str) {
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

/// The atoms that formulae are evaluated over; the seeds and dictionaries of the fuzzer name them too.
const ATOMS: [&str; 8] = [
    "goal",
    "lava",
    "yellow(o0)",
    "yellow(o1)",
    "blue(o4)",
    "on(a, a)",
    "on(a, b)",
    "on(b, a)",
];

fn compiled_agrees_with_definition(formula: &Formula) {
    let signature = Signature::parse(ATOMS).expect("the atoms are well formed");
    let machine = Machine::builder("one_edge")
        .initial("u0")
        .accept("u1")
        .edge_with("u0", "u1", formula.clone(), None)
        .build()
        .expect("one edge into the accepting state is a machine");
    let Ok(bound) = machine.bind(&signature) else {
        return;
    };
    for buffer in buffers(&signature) {
        let newest = buffer.last().cloned().unwrap_or_default();
        let mut seen = AtomSet::new();
        for observation in &buffer {
            seen.union_with(observation);
        }
        let compiled = bound.choose(machine.initial(), &newest, &seen).is_some();
        let defined = satisfies(&buffer, formula, &signature);
        let shown: Vec<String> = buffer.iter().map(|o| signature.describe(o)).collect();
        assert_eq!(compiled, defined, "`{formula}` over {}", shown.join(", "));
    }
}

/// Sparse, dense and full buffers of one to three observations, always the same ones.
fn buffers(signature: &Signature) -> Vec<Vec<AtomSet>> {
    let mut state = 0x9e37_79b9_u32;
    let mut bits = move || {
        // Xorshift: any sequence will do, as long as it never changes.
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..24)
        .map(|i| {
            (0..=i % 3)
                .map(|_| {
                    let mask = match i % 4 {
                        0 => bits() & bits(),
                        1 => bits(),
                        2 => bits() | bits(),
                        _ => bits() | bits() | bits() | bits(),
                    };
                    let chosen = |id: &form_core::AtomId| mask >> id.index() & 1 == 1;
                    signature.ids().filter(chosen).collect()
                })
                .collect()
        })
        .collect()
}
