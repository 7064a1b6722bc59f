//! The laws that the fuzz targets check: those that form-core's tests replay kept inputs with, one source for both.

#[path = "../../crates/form-core/tests/suite/fuzz_laws/mod.rs"]
pub mod laws;
