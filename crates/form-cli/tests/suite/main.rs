//! The integration tests of form-cli, one binary.

mod architecture;
