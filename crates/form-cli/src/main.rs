//! The binary `form`; its commands are in the library beside it, which the Python package calls too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(form_cli::main_with(std::env::args_os()))
}
