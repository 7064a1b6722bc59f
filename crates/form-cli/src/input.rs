//! Reading what commands are given: machines in any format, signatures, trace files.

use std::fs::File;
use std::io::{Cursor, Read, Stdin};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, bail};
use form_core::{
    BoundMachine, Converted, ForeignFormat, Machine, Signature, ToroIcarteOptions, TraceFile,
    detect, read_reference, read_signature, read_toro_icarte,
};

use crate::output;

/// A machine file in any format that is read: `.form`, JSON, or one of the formats of others.
pub fn machine(path: &Path) -> Result<Machine> {
    let (machine, notes) = machine_with_notes(path, &ToroIcarteOptions::default())?;
    for note in notes {
        output::remark(&format!("note: {note}"));
    }
    Ok(machine)
}

/// The machine, and what a reader of a foreign format should know.
pub fn machine_with_notes(
    path: &Path,
    options: &ToroIcarteOptions,
) -> Result<(Machine, Vec<String>)> {
    let text = text(path)?;
    let is_json = text.trim_start().starts_with('{')
        || path
            .extension()
            .is_some_and(|extension| extension == "json");
    let foreign = if is_json { None } else { detect(&text) };
    let read = match foreign {
        Some(ForeignFormat::Reference) => read_reference(&text),
        Some(ForeignFormat::ToroIcarte) => read_toro_icarte(&text, options),
        None => {
            let machine = if is_json {
                Machine::from_json(&text)
            } else {
                text.parse()
            };
            machine.map(|machine| Converted {
                machine,
                notes: Vec::new(),
            })
        }
    };
    let Converted { mut machine, notes } = read.map_err(|error| error.in_file(&name(path)))?;
    // Foreign formats have no place for a name: the file's own, if it can be one.
    if let (Some(_), Some(stem)) = (foreign, path.file_stem().and_then(|stem| stem.to_str())) {
        machine = machine.clone().renamed(stem).unwrap_or(machine);
    }
    Ok((machine, notes))
}

/// The machine bound to a signature; an error says what the signature lacks and where to add it.
///
/// The signature stands in a file of its own if `listed`, else it is that of the traces.
pub fn bind(
    machine: &Machine,
    path: &Path,
    signature: &Signature,
    listed: bool,
) -> Result<BoundMachine> {
    machine.bind(signature).map_err(|error| {
        let hint = if listed {
            "extend the signature file"
        } else {
            "declare what can be observed with --signature, or in the first line of the trace file"
        };
        anyhow::Error::from(error.in_file(&name(path)))
            .context(format!("the machine does not fit the signature ({hint})"))
    })
}

/// The text of a file, or of standard input for `-`, without a byte order mark.
pub fn text(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let read = if is_standard_input(path) {
        standard_input()?.read_to_end(&mut bytes)
    } else {
        open(path)?.read_to_end(&mut bytes)
    };
    read.with_context(|| format!("cannot read {}", name(path)))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text
            .strip_prefix('\u{feff}')
            .map_or_else(|| text.clone(), str::to_owned)),
        Err(error) => {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let good = String::from_utf8_lossy(good);
            let line = good.matches('\n').count() + 1;
            let column = good.chars().rev().take_while(|c| *c != '\n').count() + 1;
            bail!(
                "{}:{line}:{column}: not UTF-8 text, as machine files are",
                name(path)
            )
        }
    }
}

/// The signature for a command: the one given, else that of the trace files together.
pub fn signature(given: Option<&Path>, traces: &[PathBuf]) -> Result<Option<Signature>> {
    if let Some(path) = given {
        let signature = if is_standard_input(path) {
            read_signature(&name(path), standard_input()?)
        } else {
            read_signature(&name(path), open(path)?)
        };
        return Ok(Some(signature?));
    }
    let mut all: Option<Signature> = None;
    for path in traces {
        if is_standard_input(path) {
            keep_standard_input()?;
        }
        let signature = trace_file(path)?.signature()?;
        all = Some(all.map_or_else(|| signature.clone(), |all| all.union(&signature)));
    }
    Ok(all)
}

/// A trace file to be read, or standard input for `-`.
pub fn trace_file(path: &Path) -> Result<TraceFile> {
    let name = name(path);
    Ok(if !is_standard_input(path) {
        TraceFile::new(&name, open(path)?)?
    } else if let Some(bytes) = KEPT.get() {
        TraceFile::new(&name, Cursor::new(bytes.clone()))?
    } else {
        TraceFile::new(&name, standard_input()?)?
    })
}

/// What messages call the file.
pub fn name(path: &Path) -> String {
    if is_standard_input(path) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// The bytes of standard input where they are needed twice, for the signature and for the traces.
static KEPT: OnceLock<Arc<[u8]>> = OnceLock::new();

fn keep_standard_input() -> Result<()> {
    let mut bytes = Vec::new();
    (standard_input()?.read_to_end(&mut bytes)).context("cannot read standard input")?;
    KEPT.get_or_init(|| bytes.into());
    Ok(())
}

/// Standard input, for the one who asks first: whoever came next would find it empty.
fn standard_input() -> Result<Stdin> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::Relaxed) {
        bail!("standard input can be read only once: name a file in place of all `-` but one");
    }
    Ok(std::io::stdin())
}

fn open(path: &Path) -> Result<File> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("{} is a folder, expected a file", path.display());
    }
    Ok(file)
}
