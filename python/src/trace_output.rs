//! Traces written to a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use form_core::{StepMode, trace_header};
use pyo3::prelude::*;

use crate::errors;
use crate::files;
use crate::logic::{Signature, SignatureLike};
use crate::trace_input::each_trace;

/// Writes traces as JSON Lines, gzipped if the name ends in `.gz`; the first line declares the signature, if one is given.
/// Traces are what `learn` takes. Returns how many there were.
#[pyfunction]
#[pyo3(signature = (path, traces, signature=None))]
pub fn write_traces(
    path: PathBuf,
    traces: &Bound<'_, PyAny>,
    signature: Option<SignatureLike>,
) -> PyResult<usize> {
    let signature = signature.as_ref().map(SignatureLike::get);
    let failed = |error: std::io::Error| errors::file(&path, &error);
    let gzipped = path.extension().is_some_and(|extension| extension == "gz");
    files::replace(&path, |file| {
        let mut out = if gzipped {
            Out::Gzipped(GzEncoder::new(file, Compression::default()))
        } else {
            Out::Plain(file)
        };
        let mut mode = None;
        let mut count = 0;
        each_trace(traces, signature, &mut |trace, _| {
            if mode.is_none() {
                header(&mut out, signature, trace.trace.step_mode()).map_err(failed)?;
            }
            let known = *mode.get_or_insert(trace.trace.step_mode());
            (trace.trace.step_mode())
                .must_be(known, "a trace", "the first trace")
                .map_err(|error| errors::core(&error))?;
            let line = match signature {
                Some(signature) => trace
                    .over(&signature.signature)?
                    .to_json(&signature.signature),
                None => trace.to_json(),
            };
            out.line(&line).map_err(failed)?;
            count += 1;
            Ok(())
        })?;
        if mode.is_none() {
            header(&mut out, signature, StepMode::Changes).map_err(failed)?;
        }
        out.finish().map_err(failed)?;
        Ok(count)
    })
}

/// The first line of a file, if it has something to say.
fn header(out: &mut Out<'_>, signature: Option<&Signature>, mode: StepMode) -> std::io::Result<()> {
    match (signature, mode) {
        (Some(signature), mode) => out.line(&trace_header(&signature.signature, mode)),
        (None, StepMode::All) => out.line("{\"steps\":\"all\"}"),
        (None, StepMode::Changes) => Ok(()),
    }
}

/// A trace file being written.
enum Out<'a> {
    Plain(&'a mut BufWriter<File>),
    Gzipped(GzEncoder<&'a mut BufWriter<File>>),
}

impl Out<'_> {
    fn line(&mut self, line: &str) -> std::io::Result<()> {
        match self {
            Self::Plain(out) => writeln!(out, "{line}"),
            Self::Gzipped(out) => writeln!(out, "{line}"),
        }
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Gzipped(out) => out.finish().map(drop),
        }
    }
}
