//! `form_learn`: the smallest machine for some traces, learnt on a thread of its own while Python goes on, listens for Ctrl-C
//! and tells how far it has come.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use form_learn::{
    LearnOutcome, Limits, Options, OtherSuspects, Round, SearchProgress, StopReason, Tolerance,
    TolerantOutcome,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyDict, PyString, PyType};

use crate::errors::{self, record};
use crate::logic::{Signature, SignatureLike};
use crate::machine::Machine;
use crate::trace::Trace;
use crate::trace_input::all_traces;
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
}

/// The learner, and what it was told, to tell it again.
struct Inner {
    learner: form_learn::Learner,
    /// Every trace that was added, duplicates included, in order.
    added: Vec<form_core::Trace>,
}

impl Inner {
    fn new(signature: &Signature, options: &Options, added: Vec<form_core::Trace>) -> Self {
        let mut learner = form_learn::Learner::new(&signature.signature, options);
        for trace in &added {
            learner.add(trace);
        }
        Self { learner, added }
    }

    fn add(&mut self, trace: form_core::Trace) -> Option<usize> {
        let number = self.learner.add(&trace);
        self.added.push(trace);
        number
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
        max_disjuncts: usize,
        propositional: bool,
        cyclic: bool,
        forall_alone: bool,
        once: bool,
        counts: usize,
        joins: bool,
    ) -> PyResult<Self> {
        for (name, number) in [("max_disjuncts", max_disjuncts), ("counts", counts)] {
            if !(1..=64).contains(&number) {
                let message = format!("{name} is a number from 1 to 64");
                return Err(PyValueError::new_err(message));
            }
        }
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

    /// Adds a trace; its number, or `None` if it was there already.
    fn add(&self, py: Python<'_>, trace: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        let trace = self.read(trace)?;
        Ok(py.detach(|| self.lock().add(trace)))
    }

    /// Takes a trace back, as often as it was added; whether it was there. Traces that were added after it have other numbers then.
    fn remove(&self, py: Python<'_>, trace: &Bound<'_, PyAny>) -> PyResult<bool> {
        let trace = self.read(trace)?;
        Ok(py.detach(|| {
            let mut inner = self.lock();
            let before = inner.added.len();
            let mut added = std::mem::take(&mut inner.added);
            added.retain(|other| *other != trace);
            let removed = added.len() < before;
            match removed {
                // A proof may rest on the trace: the search begins anew.
                true => *inner = Inner::new(self.signature.get(), &self.options, added),
                false => inner.added = added,
            }
            removed
        }))
    }

    /// A learner with the same options and traces, which goes its own way.
    fn copy(&self, py: Python<'_>) -> Self {
        let added = py.detach(|| self.lock().added.clone());
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
        let traces = py.detach(|| self.lock().added.clone()).into_iter();
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
        max_states: usize,
        time_limit: Option<f64>,
        memory_limit: Option<u64>,
        progress: Option<Bound<'py, PyAny>>,
        tolerate: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if max_states == 0 {
            return Err(PyValueError::new_err("max_states is at least 1"));
        }
        let tolerance = tolerate.as_ref().map(tolerance).transpose()?;
        let time = time_limit.map(Duration::try_from_secs_f64).transpose();
        let time = time
            .map_err(|_| PyValueError::new_err("time_limit is a number of seconds, not below 0"))?;
        let limits = Limits {
            max_states,
            time,
            memory: memory_limit.map(|mib| mib.saturating_mul(1 << 20)),
            interrupt: Some(Arc::new(AtomicBool::new(false))),
            progress: Some(Arc::new(SearchProgress::default())),
            ..Limits::default()
        };
        let start = Instant::now();
        let work = || -> form_learn::Result<_> {
            let mut inner = self.lock();
            let learner = &mut inner.learner;
            let traces = learner.traces();
            if let Some(tolerance) = tolerance {
                let learnt = learner.learn_tolerant(tolerance, &limits)?;
                return Ok((
                    learnt.outcome.clone(),
                    learnt.rounds.clone(),
                    traces,
                    Some(learnt),
                ));
            }
            let outcome = learner.learn(&limits)?;
            Ok((outcome, learner.rounds().to_vec(), traces, None))
        };
        let found = watched(py, &limits, progress.as_ref(), work)?;
        let (outcome, rounds, traces, tolerant) =
            found.map_err(|error| errors::learning(&error))?;
        let seconds = start.elapsed().as_secs_f64();
        let sentence = match &tolerant {
            Some(learnt) => {
                let found = learnt.describe(&state_limit(max_states));
                let warning = learnt.warning("tolerate=1").into_iter();
                (warning.map(|warning| format!("; {warning}"))).fold(found, |all, one| all + &one)
            }
            None => sentence(&outcome, max_states),
        };
        let found = (&outcome, &rounds[..], sentence);
        self.result(py, found, traces, seconds, tolerant.as_ref())
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
        let inner = Inner::new(signature.get(), &options, added);
        Self {
            signature,
            options,
            learner: Mutex::new(inner),
            lifted: false,
        }
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
        let mut learner = form_learn::Learner::lifted(&lifted.signature, &options);
        for trace in &lifted.traces {
            learner.add(trace);
        }
        Ok(Self {
            signature,
            options,
            learner: Mutex::new(Inner {
                learner,
                added: Vec::new(),
            }),
            lifted: true,
        })
    }

    /// The trace that a Python value stands for, over the learner's signature.
    fn read(&self, trace: &Bound<'_, PyAny>) -> PyResult<form_core::Trace> {
        let signature = self.signature.get();
        Trace::read(trace, Some(signature))?.over(&signature.signature)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        // A learner that panicked has been left as it was between two questions to its solver.
        self.learner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn result<'py>(
        &self,
        py: Python<'py>,
        (outcome, rounds, sentence): (&LearnOutcome, &[Round], String),
        traces: usize,
        seconds: f64,
        tolerant: Option<&TolerantOutcome>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static SUSPECT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static LEVEL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static RESULT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static ROUND: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let learnt = outcome.learnt();
        let machine = learnt.map(|learnt| match self.lifted {
            true => form_learn::unlift(&learnt.machine).map(Machine::of),
            false => Ok(Machine::of(learnt.machine.clone())),
        });
        let machine = machine
            .transpose()
            .map_err(|error| errors::learning(&error))?;
        let (name, at_least) = match outcome {
            // Of other numbers of states nothing is proven.
            LearnOutcome::Minimal(_) if tolerant.is_some_and(TolerantOutcome::by_description) => {
                ("shortest-description", (1, 0))
            }
            LearnOutcome::Minimal(learnt) => ("minimal", (learnt.states, learnt.cost.size)),
            LearnOutcome::Stopped {
                reason,
                at_least_states,
                at_least_cost,
                ..
            } => (stop_name(*reason), (*at_least_states, *at_least_cost)),
            LearnOutcome::Contradictory(_) => ("contradictory", (0, 0)),
        };
        let contradictions = match outcome {
            LearnOutcome::Contradictory(pairs) => pairs.clone(),
            _ => Vec::new(),
        };
        let rounds = (rounds.iter())
            .map(|round| {
                record(py, &ROUND, "Round")?.call1((
                    round.states,
                    round.counterexamples,
                    round.steps,
                    round.solver_calls,
                    round.clauses,
                    round.time.as_secs_f64(),
                    round.refuted,
                ))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let to_python = |suspects: &[form_learn::Suspect]| {
            (suspects.iter())
                .map(|suspect| {
                    let expected = suspect.expected.as_str();
                    record(py, &SUSPECT, "Suspect")?.call1((suspect.trace, expected, suspect.after))
                })
                .collect::<PyResult<Vec<_>>>()
        };
        let suspects = to_python(tolerant.map_or(&[], |learnt| &learnt.suspects))?;
        let others = match tolerant.map(|learnt| &learnt.others) {
            None | Some(OtherSuspects::None) => Some(Vec::new()),
            Some(OtherSuspects::Traces(others)) => Some(to_python(others)?),
            Some(OtherSuspects::Unknown) => None,
        };
        let levels = (tolerant.into_iter().flat_map(|learnt| &learnt.levels))
            .map(|level| {
                record(py, &LEVEL, "Level")?.call1((
                    level.states,
                    level.fewest_misjudged,
                    level.at_least,
                    level.bits,
                    level.shortest_proven,
                ))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let sentence = [("sentence", sentence)].into_py_dict(py)?;
        let parts = (
            machine,
            name,
            learnt.map(|learnt| learnt.states),
            learnt.map(|learnt| learnt.cost.size),
            at_least.0,
            at_least.1,
            contradictions,
            rounds,
            self.signature.clone_ref(py),
            traces,
            seconds,
            (
                tolerant.map_or(0, |learnt| learnt.misjudged),
                suspects,
                levels,
                others,
            ),
        );
        record(py, &RESULT, "LearnResult")?.call(parts, Some(&sentence))
    }
}

/// The maximum number of states as it is written in Python.
fn state_limit(max_states: usize) -> String {
    format!("max_states={max_states}")
}

/// The sentence of `form learn`, with the arguments of Python and the contradictory traces.
fn sentence(outcome: &LearnOutcome, max_states: usize) -> String {
    let LearnOutcome::Contradictory(pairs) = outcome else {
        return outcome.describe(&state_limit(max_states));
    };
    let which: Vec<String> = (pairs.iter().take(3))
        .map(|(first, second)| match first == second {
            true => format!("trace {first} is over before the first observation"),
            false => format!("traces {first} and {second} end in different ways"),
        })
        .collect();
    format!(
        "no machine is consistent with the traces: {}: {}",
        outcome.describe(""),
        which.join(", ")
    )
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

fn stop_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Time => "time-limit",
        StopReason::Work => "work-limit",
        StopReason::States => "state-limit",
        StopReason::Memory => "memory-limit",
        StopReason::Interrupted => "interrupted",
    }
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
    max_disjuncts: usize,
    propositional: bool,
    cyclic: bool,
    forall_alone: bool,
    once: bool,
    counts: usize,
    joins: bool,
    max_states: usize,
    time_limit: Option<f64>,
    memory_limit: Option<u64>,
    progress: Option<Bound<'py, PyAny>>,
    tolerate: Option<Bound<'py, PyAny>>,
    lifted: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (traces, occurring) = all_traces(traces, signature.as_ref().map(SignatureLike::get))?;
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
    learner.learn(py, max_states, time_limit, memory_limit, progress, tolerate)
}
