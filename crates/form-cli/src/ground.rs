//! `form ground`: the equivalent propositional machine.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use form_core::{GroundObservations, GroundOptions, ground};
use serde_json::json;

use crate::{Answer, input, output};

/// Ground a machine: the equivalent propositional machine
///
/// Each state is split by the set of atoms that have been observed of those that a `forall` waits for.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form ground examples/all_yellow.form --signature examples/all_yellow.jsonl --observations single\n  form ground all-yellow -o ground.form"
)]
pub struct Args {
    /// The machine: .form, .json, a .txt of the reference code or of Toro Icarte, or a task (see `form tasks`)
    machine: PathBuf,
    /// The observable atoms: a trace file, a list of atoms (one per line), or a task; needed unless the machine is that of a task
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// The observations for which the result is equivalent
    #[arg(long, value_enum, default_value_t = Which::All)]
    observations: Which,
    /// The maximum number of edges
    #[arg(long, value_name = "N", default_value_t = GroundOptions::default().max_edges, value_parser = input::whole::<usize>)]
    max_edges: usize,
    /// Write the machine to a file (.form or .json)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Every set of atoms
    All,
    /// One atom at a time, as in the paper's figures
    Single,
}

pub fn run(args: &Args) -> Result<Answer> {
    if args.json && args.output.as_deref() == Some(Path::new("-")) {
        bail!("--json and `-o -` both want standard output");
    }
    output::refuse_overwriting(&args.machine, args.output.as_deref())?;
    let machine = input::machine(&args.machine)?;
    let signature = match input::signature(args.signature.as_deref(), &[])? {
        Some(signature) => Some(signature),
        None => input::signature_of_tasks(&[&args.machine])?,
    };
    let signature = signature.context(
        "the observable atoms are unknown: give --signature with a trace file, a list of atoms, or a task",
    )?;
    let bound = input::bind(&machine, &args.machine, &signature, true)?;
    let observations = match args.observations {
        Which::All => GroundObservations::All,
        Which::Single => GroundObservations::Single,
    };
    let options = GroundOptions {
        observations,
        max_edges: args.max_edges,
    };
    let grounded = match ground(&bound, &options) {
        Ok(grounded) => grounded,
        Err(error) => return output::over_limit(error, args.json),
    };
    if args.output.is_some() || !args.json {
        output::write(
            args.output.as_deref(),
            &output::machine_text(&grounded, args.output.as_deref())?,
        )?;
    }
    if args.json {
        let machine: serde_json::Value = serde_json::from_str(&grounded.to_json())?;
        output::print_json(&json!({
            "states": grounded.states().len(),
            "edges": grounded.edges().len(),
            "machine": machine,
        }))?;
    }
    output::remark(&format!(
        "{} (grounded from {})",
        grounded.describe_size(),
        machine.describe_size(),
    ));
    Ok(Answer::Yes)
}
