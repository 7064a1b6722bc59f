//! `form_core`'s bound machines: compiled for what can be observed, ready to run.

use std::sync::Arc;

use form_core::StateId;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors;
use crate::logic::{Signature, SignatureLike};
use crate::machine::Machine;

/// A machine compiled for a signature: what monitors run.
///
/// >>> from formrl import Machine, Signature
/// >>> machine = Machine.parse("initial u0\naccept u1\nu0 -> u1 : forall X. yellow(X)")
/// >>> bound = machine.bind(Signature(["yellow(o0)", "yellow(o1)", "goal"]))
/// >>> bound.progress_atoms("u0")
/// ['yellow(o0)', 'yellow(o1)']
#[pyclass(module = "formrl", frozen)]
pub struct BoundMachine {
    pub bound: Arc<form_core::BoundMachine>,
    pub signature: Py<Signature>,
    machine: Py<Machine>,
}

#[pymethods]
impl BoundMachine {
    #[new]
    pub fn new(machine: Py<Machine>, signature: SignatureLike) -> PyResult<Self> {
        let SignatureLike(signature) = signature;
        let bound = form_core::BoundMachine::new(
            machine.get().machine.clone(),
            signature.get().signature.clone(),
        )
        .map_err(|error| errors::core(&error))?;
        Ok(Self {
            bound: Arc::new(bound),
            signature,
            machine,
        })
    }

    /// The machine.
    #[getter]
    fn machine(&self, py: Python<'_>) -> Py<Machine> {
        self.machine.clone_ref(py)
    }

    /// What can be observed.
    #[getter]
    fn signature(&self, py: Python<'_>) -> Py<Signature> {
        self.signature.clone_ref(py)
    }

    /// The atoms that the `forall`s on the edges out of a state wait for: with "seen since the state was entered" of these, the
    /// state's sub-task is Markovian.
    fn progress_atoms(&self, state: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let state = self.state(state)?;
        let atoms = self.bound.progress_atoms(state);
        Ok(self.signature.get().texts(atoms))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            other.bound.machine() == self.bound.machine()
                && other.signature.get().same(self.signature.get())
        })
    }

    fn __hash__(&self) -> u64 {
        self.machine.get().__hash__()
    }

    fn __repr__(&self) -> String {
        format!(
            "<BoundMachine {:?} over {} atoms>",
            self.bound.machine().name(),
            self.bound.signature().len()
        )
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyAny>, (Py<Machine>, Py<Signature>)) {
        let parts = (self.machine.clone_ref(py), self.signature.clone_ref(py));
        (py.get_type::<Self>().into_any(), parts)
    }
}

#[pymethods]
impl Machine {
    /// The machine, compiled for a signature or a collection of atoms.
    fn bind(slf: Bound<'_, Self>, signature: SignatureLike) -> PyResult<BoundMachine> {
        BoundMachine::new(slf.unbind(), signature)
    }
}

impl BoundMachine {
    /// A state by its name or its number.
    pub fn state(&self, state: &Bound<'_, PyAny>) -> PyResult<StateId> {
        let machine = self.bound.machine();
        let found = if let Ok(name) = state.extract::<String>() {
            machine.state(&name)
        } else {
            let number: usize = state.extract()?;
            machine.state_ids().nth(number)
        };
        found.ok_or_else(|| {
            PyValueError::new_err(format!(
                "the machine {:?} has no state {state}",
                machine.name()
            ))
        })
    }
}
