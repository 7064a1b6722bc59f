//! `form_learn`: the smallest machine for some traces, learnt on a thread of its own while Python goes on, listens for Ctrl-C
//! and tells how far it has come.

mod result;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use form_core::{Dataset, Origin};
use form_learn::{Limits, Options, SearchProgress, Tolerance};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use self::result::{Found, state_limit};
use crate::errors::{self, Class};
use crate::logic::{Signature, SignatureLike, whole};
use crate::trace::Trace;
use crate::trace_input::{Place, all_traces};
use crate::watched::watched;

/// Learns the smallest machine from traces that keep coming.
///
/// >>> from formrl import Learner, Signature, Trace
/// >>> learner = Learner(Signature(["yellow(o0)", "yellow(o1)", "goal"]))
/// >>> learner.add(Trace("goal", [["yellow(o0)"], ["goal"]]))
/// 0
/// >>> learner.add(("incomplete", [["goal"]]))
/// 1
/// >>> result = learner.learn()
/// >>> result.outcome, result.states, result.cost
/// ('minimal', 2, 4)
#[pyclass(module = "formrl", frozen)]
pub struct Learner {
    signature: Py<Signature>,
    options: Options,
    learner: Mutex<Inner>,
    /// Whether its traces have objects of their own: then they have lost their names.
    lifted: bool,
    /// Where the traces of `formrl.learn` stand in what it was given; empty for traces that were added one by one.
    places: Vec<Place>,
}

/// The learner, and what it was told, to tell it again and to say which traces it means.
struct Inner {
    learner: form_learn::Learner,
    /// The traces. The line of an origin is the number of traces that were added before it, duplicates included.
    data: Dataset,
}

impl Inner {
    fn new(
        learner: form_learn::Learner,
        signature: &form_core::Signature,
        traces: Vec<form_core::Trace>,
    ) -> Self {
        let data = Dataset::new(signature.clone());
        let mut inner = Self { learner, data };
        for trace in traces {
            inner.add(trace);
        }
        inner
    }

    fn add(&mut self, trace: form_core::Trace) -> Option<usize> {
        self.learner.add(&trace);
        let line = self.data.traces().len() + self.data.duplicates().len();
        self.data
            .add(Origin { file: 0, line }, trace)
            .then_some(line)
    }

    /// Every trace that was added, duplicates included, in order.
    fn added(&self) -> Vec<form_core::Trace> {
        let traces = self.data.traces();
        let added = self.data.occurrences().into_iter();
        added.map(|(_, number)| traces[number].1.clone()).collect()
    }
}

/// How a learner is pickled: its signature, its options by name, and the traces that were added.
type Parts<'py> = (Py<Signature>, Bound<'py, PyDict>, Vec<Trace>);

#[pymethods]
impl Learner {
    #[new]
    #[pyo3(signature = (
        signature, *, max_disjuncts=1, propositional=false, cyclic=false, forall_alone=true, once=false, counts=1, joins=false
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn new(
        signature: SignatureLike,
        #[pyo3(from_py_with = whole)] max_disjuncts: i64,
        propositional: bool,
        cyclic: bool,
        forall_alone: bool,
        once: bool,
        #[pyo3(from_py_with = whole)] counts: i64,
        joins: bool,
    ) -> PyResult<Self> {
        let [max_disjuncts, counts] = [("max_disjuncts", max_disjuncts), ("counts", counts)].map(
            |(name, number)| match number {
                1..=64 => Ok(number as usize),
                _ => Err(PyValueError::new_err(format!(
                    "{name} is a number from 1 to 64"
                ))),
            },
        );
        let (max_disjuncts, counts) = (max_disjuncts?, counts?);
        let options = Options {
            first_order: !propositional,
            max_disjuncts,
            cyclic,
            forall_alone,
            once,
            counts,
            joins,
            ..Options::default()
        };
        Ok(Self::of(signature.0, options, Vec::new()))
    }

    /// Adds a trace; its number, or `None` if it was there already. Traces are numbered as they are added, from 0, duplicates counted.
    fn add(&self, py: Python<'_>, trace: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        let trace = self.read(trace)?;
        Ok(py.detach(|| self.lock().add(trace)))
    }

