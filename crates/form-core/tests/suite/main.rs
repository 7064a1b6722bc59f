//! The integration tests of form-core, one binary.

mod fuzz_laws;
mod regressions;
