//! Integration tests of the instruments.

mod events;
mod summary;
mod tables;
