//! `form_core`'s traces: made of lists, recorded from episodes, read from and written to files.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Compression;
use flate2::write::GzEncoder;
use form_core::{AtomSet, Kind, StepMode, TraceFile, trace_header};
use pyo3::prelude::*;

use crate::bound::BoundMachine;
use crate::errors::{self, Class};
use crate::files;
use crate::logic::{Signature, SignatureLike, texts, type_name};
use crate::machine::Machine;
use crate::trace_input::{each_trace, kind_and_steps};

/// The observations of an episode and how it ended: `"goal"`, `"dead-end"` or `"incomplete"`.
///
/// Empty observations are dropped, and equal ones in a row count once, unless `compress` is false: then every step counts. Without a
/// signature, what occurs is all that can be observed.
///
/// >>> from formrl import Trace
/// >>> trace = Trace("goal", [["yellow(o0)"], [], ["yellow(o0)"], ["goal"]])
/// >>> trace.steps
/// [['yellow(o0)'], ['goal']]
#[pyclass(module = "formrl", frozen)]
pub struct Trace {
    pub signature: Arc<form_core::Signature>,
    pub trace: form_core::Trace,
}

impl Trace {
    /// The trace that a Python value stands for.
    pub fn read(value: &Bound<'_, PyAny>, signature: Option<&Signature>) -> PyResult<Self> {
        if let Ok(trace) = value.cast::<Self>() {
            let trace = trace.get();
            return Ok(Self {
                signature: trace.signature.clone(),
                trace: trace.trace.clone(),
            });
        }
        let (kind, steps) = kind_and_steps(value)?;
        Self::made(&kind, &steps, signature, StepMode::Changes)
    }

    /// A trace, or the observations of one, whose kind does not matter.
    pub fn read_steps(
        value: &Bound<'_, PyAny>,
        signature: Option<&Signature>,
        mode: StepMode,
    ) -> PyResult<Self> {
        if value.is_instance_of::<Self>() {
            return Self::read(value, signature);
        }
        match kind_and_steps(value) {
            Ok((kind, steps)) => Self::made(&kind, &steps, signature, mode),
            Err(_) => Self::made(Kind::Incomplete.as_str(), value, signature, mode),
        }
    }

    fn made(
        kind: &str,
        steps: &Bound<'_, PyAny>,
        signature: Option<&Signature>,
        mode: StepMode,
    ) -> PyResult<Self> {
        let kind = kind_of(kind)?;
        if let Some(signature) = signature {
            let steps = (steps.try_iter()?)
                .map(|step| signature.observation(&step?))
                .collect::<PyResult<Vec<AtomSet>>>()?;
            return Ok(Self {
                signature: signature.signature.clone(),
                trace: form_core::Trace::with_mode(mode, kind, steps),
            });
        }
        let steps = (steps.try_iter()?)
            .map(|step| texts(&step?, "labels"))
            .collect::<PyResult<Vec<Vec<String>>>>()?;
        let core = |error: form_core::Error| errors::core(&error);
        let signature = form_core::Signature::parse(steps.iter().flatten()).map_err(core)?;
        let steps = (steps.iter())
            .map(|step| signature.observation(step))
            .collect::<form_core::Result<Vec<AtomSet>>>()
            .map_err(core)?;
        Ok(Self {
            trace: form_core::Trace::with_mode(mode, kind, steps),
            signature: Arc::new(signature),
        })
    }

    /// The same over another signature, which must have the atoms that occur.
    pub fn over(&self, signature: &form_core::Signature) -> PyResult<form_core::Trace> {
        if *signature == *self.signature {
            return Ok(self.trace.clone());
        }
        let step = |step: &AtomSet| signature.observation(self.signature.texts(step));
        let steps = (self.trace.steps().iter())
            .map(step)
            .collect::<form_core::Result<Vec<AtomSet>>>()
            .map_err(|error| errors::core(&error))?;
        let mode = self.trace.step_mode();
        Ok(form_core::Trace::with_mode(mode, self.trace.kind(), steps))
    }
}

#[pymethods]
impl Trace {
    #[new]
    #[pyo3(signature = (kind, steps, signature=None, compress=true))]
    fn new(
        kind: &str,
        steps: &Bound<'_, PyAny>,
        signature: Option<SignatureLike>,
        compress: bool,
    ) -> PyResult<Self> {
        let signature = signature.as_ref().map(SignatureLike::get);
        Self::made(kind, steps, signature, mode_of(compress))
    }

    /// Whether only changes count; if not, every step does.
    #[getter]
    fn compress(&self) -> bool {
        self.trace.step_mode() == StepMode::Changes
    }

