//! The commands of the binary `form`: one file per subcommand, each a thin layer over the libraries.
//!
//! Three features, on by default, are commands that the Python package does without: `experiments` (`reproduce`, `bench`), `screen` (`play`)
//! and `shell` (`completions`, `man`).
//!
//! [`main_with`] and [`answer`], which leaves errors to the caller, [`message`] and [`show`], are the whole API: the binary and the Python package call it. A
//! process may call one of the first two once, because it takes over Ctrl-C, standard input and the thread pool.

#[cfg(feature = "experiments")]
mod bench;
mod browser;
mod check;
#[cfg(feature = "shell")]
mod completions;
mod convert;
mod diff;
mod doctor;
mod draw;
mod eval;
mod ground;
mod help;
mod input;
mod learn;
#[cfg(feature = "shell")]
mod man;
mod object_counts;
mod output;
#[cfg(feature = "screen")]
mod play;
mod pretrain;
mod record;
mod report;
#[cfg(feature = "experiments")]
mod reproduce;
mod run;
mod show;
mod tasks;
mod traces;
mod train;
mod train_loop;
mod transfer;
mod world;

use std::ffi::OsString;
use std::io::Write;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// The command-line tool for first-order reward machines
#[derive(Parser)]
#[command(name = "form", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Learn(learn::Args),
    Check(check::Args),
    Show(show::Args),
    Convert(convert::Args),
    Ground(ground::Args),
    Diff(diff::Args),
    Traces(traces::Args),
    Tasks(tasks::Args),
    Draw(draw::Args),
    Record(record::Args),
    #[cfg(feature = "screen")]
    Play(play::Args),
    Run(run::Args),
    Train(train::Args),
    Pretrain(pretrain::Args),
    Eval(eval::Args),
    Transfer(transfer::Args),
    Report(report::Args),
    #[cfg(feature = "experiments")]
    Reproduce(reproduce::Args),
    #[cfg(feature = "experiments")]
    Bench(bench::Args),
    Doctor(doctor::Args),
    #[cfg(feature = "shell")]
    Completions(completions::Args),
    #[cfg(feature = "shell")]
    Man(man::Args),
}

/// The answer of a command, which decides the exit code.
enum Answer {
    /// Exit code 0.
    Yes,
    /// Exit code 1.
    No,
}

/// Runs the command of these arguments; the first one is the name of the program.
///
/// The exit code: 0 done, 1 the answer is "no", 2 bad input or usage.
pub fn main_with(args: impl IntoIterator<Item = OsString>) -> u8 {
    answer(args).unwrap_or_else(|error| {
        show(&error);
        2
    })
}

/// Prints an error of [`answer`] as [`main_with`] does.
pub fn show(error: &anyhow::Error) {
    match error.downcast_ref::<clap::Error>() {
        // Standard error may be closed.
        Some(usage) => drop(usage.print()),
        None => output::remark(&format!("error: {}", output::message(error))),
    }
}

/// Runs the command of these arguments. The exit code is 0 or 1: bad input or usage is an error.
pub fn answer(args: impl IntoIterator<Item = OsString>) -> anyhow::Result<u8> {
    let asked = command()
        .try_get_matches_from(args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let answer = match asked {
        Ok(cli) => run(&cli.command),
        Err(usage) if usage.use_stderr() => Err(usage.into()),
        // Help, or the version.
        Err(asked) => {
            let _ = asked.print();
            Ok(Answer::Yes)
        }
    };
    // In Python, the process does not end here.
    let _ = std::io::stdout().flush();
    answer.map(|answer| match answer {
        Answer::Yes => 0,
        Answer::No => 1,
    })
}

/// All commands and their options.
fn command() -> clap::Command {
    help::grouped(Cli::command())
}

fn run(command: &Command) -> anyhow::Result<Answer> {
    match command {
        Command::Learn(args) => learn::run(args),
        Command::Check(args) => check::run(args),
        Command::Show(args) => show::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Ground(args) => ground::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Traces(args) => traces::run(args),
        Command::Tasks(args) => tasks::run(args),
        Command::Draw(args) => draw::run(args),
        Command::Record(args) => record::run(args),
        #[cfg(feature = "screen")]
        Command::Play(args) => play::run(args),
        Command::Run(args) => run::run(args),
        Command::Train(args) => train::run(args),
        Command::Pretrain(args) => pretrain::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Transfer(args) => transfer::run(args),
        Command::Report(args) => report::run(args),
        #[cfg(feature = "experiments")]
        Command::Reproduce(args) => reproduce::run(args),
        #[cfg(feature = "experiments")]
        Command::Bench(args) => bench::run(args),
        Command::Doctor(args) => doctor::run(args),
        #[cfg(feature = "shell")]
        Command::Completions(args) => completions::run(args),
        #[cfg(feature = "shell")]
        Command::Man(args) => man::run(args),
    }
}

/// An error of [`answer`] as [`main_with`] prints it, without `error: ` and hints.
pub fn message(error: &anyhow::Error) -> String {
    let Some(usage) = error.downcast_ref::<clap::Error>() else {
        return output::message(error);
    };
    let text = usage.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let hint = text.find("\n\nFor more information").unwrap_or(text.len());
    text[..hint].trim_end().to_owned()
}