    /// Takes a trace back, as often as it was added; whether it was there. Traces that were added after it have other numbers then.
    fn remove(&self, py: Python<'_>, trace: &Bound<'_, PyAny>) -> PyResult<bool> {
        let trace = self.read(trace)?;
        Ok(py.detach(|| {
            let mut inner = self.lock();
            let mut added = inner.added();
            let before = added.len();
            added.retain(|other| *other != trace);
            let removed = added.len() < before;
            if removed {
                // A proof may rest on the trace: the search begins anew.
                *inner = Self::told(self.signature.get(), &self.options, added);
            }
            removed
        }))
    }

    /// A learner with the same options and traces, which goes its own way.
    fn copy(&self, py: Python<'_>) -> Self {
        let added = py.detach(|| self.lock().added());
        Self::of(self.signature.clone_ref(py), self.options.clone(), added)
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, memo: &Bound<'_, PyAny>) -> Self {
        let _ = memo;
        self.copy(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let options = PyDict::new(py);
        options.set_item("max_disjuncts", self.options.max_disjuncts)?;
        options.set_item("propositional", !self.options.first_order)?;
        options.set_item("cyclic", self.options.cyclic)?;
        options.set_item("forall_alone", self.options.forall_alone)?;
        options.set_item("once", self.options.once)?;
        options.set_item("counts", self.options.counts)?;
        options.set_item("joins", self.options.joins)?;
        let signature = self.signature.get();
        let traces = py.detach(|| self.lock().added()).into_iter();
        let traces = traces.map(|trace| Trace {
            signature: signature.clone(),
            trace,
        });
        let made = py.get_type::<Self>().getattr("_made")?;
        Ok((
            made,
            (self.signature.clone_ref(py), options, traces.collect()),
        ))
    }

    /// A learner with traces: what pickles are made of.
    #[staticmethod]
    fn _made<'py>(
        signature: &Bound<'py, Signature>,
        options: &Bound<'py, PyDict>,
        traces: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = signature.py().get_type::<Self>();
        let learner = class.call((signature,), Some(options))?;
        for trace in traces.try_iter()? {
            learner.call_method1("add", (trace?,))?;
        }
        Ok(learner)
    }

    /// The smallest machine that is consistent with all traces added so far, as a `LearnResult`.
    ///
    /// `tolerate` is the number of traces that it may misjudge, a percentage such as "2%", or "auto".
    #[pyo3(signature = (*, max_states=10, time_limit=None, memory_limit=None, progress=None, tolerate=None))]
    fn learn<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = whole)] max_states: i64,
        #[pyo3(from_py_with = seconds)] time_limit: Option<f64>,
        #[pyo3(from_py_with = whole)] memory_limit: Option<i64>,
        progress: Option<Bound<'py, PyAny>>,
        tolerate: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wrong = PyValueError::new_err::<&str>;
        if max_states < 1 {
            return Err(wrong("max_states is at least 1"));
        }
        let max_states = max_states as usize;
        let tolerance = tolerate.as_ref().map(tolerance).transpose()?;
        // An infinite time, or one longer than clocks count, is no limit.
        let time = time_limit.filter(|seconds| *seconds <= 1e15 || seconds.is_nan());
        let time = time.map(Duration::try_from_secs_f64).transpose();
        let time = time.map_err(|_| wrong("time_limit is a number of seconds, not below 0"))?;
        let memory = memory_limit.map(u64::try_from).transpose();
        let memory = memory.map_err(|_| wrong("memory_limit is a number of MiB, not below 0"))?;
        let limits = Limits {
            max_states,
            time,
            memory: memory.map(|mib| mib.saturating_mul(1 << 20)),
            interrupt: Some(Arc::new(AtomicBool::new(false))),
            progress: Some(Arc::new(SearchProgress::default())),
            ..Limits::default()
        };
        let start = Instant::now();
        let work = || -> form_learn::Result<_> {
            let mut inner = self.lock();
            let Inner { learner, data } = &mut *inner;
            if let Some(tolerance) = tolerance {
                let learnt = learner.learn_tolerant(tolerance, &limits)?;
                let parts = (learnt.outcome.clone(), learnt.rounds.clone());
                return Ok(Found::new(parts, Some(learnt), data));
            }
            let outcome = learner.learn(&limits)?;
            Ok(Found::new((outcome, learner.rounds().to_vec()), None, data))
        };
        let found = watched(py, &limits, progress.as_ref(), work)?;
        let found = found.map_err(|error| errors::learning(&error))?;
        let seconds = start.elapsed().as_secs_f64();
        let sentence = match &found.tolerant {
            Some(learnt) => {
                let found = learnt.describe(&state_limit(max_states));
                let warning = learnt.warning("tolerate=1").into_iter();
                (warning.map(|warning| format!("; {warning}"))).fold(found, |all, one| all + &one)
            }
            None => self.sentence(&found, max_states),
        };
        self.result(py, &found, sentence, seconds)
    }

    /// How many different traces there are.
    #[getter]
    fn traces(&self, py: Python<'_>) -> usize {
        py.detach(|| self.lock().learner.traces())
    }

    /// What can be observed.
    #[getter]
    fn signature(&self, py: Python<'_>) -> Py<Signature> {
        self.signature.clone_ref(py)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let atoms = self.signature.get().signature.len();
        format!("<Learner of {} traces over {atoms} atoms>", self.traces(py))
    }
}

