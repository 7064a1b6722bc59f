//! Rollouts: many worlds at once, the agents that act in them, and the trajectories that they learn from.

pub(crate) mod env_slot;
pub(crate) mod game;
pub(crate) mod game_config;
mod inference;
pub(crate) mod label_noise;
mod part;
pub(crate) mod play;
pub(crate) mod player;
#[cfg(test)]
mod tests;
