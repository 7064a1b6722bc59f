//! Integration tests of the public interface, one file per property.

#![allow(clippy::unwrap_used, reason = "in a test it is the assertion")]

mod checkpoint;
mod corridor;
mod game;
mod gradients;
mod grid;
mod inheritance;
mod learning;
mod normalisation;
mod observation_encoder;
mod ppo;
mod reach_avoid;
mod resume;
mod samples;
mod shapes;
mod sparse;
mod tabular;
mod threads;
mod weights;
