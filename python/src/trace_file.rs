//! Trace files, read as their traces are asked for.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use form_core::TraceFile;
use pyo3::prelude::*;

use crate::errors;
use crate::logic::{Signature, SignatureLike};
use crate::trace::Trace;

/// The traces of a file, one after the other; `signature` is what can be observed. The file is read as the traces are asked for.
#[pyclass(module = "formrl")]
pub struct TraceReader {
    pub signature: Signature,
    /// The file's name.
    pub name: String,
    /// Where the traces come from until there are no more. Only one at a time has it, so the lock is never waited for.
    file: Mutex<Option<TraceFile>>,
    traces: std::vec::IntoIter<(usize, form_core::Trace)>,
}

impl TraceReader {
    pub fn open(path: &Path, signature: Option<Signature>) -> PyResult<Self> {
        Self::from_source(signature, || open(path))
    }

    /// The traces of a file that can be opened twice: first for its signature, unless that is given.
    pub fn from_source(
        signature: Option<Signature>,
        open: impl Fn() -> PyResult<TraceFile>,
    ) -> PyResult<Self> {
        let signature = match signature {
            Some(signature) => signature,
            None => {
                let declared = open()?.signature().map_err(|error| errors::core(&error))?;
                Signature::of(Arc::new(declared))
            }
        };
        let file = open()?;
        Ok(Self {
            signature,
            name: file.name().to_owned(),
            file: Mutex::new(Some(file)),
            traces: Vec::new().into_iter(),
        })
    }

    /// The next trace and its line.
    pub fn next_with_line(&mut self, py: Python<'_>) -> PyResult<Option<(usize, Trace)>> {
        let source = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.traces.len() == 0
            && let Some(mut file) = source.take()
        {
            let signature = &self.signature.signature;
            let (next, file) = py.detach(|| (file.next_traces(signature), file));
            let next = next.map_err(|error| errors::core(&error))?;
            if !next.is_empty() {
                *source = Some(file);
            }
            self.traces = next.into_iter();
        }
        let signature = &self.signature;
        Ok(self.traces.next().map(|(line, trace)| {
            let signature = signature.clone();
            (line, Trace { signature, trace })
        }))
    }
}

#[pymethods]
impl TraceReader {
    /// What can be observed: what the file declares, else what occurs in it.
    #[getter]
    fn signature(&self) -> Signature {
        self.signature.clone()
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Trace>> {
        let next = self.next_with_line(py)?;
        Ok(next.map(|(_, trace)| trace))
    }
}

/// The traces of a file of JSON Lines, gzipped or not, as an iterator.
#[pyfunction]
#[pyo3(signature = (path, signature=None))]
pub fn read_traces(
    py: Python<'_>,
    path: PathBuf,
    signature: Option<SignatureLike>,
) -> PyResult<TraceReader> {
    let given = signature.map(|signature| signature.get().clone());
    py.detach(|| TraceReader::open(&path, given))
}

/// The signature that a file declares: a trace file, or a list of atoms, one per line.
#[pyfunction]
pub fn read_signature(path: PathBuf) -> PyResult<Signature> {
    let file = File::open(&path).map_err(|error| errors::file(&path, &error))?;
    form_core::read_signature(&path.display().to_string(), file)
        .map(|signature| Signature::of(Arc::new(signature)))
        .map_err(|error| errors::core(&error))
}

fn open(path: &Path) -> PyResult<TraceFile> {
    let file = File::open(path).map_err(|error| errors::file(path, &error))?;
    TraceFile::new(&path.display().to_string(), file).map_err(|error| errors::core(&error))
}
