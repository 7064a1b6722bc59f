//! Many monitors stepped together on numpy arrays, on all cores and without holding Python's lock.

use std::sync::Arc;

use form_core::{AtomId, AtomSet};
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use rayon::prelude::*;

use crate::arrays::read_only;
use crate::bound::BoundMachine;
use crate::errors::{record, wrong_type};
use crate::logic::type_name;
use crate::logic::whole;

/// Monitors that a thread serves without looking up.
const AT_ONCE: usize = 4096;

/// States, rewards, and whether over and changed, as arrays.
type Columns<'py> = (
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<bool>>,
);

/// Many runs of one machine, stepped together.
///
/// >>> import numpy
/// >>> from formrl import Machine, Signature
/// >>> machine = Machine.parse("initial u0\naccept u1\nu0 -> u1 : forall X. yellow(X)")
/// >>> monitors = machine.bind(Signature(["yellow(o0)", "yellow(o1)"])).monitors(3)
/// >>> steps = monitors.observe(numpy.array([[True, False], [True, True], [False, False]]))
/// >>> steps.states.tolist(), steps.rewards.tolist(), steps.over.tolist()
/// ([0, 1, 0], [0.0, 1.0, 0.0], [False, True, False])
#[pyclass(module = "formrl")]
pub struct Monitors {
    machine: Py<BoundMachine>,
    bound: Arc<form_core::BoundMachine>,
    ids: Arc<[AtomId]>,
    monitors: Vec<form_core::Monitor>,
}

#[pymethods]
impl BoundMachine {
    /// `n` monitors that are stepped together.
    fn monitors(
        slf: Bound<'_, Self>,
        #[pyo3(from_py_with = whole)] n: usize,
    ) -> PyResult<Monitors> {
        Monitors::start(slf.unbind(), n)
    }
}

impl Monitors {
    fn start(machine: Py<BoundMachine>, n: usize) -> PyResult<Self> {
        let bound = machine.get().bound.clone();
        let ids = machine.get().signature.get().ids.clone();
        let mut monitors = Vec::new();
        (monitors.try_reserve_exact(n))
            .map_err(|_| PyMemoryError::new_err(format!("no memory for {n} monitors")))?;
        monitors.resize(n, form_core::Monitor::new(&bound));
        Ok(Self {
            machine,
            bound,
            ids,
            monitors,
        })
    }

    /// A boolean for every monitor and atom.
    fn table<'py>(
        &self,
        py: Python<'py>,
        set: impl Fn(&form_core::Monitor) -> &AtomSet,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let mut cells = Vec::with_capacity(self.monitors.len() * self.ids.len());
        for monitor in &self.monitors {
            let set = set(monitor);
            cells.extend(self.ids.iter().map(|id| set.contains(*id)));
        }
        let table = PyArray1::from_vec(py, cells);
        Ok(read_only(
            table.reshape([self.monitors.len(), self.ids.len()])?,
        ))
    }
}

#[pymethods]
impl Monitors {
    #[new]
    fn new(machine: Py<BoundMachine>, #[pyo3(from_py_with = whole)] n: usize) -> PyResult<Self> {
        Self::start(machine, n)
    }

