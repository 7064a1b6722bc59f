//! Reading what commands are given: machines in any format, signatures, trace files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use form_core::{
    Converted, ForeignFormat, Machine, Signature, ToroIcarteOptions, TraceFile, detect,
    read_reference, read_signature, read_toro_icarte,
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
    let foreign = detect(&text);
    let read = match foreign {
        Some(ForeignFormat::Reference) => read_reference(&text),
        Some(ForeignFormat::ToroIcarte) => read_toro_icarte(&text, options),
        None => {
            let is_json = text.trim_start().starts_with('{');
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
    let Converted { mut machine, notes } =
        read.map_err(|error| error.in_file(&path.display().to_string()))?;
    // Foreign formats have no place for a name: the file's own, if it can be one.
    if let (Some(_), Some(stem)) = (foreign, path.file_stem().and_then(|stem| stem.to_str())) {
        machine = machine.clone().renamed(stem).unwrap_or(machine);
    }
    Ok((machine, notes))
}

/// The text of a file, or of standard input for `-`, without a byte order mark.
pub fn text(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin()
            .read_to_end(&mut bytes)
            .context("cannot read standard input")?;
    } else {
        open(path)?
            .read_to_end(&mut bytes)
            .with_context(|| format!("cannot read {}", path.display()))?;
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text
            .strip_prefix('\u{feff}')
            .map_or_else(|| text.clone(), str::to_owned)),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..good]
                .iter()
                .filter(|b| **b == b'\n')
                .count()
                + 1;
            bail!("{}:{line}: not UTF-8 text", path.display())
        }
    }
}

/// The signature for a command: the one given, else that of the trace files together.
pub fn signature(given: Option<&Path>, traces: &[PathBuf]) -> Result<Option<Signature>> {
    if let Some(path) = given {
        return Ok(Some(read_signature(
            &path.display().to_string(),
            open(path)?,
        )?));
    }
    let mut all: Option<Signature> = None;
    for path in traces {
        let signature = trace_file(path)?.signature()?;
        all = Some(all.map_or_else(|| signature.clone(), |all| all.union(&signature)));
    }
    Ok(all)
}

/// A trace file to be read.
pub fn trace_file(path: &Path) -> Result<TraceFile> {
    if path == Path::new("-") {
        return Ok(TraceFile::new("standard input", std::io::stdin())?);
    }
    Ok(TraceFile::new(&path.display().to_string(), open(path)?)?)
}

fn open(path: &Path) -> Result<File> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("{} is a folder, expected a file", path.display());
    }
    Ok(file)
}
