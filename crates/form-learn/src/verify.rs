//! What every machine is put through before anyone sees it, by code that knows nothing of how it was found.

use form_core::{BoundMachine, Overlap, check};

/// Two edges of a state with different targets that hold together, if there are any.
pub(crate) fn overlap(machine: &BoundMachine) -> Option<Overlap> {
    check(machine).overlaps.into_iter().next()
}
