//! `form convert`: from one format of machine files to another, and from event logs to traces.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;
use form_core::{GroundAtom, Kind};
use form_formats::{
    EventLogOptions, MachineFormat, ToroIcarteOptions, Unmatched, read_csv_log, read_xes_log,
    write_machine,
};
use serde_json::json;

use crate::{Answer, input, output};

/// Convert a machine file (.form, .json, foreign .txt, .ltlf), or an event log (.csv, .xes) to traces
///
/// The format of the input is detected by its content, LTLf by the extension .ltlf, that of the output by its extension; a .txt output
/// needs --to. Nothing in a file is ever evaluated. Notes on what a format leaves open go to standard error.
///
/// Of an event log each case becomes a trace, and each event the atom of its activity over its objects; the options name the columns of
/// a .csv, or the attributes of a .xes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form convert examples/toro_icarte_coffee.txt coffee.form\n  form convert examples/reference_green_but_one.txt -\n  form convert examples/all_yellow.form all_yellow.txt --to reference\n  form convert examples/deliver.ltlf deliver.form"
)]
pub struct Args {
    /// The machine to convert: a file (`-` for standard input), or a task (see `form tasks`); or an event log
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
    /// Of an event log: the case of an event [default: `case`; in .xes the name of the trace]
    #[arg(long, value_name = "COLUMN")]
    case: Option<String>,
    /// Of an event log: the activity; one such as `pack(o17)` is an atom with its objects, unless --object is given
    /// [default: `activity`; in .xes the name of the event]
    #[arg(long, value_name = "COLUMN")]
    activity: Option<String>,
    /// Of an event log: an object of the event; several give the atom several arguments
    #[arg(long, value_name = "COLUMN")]
    object: Vec<String>,
    /// Of an event log: how the case ended; the last value counts
    #[arg(long, value_name = "COLUMN")]
    outcome: Option<String>,
    /// A value of the outcome that means `goal`
    #[arg(long, value_name = "VALUE", requires = "outcome")]
    goal: Vec<String>,
    /// A value of the outcome that means `dead-end`; all others mean `incomplete`
    #[arg(long, value_name = "VALUE", requires = "outcome")]
    dead_end: Vec<String>,
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
    let extension = args
        .input
        .extension()
        .and_then(|extension| extension.to_str());
    if let Some(log @ ("csv" | "xes")) = extension {
        let name = args.output.to_string_lossy();
        if name != "-" && !name.ends_with(".jsonl") && !name.ends_with(".jsonl.gz")
            || args.to.is_some()
        {
            bail!("an event log becomes traces: name an output that ends in .jsonl, without --to");
        }
        return convert_log(args, log == "xes");
    }
    let output = args.output.to_string_lossy();
    if output.ends_with(".jsonl") || output.ends_with(".jsonl.gz") {
        bail!(
            "{}: traces are made of event logs, and the extension of the input tells their format: name a file that ends in .csv or .xes",
            input::name(&args.input)
        );
    }
    let (mut machine, notes) =
        input::machine_with_notes(&args.input, &ToroIcarteOptions { unmatched })?;
    if let Some(name) = &args.name {
        machine = machine.renamed(name)?;
    }
    let text = write_machine(&machine, format_of(args)?)
        .map_err(|error| error.in_file(&input::name(&args.input)))?;
    output::write(Some(&args.output), &text)?;
    if args.output != Path::new("-") {
        let (path, size) = (args.output.display(), machine.describe_size());
        output::remark(&format!("{path}: {}, {size}", machine.name()));
    }
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

/// An event log as a trace file.
fn convert_log(args: &Args, xes: bool) -> Result<Answer> {
    let names = match xes {
        true => ["concept:name"; 2],
        false => ["case", "activity"],
    };
    let options = EventLogOptions {
        case: args.case.clone().unwrap_or_else(|| names[0].to_owned()),
        activity: args.activity.clone().unwrap_or_else(|| names[1].to_owned()),
        objects: args.object.clone(),
        outcome: args.outcome.clone(),
        goal: args.goal.clone(),
        dead_end: args.dead_end.clone(),
    };
    let name = input::name(&args.input);
    let text = input::text(&args.input)?;
    let log = match xes {
        true => read_xes_log(&name, text.as_bytes(), &options)?,
        false => read_csv_log(&name, text.as_bytes(), &options)?,
    };
    output::write(Some(&args.output), &log.to_jsonl())?;
    let number = |kind: Kind| log.cases.iter().filter(|case| case.1 == kind).count() as u64;
    let kinds = [Kind::Goal, Kind::DeadEnd, Kind::Incomplete].map(number);
    let atoms: BTreeSet<&GroundAtom> = log.cases.iter().flat_map(|case| &case.2).collect();
    output::remark_traces(&args.output, kinds, atoms.len());
    for note in &log.notes {
        output::remark(&format!("note: {note}"));
    }
    if args.json {
        output::print_json(&json!({
            "traces": log.cases.len(),
            "goal": kinds[0],
            "dead_end": kinds[1],
            "incomplete": kinds[2],
            "atoms": atoms.len(),
            "events": log.cases.iter().map(|(_, _, atoms)| atoms.len()).sum::<usize>(),
            "output": args.output.display().to_string(),
            "notes": log.notes,
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
