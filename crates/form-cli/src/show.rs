//! `form show`: print or draw a machine.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use form_core::{Machine, Signature, to_dot, to_mermaid, to_svg, to_text};
use form_formats::{read_ltlf, to_asp, trace_to_asp};

use crate::{Answer, input, output};

/// Print or draw a machine: text, JSON, DOT, Mermaid, SVG, or the paper's ASP encoding
///
/// The ASP program derives `accepted` or `rejected` for the trace of --trace; clingo runs it.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form show examples/all_yellow.form\n  form show green-but-one -o green.svg\n  form show examples/all_yellow.form --format asp --trace examples/all_yellow.jsonl:2 | clingo\n  form show 'F(a & F b)' --ltlf"
)]
pub struct Args {
    /// The machine: .form, .json, .ltlf, a .txt of the reference code or of Toro Icarte, or a task (see `form tasks`)
    machine: PathBuf,
    /// The machine is a formula of LTLf, typed here: the smallest machine that accepts where it first holds
    #[arg(long)]
    ltlf: bool,
    /// The format [default: by the extension of the output file, else text]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// For ASP: the observable atoms (a trace file, a list of atoms with one per line, or a task)
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// For ASP: the facts of one trace, given as a line of a trace file
    #[arg(long, value_name = "FILE:LINE")]
    trace: Option<String>,
    /// Print the machine as one JSON object, as --format json does
    #[arg(long, conflicts_with_all = ["format", "output"])]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// States and edges in the paper's notation
    Text,
    /// JSON
    Json,
    /// The DOT language of Graphviz
    Dot,
    /// A Mermaid state diagram
    Mermaid,
    /// A picture
    Svg,
    /// An answer set program, the paper's encoding
    Asp,
}

pub fn run(args: &Args) -> Result<Answer> {
    let machine = match args.ltlf {
        true => formula(&args.machine)?,
        false => {
            output::refuse_overwriting(&args.machine, args.output.as_deref())?;
            input::machine(&args.machine)?
        }
    };
    let format = match args.format {
        Some(format) => format,
        None if args.json => Format::Json,
        None => format_of(args.output.as_deref())?,
    };
    if format != Format::Asp && (args.signature.is_some() || args.trace.is_some()) {
        bail!("--signature and --trace go with --format asp");
    }
    let text = match format {
        Format::Text => to_text(&machine),
        Format::Json => machine.to_json(),
        Format::Dot => to_dot(&machine),
        Format::Mermaid => to_mermaid(&machine),
        Format::Svg => to_svg(&machine),
        Format::Asp => asp(args, &machine)?,
    };
    output::write(args.output.as_deref(), &text)?;
    Ok(Answer::Yes)
}

/// The machine of a formula of LTLf.
fn formula(text: &Path) -> Result<Machine> {
    let read = read_ltlf(&text.to_string_lossy())?;
    for note in read.notes {
        output::remark(&format!("note: {note}"));
    }
    Ok(read.machine)
}

fn format_of(output: Option<&Path>) -> Result<Format> {
    let Some(path) = output.filter(|path| *path != Path::new("-")) else {
        return Ok(Format::Text);
    };
    Ok(
        match path
            .extension()
            .map(std::ffi::OsStr::to_ascii_lowercase)
            .as_deref()
            .and_then(|e| e.to_str())
        {
            Some("txt") => Format::Text,
            Some("json") => Format::Json,
            Some("dot" | "gv") => Format::Dot,
            Some("mmd" | "mermaid") => Format::Mermaid,
            Some("svg") => Format::Svg,
            Some("lp" | "asp") => Format::Asp,
            _ => bail!(
                "{}: unknown extension: use .txt, .json, .dot, .mmd, .svg or .lp, or give --format",
                path.display()
            ),
        },
    )
}

fn asp(args: &Args, machine: &Machine) -> Result<String> {
    let traced = args.trace.as_deref().map(split_line).transpose()?;
    let given = args
        .signature
        .as_deref()
        .or(traced.as_ref().map(|(path, _)| path.as_path()));
    let signature = match input::signature(given, &[])? {
        Some(signature) => Some(signature),
        None if args.ltlf => None,
        None => input::signature_of_tasks(&[&args.machine])?,
    };
    if let Some(signature) = &signature {
        input::bind(machine, &args.machine, signature, args.signature.is_some())?;
    }
    let mut program = to_asp(machine, signature.as_ref());
    if let Some((path, line)) = traced {
        program += &trace_facts(&path, line, &signature.unwrap_or_default())?;
    }
    Ok(program)
}

fn trace_facts(path: &Path, line: usize, signature: &Signature) -> Result<String> {
    let trace = input::trace_file(path)?
        .trace_on_line(line, signature)?
        .with_context(|| format!("{} has no trace on line {line}", path.display()))?;
    Ok(trace_to_asp(trace.steps(), signature))
}

/// `FILE:LINE`
fn split_line(text: &str) -> Result<(PathBuf, usize)> {
    let (path, line) = text.rsplit_once(':').unwrap_or_default();
    match line.parse() {
        Ok(line) if !path.is_empty() => Ok((path.into(), line)),
        _ => bail!("`{text}`: expected FILE:LINE, as in traces.jsonl:3"),
    }
}