impl Learner {
    fn of(signature: Py<Signature>, options: Options, added: Vec<form_core::Trace>) -> Self {
        let inner = Self::told(signature.get(), &options, added);
        Self {
            signature,
            options,
            learner: Mutex::new(inner),
            lifted: false,
            places: Vec::new(),
        }
    }

    /// A learner that was told these traces.
    fn told(signature: &Signature, options: &Options, added: Vec<form_core::Trace>) -> Inner {
        let signature = &signature.signature;
        let learner = form_learn::Learner::new(signature, options);
        Inner::new(learner, signature, added)
    }

    /// A learner of traces that have objects of their own, over this signature; names that all of them share stay, if `shared`.
    fn of_lifted(
        signature: Py<Signature>,
        options: Options,
        traces: &[form_core::Trace],
        shared: bool,
    ) -> form_learn::Result<Self> {
        let all = signature.get().signature.clone();
        let lifted = form_learn::lift(&all, traces, shared)?;
        let learner = form_learn::Learner::lifted(&lifted.signature, &options);
        let inner = Inner::new(learner, &lifted.signature, lifted.traces);
        Ok(Self {
            signature,
            options,
            learner: Mutex::new(inner),
            lifted: true,
            places: Vec::new(),
        })
    }

    /// The trace that a Python value stands for, over the learner's signature.
    fn read(&self, trace: &Bound<'_, PyAny>) -> PyResult<form_core::Trace> {
        let signature = self.signature.get();
        let trace = Trace::read(trace, Some(signature))?.over(&signature.signature)?;
        match trace.own_signature() {
            None => Ok(trace),
            Some(_) => Err(errors::raise(
                Class::Trace,
                "a Learner takes no traces with signatures of their own: give all of them to formrl.learn",
                None,
                None,
                None,
            )),
        }
    }

