//! `form completions`: the completion scripts of shells.

use anyhow::Result;
use clap_complete::{Shell, generate};

use crate::{Answer, output};

/// Print the completion script of a shell
///
/// Save the output where the shell looks for completions, or source it.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form completions bash > ~/.local/share/bash-completion/completions/form\n  form completions zsh > ~/.zfunc/_form\n  form completions fish > ~/.config/fish/completions/form.fish"
)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(args: &Args) -> Result<Answer> {
    let mut script = Vec::new();
    generate(args.shell, &mut crate::command(), "form", &mut script);
    output::write_bytes(None, &script)?;
    Ok(Answer::Yes)
}
