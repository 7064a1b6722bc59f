//! `form_cli`: all commands of the binary `form`, for the entry points of the package.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

/// Runs a command of the binary `form` and returns its exit code; `args` begins with the name of the program. It may be called
/// once in a process. An error is printed, or written to the file `errors` instead if it can be.
#[pyfunction]
#[pyo3(signature = (args, errors=None))]
pub fn run_command(py: Python<'_>, args: Vec<OsString>, errors: Option<PathBuf>) -> u8 {
    py.detach(|| match errors {
        None => form_cli::main_with(args),
        Some(place) => match form_cli::answer(args) {
            Ok(code) => code,
            Err(error) => {
                if std::fs::write(&place, form_cli::message(&error)).is_err() {
                    form_cli::show(&error);
                }
                2
            }
        },
    })
}
