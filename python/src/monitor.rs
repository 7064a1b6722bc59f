//! `form_core`'s monitors: one run of a machine, fed observation by observation.

use std::sync::Arc;

use form_core::{AtomSet, EdgeId, MachineStatus, StateId};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::read_only;
use crate::bound::BoundMachine;
use crate::logic::Signature;

/// How a monitor keeps its place in a pickle: state, what was seen there, and the newest observation.
type Place<'py> = (
    usize,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<bool>>,
);

/// A run of a machine that is fed what an environment observes, one observation per step.
///
/// Empty observations and repetitions of the last one do not count, as in traces.
///
/// >>> from formrl import Machine, Signature
/// >>> machine = Machine.parse("initial u0\naccept u1\nu0 -> u1 : forall X. yellow(X)")
/// >>> monitor = machine.bind(Signature(["yellow(o0)", "yellow(o1)"])).monitor()
/// >>> monitor.observe(["yellow(o1)"])
/// Step(state='u0', reward=0.0, changed=False, edge=None, over=False)
/// >>> monitor.seen
/// ['yellow(o1)']
/// >>> monitor.observe({"yellow(o0)"})
/// Step(state='u1', reward=1.0, changed=True, edge=0, over=True)
/// >>> monitor.verdict
/// 'goal'
#[pyclass(module = "formrl")]
pub struct Monitor {
    machine: Py<BoundMachine>,
    bound: Arc<form_core::BoundMachine>,
    monitor: form_core::Monitor,
}

#[pymethods]
impl BoundMachine {
    /// A monitor in the initial state.
    fn monitor(slf: Bound<'_, Self>) -> Monitor {
        Monitor::start(slf.unbind())
    }
}

impl Monitor {
    fn start(machine: Py<BoundMachine>) -> Self {
        let bound = machine.get().bound.clone();
        let monitor = form_core::Monitor::new(&bound);
        Self {
            machine,
            bound,
            monitor,
        }
    }

    fn labels(&self) -> &Signature {
        self.machine.get().signature.get()
    }

    fn texts(&self, set: &AtomSet) -> Vec<String> {
        self.labels().texts(set)
    }
}

#[pymethods]
impl Monitor {
    #[new]
    fn new(machine: Py<BoundMachine>) -> Self {
        Self::start(machine)
    }

    /// Takes what was observed in one step: a collection of labels, a dictionary from labels to truth values, a row of
    /// booleans, or an integer of bits.
    fn observe(&mut self, labels: &Bound<'_, PyAny>) -> PyResult<Step> {
        let observation = self.labels().observation(labels)?;
        let before = self.monitor.state();
        let step = self.monitor.observe(&self.bound, &observation);
        let state = self.monitor.state();
        Ok(Step {
            bound: self.bound.clone(),
            state,
            reward: step.reward,
            changed: state != before,
            edge: step.edge,
        })
    }

    /// The machine it runs.
    #[getter]
    fn machine(&self, py: Python<'_>) -> Py<BoundMachine> {
        self.machine.clone_ref(py)
    }

    /// The name of the present state.
    #[getter]
    fn state(&self) -> &str {
        self.bound.machine().state_name(self.monitor.state())
    }

    /// The number of the present state among the machine's states.
    #[getter]
    fn state_index(&self) -> usize {
        self.monitor.state().index()
    }

    /// What has been observed since the state was entered.
    #[getter]
    fn seen(&self) -> Vec<String> {
        self.texts(self.monitor.seen())
    }

    /// The last observation that counted.
    #[getter]
    fn newest(&self) -> Vec<String> {
        self.texts(self.monitor.newest())
    }

    /// `seen` as a row of booleans, one per atom of the signature: a copy, which cannot be written to.
    #[getter]
    fn seen_row<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        read_only(PyArray1::from_vec(
            py,
            self.labels().row(self.monitor.seen()),
        ))
    }

    /// Whether the state is terminal.
    #[getter]
    fn is_over(&self) -> bool {
        self.bound.machine().is_terminal(self.monitor.state())
    }

    /// How the run stands: `"goal"`, `"dead-end"` or `"incomplete"`, the kinds of traces.
    #[getter]
    fn verdict(&self) -> &'static str {
        match self.bound.machine().status(self.monitor.state()) {
            MachineStatus::Accepted => "goal",
            MachineStatus::Rejected => "dead-end",
            MachineStatus::Running => "incomplete",
        }
    }

    /// Starts a new episode.
    fn reset(&mut self) {
        self.monitor.reset(&self.bound);
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        Self {
            machine: self.machine.clone_ref(py),
            bound: self.bound.clone(),
            monitor: self.monitor.clone(),
        }
    }

    fn __deepcopy__(&self, py: Python<'_>, memo: &Bound<'_, PyAny>) -> Self {
        let _ = memo;
        self.__copy__(py)
    }

    fn __repr__(&self) -> String {
        let name = self.bound.machine().name();
        format!("<Monitor of {name:?} in {:?}>", self.state())
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyAny>, (Py<BoundMachine>,), Place<'py>) {
        let row = |set: &AtomSet| PyArray1::from_vec(py, self.labels().row(set));
        let place = (
            self.state_index(),
            row(self.monitor.seen()),
            row(self.monitor.newest()),
        );
        let class = py.get_type::<Self>().into_any();
        (class, (self.machine.clone_ref(py),), place)
    }

    fn __setstate__(
        &mut self,
        state: (
            Bound<'_, PyAny>,
            PyReadonlyArray1<'_, bool>,
            PyReadonlyArray1<'_, bool>,
        ),
    ) -> PyResult<()> {
        let (state, seen, newest) = state;
        let state = self.machine.get().state(&state)?;
        let seen = self.labels().observation(seen.as_any())?;
        let newest = self.labels().observation(newest.as_any())?;
        self.monitor = form_core::Monitor::resumed(&self.bound, state, &seen, &newest);
        Ok(())
    }
}

/// What an observation did.
#[pyclass(module = "formrl", frozen)]
pub struct Step {
    bound: Arc<form_core::BoundMachine>,
    state: StateId,
    /// The reward of the edge that was taken, 0 if none was.
    #[pyo3(get)]
    reward: f64,
    /// Whether the state is another one than before.
    #[pyo3(get)]
    changed: bool,
    edge: Option<EdgeId>,
}

#[pymethods]
impl Step {
    /// The name of the state after it.
    #[getter]
    fn state(&self) -> &str {
        self.bound.machine().state_name(self.state)
    }

    /// The number of the state after it.
    #[getter]
    fn state_index(&self) -> usize {
        self.state.index()
    }

    /// The number of the edge that was taken, if one was.
    #[getter]
    fn edge(&self) -> Option<usize> {
        self.edge.map(EdgeId::index)
    }

    /// Whether the state is terminal.
    #[getter]
    fn over(&self) -> bool {
        self.bound.machine().is_terminal(self.state)
    }

    fn __repr__(&self) -> String {
        let word = |value: bool| if value { "True" } else { "False" };
        let edge = (self.edge()).map_or_else(|| "None".to_owned(), |edge| edge.to_string());
        format!(
            "Step(state='{}', reward={:?}, changed={}, edge={edge}, over={})",
            self.state(),
            self.reward,
            word(self.changed),
            word(self.over())
        )
    }
}
