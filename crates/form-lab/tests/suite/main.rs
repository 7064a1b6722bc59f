//! Integration tests of the instruments.

mod display;
mod events;
mod summary;
mod tables;
