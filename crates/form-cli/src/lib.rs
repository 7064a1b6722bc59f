//! The commands of the binary `form`: one file a subcommand, each a thin layer over the libraries.
//!
//! [`main_with`] is all there is to see: the binary calls it, and so does the Python package. A process calls it once, since it
//! may take over Ctrl-C, standard input and the threads.

mod bench;
mod check;
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
mod man;
mod output;
mod play;
mod record;
mod report;
mod reproduce;
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
    Play(play::Args),
    Train(train::Args),
    Eval(eval::Args),
    Transfer(transfer::Args),
    Report(report::Args),
    Reproduce(reproduce::Args),
    Bench(bench::Args),
    Doctor(doctor::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// What a command came to.
enum Answer {
    Yes,
    No,
}

/// Runs the command that the arguments, the first being the program's own name, ask for.
///
/// The exit code: 0 done, 1 the answer is "no", 2 bad input or usage.
pub fn main_with(args: impl IntoIterator<Item = OsString>) -> u8 {
    let asked = command()
        .try_get_matches_from(args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let code = match asked {
        Ok(cli) => run(&cli.command),
        Err(asked) => {
            // If even that cannot be written, there is nobody to tell.
            let _ = asked.print();
            u8::try_from(asked.exit_code()).unwrap_or(2)
        }
    };
    // A module of Python does not see the end of the process.
    let _ = std::io::stdout().flush();
    code
}

/// All commands and their options.
fn command() -> clap::Command {
    help::arranged(Cli::command())
}

fn run(command: &Command) -> u8 {
    let result = match command {
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
        Command::Play(args) => play::run(args),
        Command::Train(args) => train::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Transfer(args) => transfer::run(args),
        Command::Report(args) => report::run(args),
        Command::Reproduce(args) => reproduce::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    };
    match result {
        Ok(Answer::Yes) => 0,
        Ok(Answer::No) => 1,
        Err(error) => {
            output::remark(&format!("error: {}", output::message(&error)));
            2
        }
    }
}
