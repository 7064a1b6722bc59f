//! The integration tests of form-core, one binary.

mod arbitrary;
mod asp;
mod drawing;
mod fuzz_laws;
mod laws;
mod machines;
mod regressions;
mod size;