    /// How it ended: `"goal"`, `"dead-end"` or `"incomplete"`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.trace.kind().as_str()
    }

    /// The observations.
    #[getter]
    fn steps(&self) -> Vec<Vec<String>> {
        let texts = |step: &AtomSet| self.signature.texts(step);
        self.trace.steps().iter().map(texts).collect()
    }

    /// What could be observed.
    #[getter]
    fn signature(&self) -> Signature {
        Signature::of(self.signature.clone())
    }

    /// The line of a trace file.
    fn to_json(&self) -> String {
        self.trace.to_json(&self.signature)
    }

    /// Whether a machine ends as the trace does, and not before. Both must count every step, or every change. A machine that is not
    /// bound is bound to the trace's signature.
    fn agrees(&self, machine: &Bound<'_, PyAny>) -> PyResult<bool> {
        let core = |error: form_core::Error| errors::core(&error);
        let bound = if let Ok(machine) = machine.cast::<BoundMachine>() {
            machine.get().bound.clone()
        } else {
            let machine = machine.cast::<Machine>().map_err(|_| {
                errors::wrong_type(format!(
                    "expected a Machine or a BoundMachine, not {}",
                    type_name(machine)
                ))
            })?;
            let machine = machine.get().machine.clone();
            Arc::new(form_core::BoundMachine::new(machine, self.signature.clone()).map_err(core)?)
        };
        let name = format!("the machine {}", bound.machine().name());
        (self.trace.step_mode())
            .must_be(bound.machine().step_mode(), "the trace", &name)
            .map_err(core)?;
        let trace = self.over(bound.signature())?;
        Ok(trace.disagreement(&bound).is_none())
    }

    fn __len__(&self) -> usize {
        self.trace.steps().len()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            other.kind() == self.kind()
                && other.steps() == self.steps()
                && other.compress() == self.compress()
        })
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.kind(), self.steps()).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let compress = if self.compress() {
            ""
        } else {
            ", compress=False"
        };
        format!("Trace({:?}, {:?}{compress})", self.kind(), self.steps()).replace('"', "'")
    }

    #[allow(clippy::type_complexity, reason = "what pickle wants")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> (
        Bound<'py, PyAny>,
        (&'static str, Vec<Vec<String>>, Signature, bool),
    ) {
        let parts = (self.kind(), self.steps(), self.signature(), self.compress());
        (py.get_type::<Self>().into_any(), parts)
    }
}

fn mode_of(compress: bool) -> StepMode {
    if compress {
        StepMode::Changes
    } else {
        StepMode::All
    }
}

fn kind_of(kind: &str) -> PyResult<Kind> {
    kind.parse()
        .map_err(|problem: String| errors::raise(Class::Trace, &problem, None, None, None))
}

/// Collects the observations of an episode, the one at reset included; all of them if `compress` is false.
///
/// >>> from formrl import Recorder, Signature
/// >>> recorder = Recorder(Signature(["yellow(o0)", "goal"]))
/// >>> recorder.observe([]), recorder.observe(["yellow(o0)"]), recorder.observe(["yellow(o0)"])
/// (False, True, False)
/// >>> recorder.finish("incomplete")
/// Trace('incomplete', [['yellow(o0)']])
#[pyclass(module = "formrl")]
pub struct Recorder {
    signature: Py<Signature>,
    recorder: form_core::Recorder,
}

#[pymethods]
impl Recorder {
    #[new]
    #[pyo3(signature = (signature, compress=true))]
    fn new(signature: SignatureLike, compress: bool) -> Self {
        Self {
            signature: signature.0,
            recorder: form_core::Recorder::with_mode(mode_of(compress)),
        }
    }

    /// Takes what was observed in one step; whether it became a step of the trace.
    fn observe(&mut self, labels: &Bound<'_, PyAny>) -> PyResult<bool> {
        let observation = self.signature.get().observation(labels)?;
        Ok(self.recorder.observe(&observation))
    }

    /// The steps so far.
    #[getter]
    fn steps(&self) -> Vec<Vec<String>> {
        let signature = self.signature.get();
        (self.recorder.steps().iter())
            .map(|step| signature.texts(step))
            .collect()
    }

    /// The trace of the episode, which ended so; the recorder is ready for the next one.
    fn finish(&mut self, kind: &str) -> PyResult<Trace> {
        Ok(Trace {
            signature: self.signature.get().signature.clone(),
            trace: self.recorder.finish(kind_of(kind)?),
        })
    }
}

/// The traces of a file, one after the other; `signature` is what can be observed. The file is read as the traces are asked for.
#[pyclass(module = "formrl")]
pub struct TraceReader {
    pub signature: Arc<form_core::Signature>,
    /// Where the traces come from until there are no more. Only one at a time has it, so the lock is never waited for.
    file: Mutex<Option<TraceFile>>,
    traces: std::vec::IntoIter<(usize, form_core::Trace)>,
}

impl TraceReader {
    pub fn open(path: &Path, signature: Option<Arc<form_core::Signature>>) -> PyResult<Self> {
        Self::from_source(signature, || open(path))
    }

    /// The traces of a file that can be opened twice: first for its signature, unless that is given.
    pub fn from_source(
        signature: Option<Arc<form_core::Signature>>,
        open: impl Fn() -> PyResult<TraceFile>,
    ) -> PyResult<Self> {
        let signature = match signature {
            Some(signature) => signature,
            None => Arc::new(open()?.signature().map_err(|error| errors::core(&error))?),
        };
        Ok(Self {
            signature,
            file: Mutex::new(Some(open()?)),
            traces: Vec::new().into_iter(),
        })
    }
}

#[pymethods]
impl TraceReader {
    /// What can be observed: what the file declares, else what occurs in it.
    #[getter]
    fn signature(&self) -> Signature {
        Signature::of(self.signature.clone())
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    pub fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Trace>> {
        let source = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.traces.len() == 0
            && let Some(mut file) = source.take()
        {
            let signature = &self.signature;
            let (next, file) = py.detach(|| (file.next_traces(signature), file));
            let next = next.map_err(|error| errors::core(&error))?;
            if !next.is_empty() {
                *source = Some(file);
            }
            self.traces = next.into_iter();
        }
        Ok(self.traces.next().map(|(_, trace)| Trace {
            signature: self.signature.clone(),
            trace,
        }))
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
    let given = signature.map(|signature| signature.get().signature.clone());
    py.detach(|| TraceReader::open(&path, given))
}

/// The signature that a file declares: a trace file, or a list of atoms, one a line.
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
        each_trace(traces, signature, &mut |trace| {
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
