//! `form convert`: between the formats of machine files.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;
use form_formats::{MachineFormat, ToroIcarteOptions, Unmatched, write_machine};
use serde_json::json;

use crate::{Answer, input, output};

/// Convert a machine file: .form, .json, and the .txt formats of others
///
/// The format of the input is told from its content, that of the output from its name; for a .txt say which with --to.
/// Nothing in a file is ever evaluated. Remarks on what a format leaves open go to standard error.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form convert examples/toro_icarte_coffee.txt coffee.form\n  form convert examples/reference_green_but_one.txt -\n  form convert examples/all_yellow.form all_yellow.txt --to reference"
)]
pub struct Args {
    /// The machine to convert: a file (`-` for standard input), or a task (see `form tasks`)
    input: PathBuf,
    /// Where to write it (`-` for standard output)
    output: PathBuf,
    /// The output's format, if its name does not say it
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Format>,
    /// What an observation that no edge matches means in a state of Toro Icarte's format that has a self-loop
    ///
    /// A state without one stays where it is.
    #[arg(long, value_enum, default_value_t = Undefined::Reject, value_name = "WHAT")]
    undefined: Undefined,
    /// The machine's new name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print one JSON object about the conversion
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The project's own text format
    Form,
    /// The project's JSON
    Json,
    /// The paper's reference code
    Reference,
    /// Toro Icarte et al.
    ToroIcarte,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Undefined {
    /// The task has failed, as in the original code
    Reject,
    /// The machine stays where it is
    Stay,
}

pub fn run(args: &Args) -> Result<Answer> {
    if args.json && args.output == Path::new("-") {
        bail!("--json and an output of `-` both want standard output");
    }
    let unmatched = match args.undefined {
        Undefined::Reject => Unmatched::Reject,
        Undefined::Stay => Unmatched::Stay,
    };
    output::refuse_overwriting(&args.input, Some(&args.output))?;
    let (mut machine, notes) =
        input::machine_with_notes(&args.input, &ToroIcarteOptions { unmatched })?;
    if let Some(name) = &args.name {
        machine = machine.renamed(name)?;
    }
    let text = write_machine(&machine, format_of(args)?)
        .map_err(|error| error.in_file(&input::name(&args.input)))?;
    output::write(Some(&args.output), &text)?;
    for note in &notes {
        output::remark(&format!("note: {note}"));
    }
    if args.json {
        output::print_json(&json!({
            "machine": machine.name(),
            "states": machine.states().len(),
            "edges": machine.edges().len(),
            "output": args.output.display().to_string(),
            "notes": notes,
        }))?;
    }
    Ok(Answer::Yes)
}

fn format_of(args: &Args) -> Result<MachineFormat> {
    if let Some(format) = args.to {
        return Ok(match format {
            Format::Form => MachineFormat::Form,
            Format::Json => MachineFormat::Json,
            Format::Reference => MachineFormat::Reference,
            Format::ToroIcarte => MachineFormat::ToroIcarte,
        });
    }
    let extension = args
        .output
        .extension()
        .and_then(|extension| extension.to_str());
    Ok(match extension {
        Some("form") => MachineFormat::Form,
        Some("json") => MachineFormat::Json,
        None if args.output == Path::new("-") => MachineFormat::Form,
        Some("txt") => bail!("two formats end in .txt: say --to reference or --to toro-icarte"),
        _ => bail!(
            "the output's name does not say its format: end it in .form or .json, or give --to"
        ),
    })
}
