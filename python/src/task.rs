//! `form_env`'s tasks: built in, or from a file.

use std::sync::Arc;

use form_env::builtin_tasks;
use pyo3::prelude::*;

use crate::errors::world;
use crate::logic::Signature;
use crate::machine::Machine;

/// A task: a room, what lies in it, and the machine that says when it is done.
///
/// >>> from formrl import Task
/// >>> Task.builtin()[:3]
/// ['all-yellow', 'all-yellow-4', 'all-yellow-6']
/// >>> Task("all-yellow").machine.states
/// ['u0', 'u1', 'u_acc']
#[pyclass(module = "formrl", frozen)]
pub struct Task {
    pub task: Arc<form_env::Task>,
}

#[pymethods]
impl Task {
    /// The built-in task of that name, or the one that a `.toml` file describes.
    #[new]
    fn new(name: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name: std::path::PathBuf = name.extract()?;
        let task = form_env::Task::find(&name.display().to_string()).map_err(|e| world(&e))?;
        Ok(Self {
            task: Arc::new(task),
        })
    }

    /// The names of the built-in tasks.
    #[staticmethod]
    fn builtin() -> Vec<String> {
        (builtin_tasks().iter())
            .map(|task| task.name().to_owned())
            .collect()
    }

    /// Reads the text of a task file whose machine stands in it.
    #[staticmethod]
    fn from_toml(text: &str) -> PyResult<Self> {
        let task = form_env::Task::from_toml(text).map_err(|error| world(&error))?;
        Ok(Self {
            task: Arc::new(task),
        })
    }

    /// The text of a task file, its machine in it.
    fn to_toml(&self) -> String {
        self.task.to_toml()
    }

    /// What it is called.
    #[getter]
    fn name(&self) -> &str {
        self.task.name()
    }

    /// What is to be done, in one sentence.
    #[getter]
    fn about(&self) -> &str {
        &self.task.description().about
    }

    /// What can be observed.
    #[getter]
    fn signature(&self) -> Signature {
        Signature::of(Arc::new(self.task.signature().clone()))
    }

    /// The ground truth.
    #[getter]
    fn machine(&self) -> Machine {
        Machine::of(self.task.truth().machine().clone())
    }

    /// After how many steps an episode is cut off.
    #[getter]
    fn steps(&self) -> u32 {
        self.task.steps()
    }

    fn __repr__(&self) -> String {
        format!("<Task {:?}: {}>", self.name(), self.about())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let class = py.get_type::<Self>();
        Ok((class.getattr("from_toml")?, (self.to_toml(),)))
    }
}
