//! The integration tests of form-cli, one binary.

mod architecture;
#[cfg(target_os = "linux")]
mod memory;
