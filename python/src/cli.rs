//! `form_cli`: all commands of the binary `form`, for the entry points of the package.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs a command of the binary `form` and returns its exit code; `args` begins with the name of the program. It may be called
/// once in a process.
#[pyfunction]
pub fn run_command(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| form_cli::main_with(args))
}
