//! Integration tests of the instruments.

mod tables;
