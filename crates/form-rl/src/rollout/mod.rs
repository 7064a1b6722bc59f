//! Playing: many worlds at once, agents that take turns in them, and what there is to learn from it.

pub(crate) mod desk;
pub(crate) mod experience;
pub(crate) mod game;
pub(crate) mod play;
pub(crate) mod player;
pub(crate) mod rules;
#[cfg(test)]
mod trials;
