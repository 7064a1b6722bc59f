//! `form_core`'s traces: made of lists and recorded from episodes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use form_core::{AtomSet, Kind, StepMode};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::errors::{self, Class};
use crate::logic::{Signature, SignatureLike, texts, type_name};

/// The observations of an episode and how it ended: `"goal"`, `"dead-end"` or `"incomplete"`.
///
/// Empty observations are dropped, and equal ones in a row count once, unless `compress` is false: then every step counts. Without a
/// signature, what occurs is all that can be observed. `own_signature` are the atoms that can be observed in this very trace: `forall`
/// then ranges over its objects.
///
/// >>> from formrl import Trace
/// >>> trace = Trace("goal", [["yellow(o0)"], [], ["yellow(o0)"], ["goal"]])
/// >>> trace.steps
/// [['yellow(o0)'], ['goal']]
#[pyclass(module = "formrl", frozen)]
pub struct Trace {
    pub signature: Signature,
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
        let trace = Self::made(&kind, &steps, signature, StepMode::Changes)?;
        // A line of a file may bring a signature of its own.
        match value
            .cast::<PyDict>()
            .ok()
            .map(|line| line.get_item("signature"))
        {
            Some(own) => trace.owning(own?.as_ref()),
            None => Ok(trace),
        }
    }

    /// The same with a signature of its own, if one is given: the atoms that can be observed in it.
    fn owning(self, own: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(own) = own else {
            return Ok(self);
        };
        let core = |error: form_core::Error| errors::core(&error);
        let atoms = form_core::Signature::parse(texts(own, "atoms")?).map_err(core)?;
        let known = |id| atoms.id_of(self.signature.signature.atom(id)).is_some();
        if let Some(id) = (self.trace.steps().iter().flat_map(AtomSet::iter)).find(|id| !known(*id))
        {
            let atom = self.signature.signature.atom(id);
            let problem = format!("`{atom}` is not in the signature of its trace");
            return Err(errors::raise(Class::Trace, &problem, None, None, None));
        }
        let all = self.signature.signature.union(&atoms);
        let own = (atoms.atoms().iter()).filter_map(|atom| all.id_of(atom));
        let own: AtomSet = own.collect();
        Ok(Self {
            trace: self.over(&all)?.with_signature(own),
            signature: Signature::of(Arc::new(all)),
        })
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
                signature: signature.clone(),
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
            signature: Signature::of(Arc::new(signature)),
        })
    }

    /// The same over another signature, which must have the atoms that occur.
    pub fn over(&self, signature: &form_core::Signature) -> PyResult<form_core::Trace> {
        let own = &self.signature.signature;
        if *signature == **own {
            return Ok(self.trace.clone());
        }
        let step = |step: &AtomSet| signature.observation(own.texts(step));
        let steps = (self.trace.steps().iter())
            .map(step)
            .collect::<form_core::Result<Vec<AtomSet>>>()
            .map_err(|error| errors::core(&error))?;
        let mode = self.trace.step_mode();
        let trace = form_core::Trace::with_mode(mode, self.trace.kind(), steps);
        match self.trace.own_signature().map(step).transpose() {
            Ok(None) => Ok(trace),
            Ok(Some(own)) => Ok(trace.with_signature(own)),
            Err(error) => Err(errors::core(&error)),
        }
    }
}

#[pymethods]
impl Trace {
    #[new]
    #[pyo3(signature = (kind, steps, signature=None, compress=true, own_signature=None))]
    fn new(
        kind: &str,
        steps: &Bound<'_, PyAny>,
        signature: Option<SignatureLike>,
        compress: bool,
        own_signature: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let signature = signature.as_ref().map(SignatureLike::get);
        Self::made(kind, steps, signature, mode_of(compress))?.owning(own_signature)
    }

    /// The atoms that can be observed in this trace, if it says so: `forall` then ranges over its own objects.
    #[getter]
    fn own_signature(&self) -> Option<Vec<String>> {
        let own = self.trace.own_signature()?;
        Some(self.signature.signature.texts(own))
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
        // In natural order, whatever the signature's is: traces with the same steps are equal.
        let texts = |step: &AtomSet| self.signature.signature.texts(step);
        self.trace.steps().iter().map(texts).collect()
    }

    /// What could be observed.
    #[getter]
    fn signature(&self) -> Signature {
        self.signature.clone()
    }

    /// The line of a trace file.
    pub fn to_json(&self) -> String {
        self.trace.to_json(&self.signature.signature)
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
                && other.own_signature() == self.own_signature()
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
        let own = self.own_signature();
        let own = own.map_or_else(String::new, |own| format!(", own_signature={own:?}"));
        let (kind, steps) = (self.kind(), self.steps());
        format!("Trace({kind:?}, {steps:?}{compress}{own})").replace('"', "'")
    }

    #[allow(clippy::type_complexity, reason = "what pickle wants")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> (
        Bound<'py, PyAny>,
        (
            &'static str,
            Vec<Vec<String>>,
            Signature,
            bool,
            Option<Vec<String>>,
        ),
    ) {
        let own = self.own_signature();
        let parts = (
            self.kind(),
            self.steps(),
            self.signature(),
            self.compress(),
            own,
        );
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

/// The kind and the steps of a dictionary or a pair.
fn kind_and_steps<'py>(value: &Bound<'py, PyAny>) -> PyResult<(String, Bound<'py, PyAny>)> {
    let wrong = || {
        errors::wrong_type(format!(
            "expected a Trace, a pair of kind and steps, or a dictionary with \"kind\" and \"steps\", not {}",
            type_name(value)
        ))
    };
    if let Ok(line) = value.cast::<PyDict>() {
        let kind = line.get_item("kind")?.ok_or_else(wrong)?;
        let steps = line.get_item("steps")?.ok_or_else(wrong)?;
        return Ok((kind.extract()?, steps));
    }
    let is_pair = value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>();
    if !is_pair || value.len()? != 2 || !value.get_item(0)?.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    Ok((value.get_item(0)?.extract()?, value.get_item(1)?))
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
            signature: self.signature.get().clone(),
            trace: self.recorder.finish(kind_of(kind)?),
        })
    }
}
