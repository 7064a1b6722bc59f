//! The independent check of every learnt machine before it is returned: code of `form-core` that knows nothing of how the machine
//! was found.

use form_core::{BoundMachine, Trace, check_determinism};

use crate::error::{Error, Result};

/// Fails unless no two edges of a state with different targets can hold together.
pub(crate) fn is_deterministic(machine: &BoundMachine) -> Result<()> {
    match check_determinism(machine).overlaps.first() {
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
