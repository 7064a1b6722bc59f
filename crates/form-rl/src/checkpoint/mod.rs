//! Checkpoints: all that is needed to go on, or to start elsewhere with what was learnt.

pub(crate) mod bundle;
#[allow(
    clippy::module_inception,
    reason = "a checkpoint is what the room is about"
)]
pub(crate) mod checkpoint;
pub(crate) mod standing;
