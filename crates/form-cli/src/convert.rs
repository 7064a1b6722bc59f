//! `form convert`: from one format of machine files to another.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;
use form_formats::{MachineFormat, ToroIcarteOptions, Unmatched, write_machine};
use serde_json::json;

use crate::{Answer, input, output};

/// Convert a machine file: .form, .json, and foreign .txt formats
///
/// The format of the input is detected by its content, that of the output by its extension; a .txt output needs --to. Nothing in a
/// file is ever evaluated. Notes on what a format leaves open go to standard error.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form convert examples/toro_icarte_coffee.txt coffee.form\n  form convert examples/reference_green_but_one.txt -\n  form convert examples/all_yellow.form all_yellow.txt --to reference"
)]
pub struct Args {
    /// The machine to convert: a file (`-` for standard input), or a task (see `form tasks`)
    input: PathBuf,
    /// The output file (`-` for standard output)
    output: PathBuf,
    /// The format of the output [default: by its extension]
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Format>,
    /// What an observation does that matches no edge of a state with a self-loop, in Toro Icarte's format
    ///
    /// In a state without a self-loop the machine stays.
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
    /// The text format of this project
    Form,
    /// The JSON of this project
    Json,
    /// The paper's reference code
    Reference,
    /// Toro Icarte et al.
    ToroIcarte,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Undefined {
    /// It leads to the rejecting state, as in the original code
    Reject,
    /// The machine stays in its state
    Stay,
}

pub fn run(args: &Args) -> Result<Answer> {
    if args.json && args.output == Path::new("-") {
        bail!("--json and the output `-` both want standard output");
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
        Some("txt") => {
            bail!("two formats have the extension .txt: give --to reference or --to toro-icarte")
        }
        _ => bail!("unknown extension of the output: use .form or .json, or give --to"),
    })
}
