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

/// Where a trace stands in what was given.
pub struct Place {
    /// Its index in the collection. A file counts as its traces, one after the other.
    pub position: usize,
    /// The name of its file, and its line there.
    pub line: Option<(Arc<str>, usize)>,
}

/// What is done with each trace.
type Take<'a> = &'a mut dyn FnMut(Trace, Place) -> PyResult<()>;

/// Hands over all traces that a Python value stands for, one after the other: a file's name, an open file, or any collection of
/// traces and files. Returns the atoms that files and lines declare.
pub fn each_trace(
    value: &Bound<'_, PyAny>,
    signature: Option<&Signature>,
    take: Take<'_>,
) -> PyResult<form_core::Signature> {
    let mut position = 0;
    if let Some(reader) = file(value, signature)? {
        return each_of_file(value.py(), reader, &mut position, take);
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
            (Some(reader), _) => Some(each_of_file(value.py(), reader, &mut position, take)?),
            (None, atoms) => {
                if atoms.is_none() {
                    let line = None;
                    take(Trace::read(&item, signature)?, Place { position, line })?;
                }
                position += 1;
                atoms
            }
        };
        if let Some(more) = more {
            declared = declared.union(&more);
        }
    }
    Ok(declared)
}

/// All traces, where each stands, and what can be observed in them.
pub fn all_traces(
    value: &Bound<'_, PyAny>,
    signature: Option<&Signature>,
) -> PyResult<(Vec<Trace>, Vec<Place>, Arc<form_core::Signature>)> {
    let mut traces: Vec<Trace> = Vec::new();
    let mut places = Vec::new();
    let declared = each_trace(value, signature, &mut |trace, place| {
        traces.push(trace);
        places.push(place);
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
    Ok((traces, places, all))
}

fn each_of_file(
    py: Python<'_>,
    mut reader: TraceReader,
    position: &mut usize,
    take: Take<'_>,
) -> PyResult<form_core::Signature> {
    let file: Arc<str> = reader.name.as_str().into();
    while let Some((line, trace)) = reader.next_with_line(py)? {
        let line = Some((file.clone(), line));
        let position = std::mem::replace(position, *position + 1);
        take(trace, Place { position, line })?;
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
