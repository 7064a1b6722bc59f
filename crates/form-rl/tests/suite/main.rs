//! What the crate promises, seen from outside: one file a promise.

#![allow(clippy::unwrap_used, reason = "in a test it is the assertion")]

mod gradients;
mod inheritance;
mod normalisation;
mod ppo;
mod samples;
mod shapes;
mod sparse;
mod threads;
mod weights;
