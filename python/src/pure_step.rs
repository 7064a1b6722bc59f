//! The transition function of a machine as a function: from states, windows and labels to what they become, one or many at once.
//!
//! What counterfactual experience (CRM, Toro Icarte et al. 2022) needs: what would a step have done in every other state?

use form_core::{AtomSet, Monitor, StateId};
use numpy::{
    PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use rayon::prelude::*;

use crate::bound::BoundMachine;
use crate::errors::{record, wrong_type};
use crate::logic::type_name;

/// Steps that a thread takes without looking up.
const AT_ONCE: usize = 1024;

#[pymethods]
impl BoundMachine {
    /// The state in which runs start, by number, and an empty window: two rows of booleans, what has been seen since the state was
    /// entered, and the newest observation.
    fn start<'py>(&self, py: Python<'py>) -> (usize, Bound<'py, PyArray2<bool>>) {
        let atoms = self.signature.get().ids.len();
        let initial = self.bound.machine().initial().index();
        (initial, PyArray2::zeros(py, [2, atoms], false))
    }

    /// What an observation does in a state with a window, without a monitor that changes: a `PureStep` of state, window, reward,
    /// and whether the state is terminal.
    ///
    /// Of many, `state` is a row of numbers, `window` an array (steps, 2, atoms), `labels` an array of booleans (steps, atoms).
    ///
    /// >>> from formrl import Machine
    /// >>> bound = Machine.parse("initial u0\naccept u1\nu0 -> u1 : forall X. p(X)").bind(["p(a)", "p(b)"])
    /// >>> state, window = bound.start()
    /// >>> state, window, reward, over = bound.step(state, window, ["p(b)"])
    /// >>> state, window.tolist(), reward, over
    /// (0, [[False, True], [False, True]], 0.0, False)
    /// >>> bound.step(state, window, ["p(a)"]).reward
    /// 1.0
    fn step<'py>(
        &self,
        py: Python<'py>,
        state: &Bound<'py, PyAny>,
        window: &Bound<'py, PyAny>,
        labels: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static STEP: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static STEPS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        if state.hasattr("shape")? && state.len().is_ok() {
            return record(py, &STEPS, "PureSteps")?
                .call1(self.step_all(py, state, window, labels)?);
        }
        let ids = &self.signature.get().ids;
        let state = self.state(state)?;
        let window: PyReadonlyArray2<'_, bool> = window.extract().map_err(|_| {
            wrong_type(format!(
                "expected the window as a numpy array of booleans of shape (2, {}), not {}",
                ids.len(),
                type_name(window)
            ))
        })?;
        expect_shape("the window", window.shape(), &[2, ids.len()])?;
        let row = |i: usize| -> AtomSet {
            let members = ids.iter().zip(window.as_array().row(i).to_vec());
            members
                .filter(|(_, there)| *there)
                .map(|(id, _)| *id)
                .collect()
        };
        let observation = self.signature.get().observation(labels)?;
        let mut monitor = Monitor::resumed(&self.bound, state, &row(0), &row(1));
        let step = monitor.observe(&self.bound, &observation);
        let mut cells = self.signature.get().row(monitor.seen());
        cells.extend(self.signature.get().row(monitor.newest()));
        record(py, &STEP, "PureStep")?.call1((
            monitor.state().index(),
            PyArray1::from_vec(py, cells).reshape([2, ids.len()])?,
            step.reward,
            self.bound.machine().is_terminal(monitor.state()),
        ))
    }
}

/// States, windows, rewards, and whether over.
type Columns<'py> = (
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray3<bool>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
);

impl BoundMachine {
    fn step_all<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
        windows: &Bound<'py, PyAny>,
        labels: &Bound<'py, PyAny>,
    ) -> PyResult<Columns<'py>> {
        let ids = &self.signature.get().ids;
        let atoms = ids.len();
        let wrong = |what: &str| {
            wrong_type(format!(
                "expected states as a row of integers, windows as an array of booleans (steps, 2, {atoms}) and labels as one \
                 (steps, {atoms}): the {what} are another thing"
            ))
        };
        let numbers = states.call_method1("astype", ("int64",));
        let numbers = numbers.map_err(|_| wrong("states"))?;
        let numbers: PyReadonlyArray1<'_, i64> = numbers.extract().map_err(|_| wrong("states"))?;
        let windows = windows.call_method0("copy").map_err(|_| wrong("windows"))?;
        let windows: PyReadonlyArray3<'_, bool> =
            windows.extract().map_err(|_| wrong("windows"))?;
        let labels = labels.call_method1("copy", ("C",));
        let labels = labels.map_err(|_| wrong("labels"))?;
        let labels: PyReadonlyArray2<'_, bool> = labels.extract().map_err(|_| wrong("labels"))?;
        let n = numbers.len();
        expect_shape("windows", windows.shape(), &[n, 2, atoms])?;
        expect_shape("labels", labels.shape(), &[n, atoms])?;
        let known: Vec<StateId> = self.bound.machine().state_ids().collect();
        let before = (numbers.as_array().iter())
            .map(|number| {
                usize::try_from(*number)
                    .ok()
                    .and_then(|i| known.get(i))
                    .copied()
            })
            .collect::<Option<Vec<StateId>>>()
            .ok_or_else(|| PyValueError::new_err("no state has this number"))?;
        let mut after = vec![0_i32; n];
        let mut rewards = vec![0.0; n];
        let mut over = vec![false; n];
        let mut cells = windows.as_slice()?.to_vec();
        let labels = labels.as_slice()?;
        let (bound, machine) = (&self.bound, self.bound.machine());
        // A machine whose signature is empty has rows without columns.
        let width = (2 * atoms).max(1);
        cells.resize(n * width, false);
        let work = || {
            let chunks = (cells.par_chunks_mut(AT_ONCE * width))
                .zip(after.par_chunks_mut(AT_ONCE))
                .zip(rewards.par_chunks_mut(AT_ONCE))
                .zip(over.par_chunks_mut(AT_ONCE))
                .enumerate();
            chunks.for_each(|(chunk, (((cells, after), rewards), over))| {
                let set = |row: &[bool]| -> AtomSet {
                    let members = ids.iter().zip(row);
                    members
                        .filter(|(_, there)| **there)
                        .map(|(id, _)| *id)
                        .collect()
                };
                for i in 0..after.len() {
                    let at = chunk * AT_ONCE + i;
                    let window = &mut cells[i * width..][..2 * atoms];
                    let (seen, newest) = (set(&window[..atoms]), set(&window[atoms..]));
                    let observation = set(&labels[at * atoms..][..atoms]);
                    let mut monitor = Monitor::resumed(bound, before[at], &seen, &newest);
                    let step = monitor.observe(bound, &observation);
                    for (column, id) in ids.iter().enumerate() {
                        window[column] = monitor.seen().contains(*id);
                        window[atoms + column] = monitor.newest().contains(*id);
                    }
                    after[i] = monitor.state().index() as i32;
                    rewards[i] = step.reward;
                    over[i] = machine.is_terminal(monitor.state());
                }
            });
        };
        py.detach(work);
        cells.truncate(n * 2 * atoms);
        Ok((
            PyArray1::from_vec(py, after),
            PyArray1::from_vec(py, cells).reshape([n, 2, atoms])?,
            PyArray1::from_vec(py, rewards),
            PyArray1::from_vec(py, over),
        ))
    }
}

fn expect_shape(what: &str, found: &[usize], wanted: &[usize]) -> PyResult<()> {
    if found == wanted {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "expected {what} of shape {wanted:?}, not {found:?}"
    )))
}
