//! Machines and traces together: what a machine makes of a trace, and whether the two agree.

use std::sync::Arc;

use form_core::MachineStatus;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::bound::BoundMachine;
use crate::errors::{self, record};
use crate::logic::{SignatureLike, type_name};
use crate::machine::Machine;
use crate::trace::Trace;

#[pymethods]
impl Machine {
    /// What the machine makes of a trace, or of observations in order, as a `MachineRun`. Without a signature, over that of the trace.
    ///
    /// >>> from formrl import Machine
    /// >>> machine = Machine.parse("initial u0\naccept u2\nu0 -> u1 : key\nu1 -> u2 : goal")
    /// >>> machine.run([["key"], [], ["goal"]])
    /// MachineRun(states=['u0', 'u1', 'u2'], rewards=[0.0, 1.0], verdict='goal')
    #[pyo3(signature = (trace, signature=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        trace: &Bound<'py, PyAny>,
        signature: Option<SignatureLike>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static RUN: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let given = signature.as_ref().map(SignatureLike::get);
        let trace = Trace::read_steps(trace, given, self.machine.step_mode())?;
        let signature = given.unwrap_or(&trace.signature).signature.clone();
        let bound = form_core::BoundMachine::new(self.machine.clone(), signature.clone())
            .map_err(|error| errors::core(&error))?;
        let mut monitor = form_core::Monitor::new(&bound);
        let mut states = vec![self.machine.state_name(self.machine.initial())];
        let mut rewards = Vec::new();
        for step in trace.over(&signature)?.steps() {
            rewards.push(monitor.observe(&bound, step).reward);
            states.push(self.machine.state_name(monitor.state()));
        }
        let verdict = match self.machine.status(monitor.state()) {
            MachineStatus::Accepted => "goal",
            MachineStatus::Rejected => "dead-end",
            MachineStatus::Running => "incomplete",
        };
        record(py, &RUN, "MachineRun")?.call1((states, rewards, verdict))
    }
}

#[pymethods]
impl Trace {
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
            Arc::new(
                form_core::BoundMachine::new(machine, self.signature.signature.clone())
                    .map_err(core)?,
            )
        };
        let name = format!("the machine {}", bound.machine().name());
        (self.trace.step_mode())
            .must_be(bound.machine().step_mode(), "the trace", &name)
            .map_err(core)?;
        let trace = self.over(bound.signature())?;
        Ok(trace.disagreement(&bound).is_none())
    }
}