    /// Takes one observation for every monitor, a row of booleans each, or for those that `mask` marks: the others stay. `out`, what
    /// an earlier call returned, is written to and returned.
    #[pyo3(signature = (labels, out=None, mask=None))]
    fn observe<'py>(
        &mut self,
        py: Python<'py>,
        labels: &Bound<'py, PyAny>,
        out: Option<Bound<'py, PyAny>>,
        mask: Option<PyReadonlyArray1<'py, bool>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static STEPS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let n = self.monitors.len();
        let table = self.labels_of(labels)?;
        let mask = match &mask {
            None => None,
            Some(mask) => {
                expect_rows("booleans in the mask", n, mask.len())?;
                Some(mask.as_slice()?)
            }
        };
        let (columns, out) = match out {
            Some(out) => (columns_of(&out, n)?, Some(out)),
            None => (
                (
                    PyArray1::zeros(py, n, false),
                    PyArray1::zeros(py, n, false),
                    PyArray1::zeros(py, n, false),
                    PyArray1::zeros(py, n, false),
                ),
                None,
            ),
        };
        {
            let mut states: PyReadwriteArray1<'_, i32> = columns.0.try_readwrite()?;
            let mut rewards: PyReadwriteArray1<'_, f64> = columns.1.try_readwrite()?;
            let mut over: PyReadwriteArray1<'_, bool> = columns.2.try_readwrite()?;
            let mut changed: PyReadwriteArray1<'_, bool> = columns.3.try_readwrite()?;
            let batch = Batch {
                bound: &self.bound,
                ids: &self.ids,
                labels: table.as_slice()?,
                mask,
            };
            let (states, rewards) = (states.as_slice_mut()?, rewards.as_slice_mut()?);
            let (over, changed) = (over.as_slice_mut()?, changed.as_slice_mut()?);
            let monitors = &mut self.monitors[..];
            py.detach(|| batch.step_all(monitors, states, rewards, over, changed));
        }
        match out {
            Some(out) => Ok(out),
            None => record(py, &STEPS, "Steps")?.call1(columns),
        }
    }

    /// Starts a new episode in all monitors, or in those that `mask` marks.
    #[pyo3(signature = (mask=None))]
    fn reset(&mut self, mask: Option<PyReadonlyArray1<'_, bool>>) -> PyResult<()> {
        match mask {
            None => {
                for monitor in &mut self.monitors {
                    monitor.reset(&self.bound);
                }
            }
            Some(mask) => {
                expect_rows("booleans in the mask", self.monitors.len(), mask.len())?;
                for (monitor, wanted) in self.monitors.iter_mut().zip(mask.as_array()) {
                    if *wanted {
                        monitor.reset(&self.bound);
                    }
                }
            }
        }
        Ok(())
    }

    /// The machine they run.
    #[getter]
    fn machine(&self, py: Python<'_>) -> Py<BoundMachine> {
        self.machine.clone_ref(py)
    }

    /// The number of the state of each, among the machine's states. This and the next three are copies, which cannot be written to.
    #[getter]
    fn states<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i32>> {
        let states = (self.monitors.iter()).map(|monitor| monitor.state().index() as i32);
        read_only(PyArray1::from_iter(py, states))
    }

    /// Whether each has seen each atom since it entered its state.
    #[getter]
    fn seen<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        self.table(py, form_core::Monitor::seen)
    }

    /// The last observation of each that counted.
    #[getter]
    fn newest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        self.table(py, form_core::Monitor::newest)
    }

    /// Whether the state of each is terminal.
    #[getter]
    fn over<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        let machine = self.bound.machine();
        let over = (self.monitors.iter()).map(|monitor| machine.is_terminal(monitor.state()));
        read_only(PyArray1::from_iter(py, over))
    }

    fn __len__(&self) -> usize {
        self.monitors.len()
    }

    fn __repr__(&self) -> String {
        let name = self.bound.machine().name();
        format!("<{} Monitors of {name:?}>", self.monitors.len())
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        Self {
            machine: self.machine.clone_ref(py),
            bound: self.bound.clone(),
            ids: self.ids.clone(),
            monitors: self.monitors.clone(),
        }
    }

    fn __deepcopy__(&self, py: Python<'_>, memo: &Bound<'_, PyAny>) -> Self {
        let _ = memo;
        self.__copy__(py)
    }

    #[allow(clippy::type_complexity, reason = "what pickle wants")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(
        Bound<'py, PyAny>,
        (Py<BoundMachine>, usize),
        (
            Bound<'py, PyArray1<i32>>,
            Bound<'py, PyArray2<bool>>,
            Bound<'py, PyArray2<bool>>,
        ),
    )> {
        let place = (self.states(py), self.seen(py)?, self.newest(py)?);
        let parts = (self.machine.clone_ref(py), self.monitors.len());
        Ok((py.get_type::<Self>().into_any(), parts, place))
    }

    fn __setstate__(
        &mut self,
        state: (
            PyReadonlyArray1<'_, i32>,
            PyReadonlyArray2<'_, bool>,
            PyReadonlyArray2<'_, bool>,
        ),
    ) -> PyResult<()> {
        let (states, seen, newest) = state;
        expect_rows("states", self.monitors.len(), states.len())?;
        let row = |table: &PyReadonlyArray2<'_, bool>, i: usize| -> PyResult<AtomSet> {
            let wrong = || PyValueError::new_err("the rows do not fit the signature");
            let table = table.as_array();
            if table.dim() != (self.monitors.len(), self.ids.len()) {
                return Err(wrong());
            }
            let members = self.ids.iter().zip(table.row(i));
            Ok(members
                .filter(|(_, there)| **there)
                .map(|(id, _)| *id)
                .collect())
        };
        let known: Vec<_> = self.bound.machine().state_ids().collect();
        let mut monitors = Vec::with_capacity(self.monitors.len());
        for (i, state) in states.as_array().iter().enumerate() {
            let state = usize::try_from(*state).ok().and_then(|i| known.get(i));
            let state = *state.ok_or_else(|| PyValueError::new_err("no state has this number"))?;
            let (seen, newest) = (row(&seen, i)?, row(&newest, i)?);
            monitors.push(form_core::Monitor::resumed(
                &self.bound,
                state,
                &seen,
                &newest,
            ));
        }
        self.monitors = monitors;
        Ok(())
    }
}

