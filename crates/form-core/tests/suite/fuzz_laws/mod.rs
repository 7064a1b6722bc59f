//! What must hold of every input, however broken: the laws that the fuzz targets and the replay of kept inputs share.
//!
//! Each law panics when it is broken. An input that is refused must be refused with a message and a place that lies in
//! it; one that is accepted must survive being written and read again, and mean the same afterwards.

mod inputs;
mod machines;
mod traces;

use form_core::{Atom, AtomSet, Formula, Machine, Notation, Signature, satisfies};

use inputs::{refused_well, survives_its_files, text_of};
pub use machines::machine_semantics;
pub use traces::traces;

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

/// The most variables of a join whose substitutions the definition goes through.
const MOST_VARIABLES: u32 = 6;

fn compiled_agrees_with_definition(formula: &Formula) {
    let variables = formula.atoms().map(|atom| match atom {
        Atom::Ground(_) => 0,
        Atom::Quantified(atom) => atom.variables(),
    });
    if variables.max() > Some(MOST_VARIABLES) {
        return;
    }
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
