//! The binary `form`: one file a subcommand, each a thin layer over the libraries.
//!
//! Exit codes: 0 done, 1 the answer is "no", 2 bad input or usage.

mod bench;
mod check;
mod convert;
mod diff;
mod draw;
mod eval;
mod follow;
mod ground;
mod input;
mod learn;
mod output;
mod play;
mod record;
mod report;
mod reproduce;
mod show;
mod tasks;
mod traces;
mod train;
mod transfer;
mod world;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// First-order reward machines: learn, check, draw, ground, compare and convert them, walk their worlds, and train policies with them.
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
}

/// What a command came to.
enum Answer {
    Yes,
    No,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
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
    };
    match result {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(error) => {
            output::remark(&format!("error: {}", output::message(&error)));
            ExitCode::from(2)
        }
    }
}