impl Monitors {
    /// The labels as a table in memory order.
    fn labels_of<'py>(&self, labels: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray2<'py, bool>> {
        let (n, atoms) = (self.monitors.len(), self.ids.len());
        let table = labels.cast::<PyArray2<bool>>().map_err(|_| {
            let given = (labels.getattr("dtype")).map_or_else(
                |_| type_name(labels),
                |dtype| format!("an array of {dtype} with another shape or type"),
            );
            wrong_type(format!(
                "expected labels as a numpy array of booleans of shape ({n}, {atoms}), not {given}"
            ))
        })?;
        if table.shape() != [n, atoms] {
            return Err(PyValueError::new_err(format!(
                "expected labels of shape ({n}, {atoms}), one row per monitor and one column per atom, not {:?}",
                table.shape()
            )));
        }
        if table.is_c_contiguous() {
            Ok(table.try_readonly()?)
        } else {
            let copied = table.call_method1("copy", ("C",))?;
            Ok(copied.cast::<PyArray2<bool>>()?.try_readonly()?)
        }
    }
}

/// What a step of many monitors needs.
struct Batch<'a> {
    bound: &'a form_core::BoundMachine,
    ids: &'a [AtomId],
    labels: &'a [bool],
    /// Which monitors take their observation; without it, all.
    mask: Option<&'a [bool]>,
}

impl Batch<'_> {
    fn step_all(
        &self,
        monitors: &mut [form_core::Monitor],
        states: &mut [i32],
        rewards: &mut [f64],
        over: &mut [bool],
        changed: &mut [bool],
    ) {
        let machine = self.bound.machine();
        let atoms = self.ids.len();
        let chunks = monitors
            .par_chunks_mut(AT_ONCE)
            .zip(states.par_chunks_mut(AT_ONCE))
            .zip(rewards.par_chunks_mut(AT_ONCE))
            .zip(over.par_chunks_mut(AT_ONCE))
            .zip(changed.par_chunks_mut(AT_ONCE))
            .enumerate();
        chunks.for_each(
            |(chunk, ((((monitors, states), rewards), over), changed))| {
                let mut observation = AtomSet::with_room_for(atoms);
                for (i, monitor) in monitors.iter_mut().enumerate() {
                    let row = &self.labels[(chunk * AT_ONCE + i) * atoms..][..atoms];
                    observation.clear();
                    for (id, there) in self.ids.iter().zip(row) {
                        if *there {
                            observation.insert(*id);
                        }
                    }
                    let before = monitor.state();
                    let step = match self.mask.is_none_or(|mask| mask[chunk * AT_ONCE + i]) {
                        true => monitor.observe(self.bound, &observation),
                        false => form_core::Step::STAY,
                    };
                    let state = monitor.state();
                    states[i] = state.index() as i32;
                    rewards[i] = step.reward;
                    over[i] = machine.is_terminal(state);
                    changed[i] = state != before;
                }
            },
        );
    }
}

/// The arrays of an earlier answer.
fn columns_of<'py>(out: &Bound<'py, PyAny>, n: usize) -> PyResult<Columns<'py>> {
    let columns: Columns<'py> = out.extract().map_err(|_| {
        wrong_type("out: expected the Steps that an earlier call returned".to_owned())
    })?;
    for length in [
        columns.0.len(),
        columns.1.len(),
        columns.2.len(),
        columns.3.len(),
    ] {
        expect_rows("entries of out", n, length)?;
    }
    Ok(columns)
}

fn expect_rows(what: &str, expected: usize, given: usize) -> PyResult<()> {
    if expected == given {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "expected {expected} {what}, got {given}"
    )))
}
