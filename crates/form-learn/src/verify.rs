//! The independent check of every learnt machine before it is returned: code of `form-core` that knows nothing of how the machine
//! was found.

use form_core::{BoundMachine, Trace, overlaps};

use crate::error::{Error, Result};

/// Fails if two edges of a state with different targets can hold together. A pair that is too large to decide passes: the encoding gives
/// every pair an atom that one edge needs and the other excludes.
pub(crate) fn is_deterministic(machine: &BoundMachine) -> Result<()> {
    match overlaps(machine).first() {
        None => Ok(()),
        Some(overlap) => Err(refuted(&format!("{overlap:?}"), machine)),
    }
}

/// Fails unless the machine agrees with all traces.
pub(crate) fn is_consistent(machine: &BoundMachine, traces: &[Trace]) -> Result<()> {
    for trace in traces {
        if let Some(wrong) = trace.disagreement(machine) {
            let line = trace.to_json(machine.signature());
            return Err(refuted(&format!("{wrong:?} on {line}"), machine));
        }
    }
    Ok(())
}

fn refuted(problem: &str, machine: &BoundMachine) -> Error {
    Error::Refuted {
        problem: format!("{problem} in\n{}", machine.machine()),
    }
}
