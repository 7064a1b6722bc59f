//! Traces as Python programs have them at hand: objects, pairs, dictionaries of JSON lines, files by name or open, and collections
//! of all of these.

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;

use form_core::TraceFile;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::errors;
use crate::logic::{Signature, texts, type_name};
use crate::trace::Trace;
use crate::trace_file::TraceReader;

/// Hands over all traces that a Python value stands for, one after the other: a file's name, an open file, or any collection of
/// traces and files. Returns the atoms that files and lines declare.
pub fn each_trace(
    value: &Bound<'_, PyAny>,
    signature: Option<&Signature>,
    take: &mut dyn FnMut(Trace) -> PyResult<()>,
) -> PyResult<form_core::Signature> {
    if let Some(reader) = file(value, signature)? {
        return each_of_file(value.py(), reader, take);
    }
    if value.is_instance_of::<Trace>() || value.is_instance_of::<PyDict>() {
        return Err(errors::wrong_type(
            "expected traces as a collection or a file, not a single trace: write [trace]"
                .to_owned(),
        ));
    }
    let items = value.try_iter().map_err(|_| {
        errors::wrong_type(format!(
            "expected traces as a collection or a file, not {}",
            type_name(value)
        ))
    })?;
    let mut declared = form_core::Signature::default();
    for item in items {
        let item = item?;
        let more = match (file(&item, signature)?, declaration(&item)?) {
            (Some(reader), _) => Some(each_of_file(value.py(), reader, take)?),
            (None, None) => {
                take(Trace::read(&item, signature)?)?;
                None
            }
            (None, atoms) => atoms,
        };
        if let Some(more) = more {
            declared = declared.union(&more);
        }
    }
    Ok(declared)
}

/// All traces, and what can be observed in them.
pub fn all_traces(
    value: &Bound<'_, PyAny>,
    signature: Option<&Signature>,
) -> PyResult<(Vec<Trace>, Arc<form_core::Signature>)> {
    let mut traces: Vec<Trace> = Vec::new();
    let declared = each_trace(value, signature, &mut |trace| {
        traces.push(trace);
        Ok(())
    })?;
    let mut all = Arc::new(declared);
    for trace in &traces {
        let own = &trace.signature.signature;
        let known = |atom: &form_core::GroundAtom| all.id_of(atom).is_some();
        if !Arc::ptr_eq(&all, own) && !own.atoms().iter().all(known) {
            all = match all.is_empty() {
                true => own.clone(),
                false => Arc::new(all.union(own)),
            };
        }
    }
    Ok((traces, all))
}

fn each_of_file(
    py: Python<'_>,
    mut reader: TraceReader,
    take: &mut dyn FnMut(Trace) -> PyResult<()>,
) -> PyResult<form_core::Signature> {
    while let Some(trace) = reader.__next__(py)? {
        take(trace)?;
    }
    Ok((*reader.signature.signature).clone())
}

/// A reader of the file that the value names or is, if it does.
fn file(value: &Bound<'_, PyAny>, signature: Option<&Signature>) -> PyResult<Option<TraceReader>> {
    let py = value.py();
    let given = signature.cloned();
    if value.is_instance_of::<PyString>() || value.hasattr("__fspath__")? {
        let path: PathBuf = value.extract()?;
        return py.detach(|| TraceReader::open(&path, given)).map(Some);
    }
    if !value.hasattr("read")? {
        return Ok(None);
    }
    let name = (value.getattr("name").ok())
        .and_then(|name| name.extract::<String>().ok())
        .unwrap_or_else(|| "the open file".to_owned());
    let content = value.call_method0("read")?;
    let bytes = match content.cast::<PyBytes>() {
        Ok(bytes) => bytes.as_bytes().to_vec(),
        Err(_) => content.extract::<String>()?.into_bytes(),
    };
    let open = || TraceFile::new(&name, Cursor::new(bytes.clone()));
    let open = || open().map_err(|error| errors::core(&error));
    TraceReader::from_source(given, open).map(Some)
}

/// The atoms that a line such as `{"signature": ["goal"]}` declares.
fn declaration(item: &Bound<'_, PyAny>) -> PyResult<Option<form_core::Signature>> {
    let Ok(line) = item.cast::<PyDict>() else {
        return Ok(None);
    };
    match (line.get_item("signature")?, line.contains("kind")?) {
        (Some(atoms), false) => {
            let atoms = texts(&atoms, "atoms")?;
            let signature = form_core::Signature::parse(atoms);
            signature.map(Some).map_err(|error| errors::core(&error))
        }
        _ => Ok(None),
    }
}
