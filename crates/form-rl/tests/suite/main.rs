//! What the crate promises, seen from outside: one file a promise.

mod gradients;
mod samples;
mod shapes;
mod threads;