    /// The position of a trace in what was given, and its file and line.
    fn place(&self, added: usize) -> (usize, Option<(&str, usize)>) {
        match self.places.get(added) {
            None => (added, None),
            Some(place) => {
                let line = place.line.as_ref().map(|(file, line)| (&**file, *line));
                (place.position, line)
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        // A learner that panicked has been left as it was between two questions to its solver.
        self.learner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a number of traces, a percentage such as "2%", or "auto".
fn tolerance(value: &Bound<'_, PyAny>) -> PyResult<Tolerance> {
    let wrong = || {
        PyValueError::new_err(
            "tolerate is a number of traces, not below 0, a percentage such as \"2%\", or \"auto\"",
        )
    };
    if let Ok(text) = value.cast::<PyString>() {
        return text.to_str()?.parse().map_err(|_| wrong());
    }
    Ok(Tolerance::AtMost(value.extract().map_err(|_| wrong())?))
}

/// Reads a number of seconds. A whole number that is too large for a `float` is infinite.
fn seconds(value: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    value.extract().or_else(|error: PyErr| {
        match error.is_instance_of::<PyOverflowError>(value.py()) {
            true if value.lt(0)? => Ok(Some(f64::NEG_INFINITY)),
            true => Ok(Some(f64::INFINITY)),
            false => Err(error),
        }
    })
}

/// The smallest machine that is consistent with traces: a file's name, an open file, or any collection of files, `Trace`s, pairs of
/// kind and steps, and dictionaries as `json.loads` reads them from the lines of a trace file.
///
/// >>> import formrl
/// >>> traces = [
/// ...     ("goal", [["yellow(o0)"], ["goal"]]),
/// ...     ("goal", [["yellow(o1)"], ["goal"]]),
/// ...     ("incomplete", [["goal"]]),
/// ...     ("incomplete", [["yellow(o0)"], ["yellow(o1)"]]),
/// ... ]
/// >>> result = formrl.learn(traces)
/// >>> result.outcome
/// 'minimal'
/// >>> [edge.formula for edge in result.machine.edges]
/// ['exists X. yellow(X)', 'goal']
///
/// Traces may have objects of their own: with `lifted`, no edge names any; where traces bring signatures of their own, edges may name what
/// all of these have.
///
/// Traces that the result names have their index in the collection as number, and their file and line where they are from one.
#[pyfunction]
#[pyo3(signature = (
    traces, signature=None, *, max_disjuncts=1, propositional=false, cyclic=false, forall_alone=true, once=false, counts=1,
    joins=false, max_states=10, time_limit=None, memory_limit=None, progress=None, tolerate=None, lifted=false
))]
#[allow(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub fn learn<'py>(
    py: Python<'py>,
    traces: &Bound<'py, PyAny>,
    signature: Option<SignatureLike>,
    #[pyo3(from_py_with = whole)] max_disjuncts: i64,
    propositional: bool,
    cyclic: bool,
    forall_alone: bool,
    once: bool,
    #[pyo3(from_py_with = whole)] counts: i64,
    joins: bool,
    #[pyo3(from_py_with = whole)] max_states: i64,
    #[pyo3(from_py_with = seconds)] time_limit: Option<f64>,
    #[pyo3(from_py_with = whole)] memory_limit: Option<i64>,
    progress: Option<Bound<'py, PyAny>>,
    tolerate: Option<Bound<'py, PyAny>>,
    lifted: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if lifted && propositional {
        return Err(PyValueError::new_err(
            "lifted does not go with propositional: its edges have quantified atoms",
        ));
    }
    let (traces, places, occurring) =
        all_traces(traces, signature.as_ref().map(SignatureLike::get))?;
    let signature = match signature {
        Some(signature) => signature,
        None => SignatureLike(Py::new(py, Signature::of(occurring))?),
    };
    let mut learner = Learner::new(
        signature,
        max_disjuncts,
        propositional,
        cyclic,
        forall_alone,
        once,
        counts,
        joins,
    )?;
    let traces = (traces.iter())
        .map(|trace| trace.over(&learner.signature.get().signature))
        .collect::<PyResult<Vec<form_core::Trace>>>()?;
    if lifted || traces.iter().any(|trace| trace.own_signature().is_some()) {
        if once || joins || counts > 1 {
            return Err(PyValueError::new_err(
                "once, counts and joins do not go with objects of the traces' own",
            ));
        }
        let (signature, options) = (learner.signature, learner.options);
        let made = py.detach(|| Learner::of_lifted(signature, options, &traces, !lifted));
        learner = made.map_err(|error| errors::learning(&error))?;
    } else {
        let mut inner = learner.lock();
        for trace in traces {
            inner.add(trace);
        }
    }
    learner.places = places;
    learner.learn(py, max_states, time_limit, memory_limit, progress, tolerate)
}
