//! The laws that the fuzz targets check: those that the crates' tests replay kept inputs with, one source for both.

#[path = "../../crates/form-core/tests/suite/fuzz_laws/mod.rs"]
pub mod core_laws;

#[path = "../../crates/form-formats/tests/suite/fuzz_laws.rs"]
pub mod formats;

#[path = "../../crates/form-env/tests/suite/fuzz_laws.rs"]
pub mod tasks;
