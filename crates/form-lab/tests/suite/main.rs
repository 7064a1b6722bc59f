//! Integration tests of the instruments.

mod events;
mod tables;
