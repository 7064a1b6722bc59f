//! The integration tests of form-core, one binary.

mod arbitrary;
mod fuzz_laws;
mod laws;
mod regressions;
mod size;
