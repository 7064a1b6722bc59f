//! `form_rl`'s policies, read from checkpoints and weights files and asked what they would do.

use std::path::PathBuf;

use form_rl::{Batch, Checkpoint, Engine, Network, Outputs, log_softmax};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyReadonlyArrayDyn};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;

use crate::errors::{Class, raise};

/// Logits, values, and what is remembered.
type OutputArrays<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray2<f32>>,
);

/// A policy that was trained natively, as the native code runs it.
///
/// `path` is a checkpoint of a run, and `state` the machine state whose policy is wanted; or a file with one network.
/// `formrl.torch` has the same policies as PyTorch modules.
#[pyclass(module = "formrl")]
pub struct Policy {
    /// The state that it acts in; `policy` where there is one for all.
    #[pyo3(get)]
    name: String,
    /// The ground atoms of its indicators, in order.
    #[pyo3(get)]
    indicators: Vec<String>,
    network: Network,
    engine: Engine,
}

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(signature = (path, state=None))]
    fn new(path: PathBuf, state: Option<&str>) -> PyResult<Self> {
        if state.is_none()
            && let Ok(network) = Network::load(&path)
        {
            return Ok(Self::of("policy".to_owned(), Vec::new(), network));
        }
        let mut policies = Checkpoint::load(&path)
            .map_err(|error| problem(&error))?
            .policies;
        let known: Vec<String> = policies.iter().map(|policy| policy.name.clone()).collect();
        let place = match state {
            Some(state) => known.iter().position(|name| name == state),
            None if known.len() == 1 => Some(0),
            None => None,
        };
        let Some(place) = place else {
            let (asked, known) = (state.unwrap_or("no state"), known.join(", "));
            return Err(PyKeyError::new_err(format!(
                "{}: {asked} was asked for, and there are policies for {known}",
                path.display()
            )));
        };
        let policy = policies.swap_remove(place);
        Ok(Self::of(policy.name, policy.indicators, policy.network))
    }

    /// The number of actions.
    #[getter]
    fn actions(&self) -> usize {
        self.network.actions()
    }

    /// Logits, values and, with memory, the states after them. Images are bytes and vectors numbers, one row per sample; without a
    /// `state`, nothing is remembered.
    #[pyo3(signature = (images=None, vectors=None, state=None))]
    fn evaluate<'py>(
        &mut self,
        py: Python<'py>,
        images: Option<PyReadonlyArrayDyn<'py, u8>>,
        vectors: Option<PyReadonlyArray2<'py, f32>>,
        state: Option<PyReadonlyArray2<'py, f32>>,
    ) -> PyResult<OutputArrays<'py>> {
        let samples = self.samples(images.as_ref(), vectors.as_ref())?;
        let images = images.as_ref().map(PyReadonlyArrayDyn::as_slice);
        let vectors = vectors.as_ref().map(PyReadonlyArray2::as_slice);
        let (images, vectors) = (images.transpose()?, vectors.transpose()?);
        let starts = vec![false; samples];
        let remembered = match &state {
            Some(state) => state.as_slice()?.to_vec(),
            None => vec![0.0; samples * self.network.state()],
        };
        let mut batch = Batch::all(images.unwrap_or_default(), vectors.unwrap_or_default());
        if self.network.is_recurrent() {
            batch.starts = &starts;
            batch.states = &remembered;
        }
        let mut outputs = Outputs::default();
        let (network, engine) = (&self.network, &mut self.engine);
        py.detach(|| engine.evaluate(network, &batch, &mut outputs))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let table = |numbers: Vec<f32>, columns: usize| {
            PyArray1::from_vec(py, numbers).reshape([samples, columns])
        };
        Ok((
            table(outputs.logits, self.network.actions())?,
            PyArray1::from_vec(py, outputs.values),
            table(outputs.states, self.network.state())?,
        ))
    }

    /// The probabilities of the actions, one row per sample, for the arguments of `evaluate`.
    #[pyo3(signature = (images=None, vectors=None, state=None))]
    fn probabilities<'py>(
        &mut self,
        py: Python<'py>,
        images: Option<PyReadonlyArrayDyn<'py, u8>>,
        vectors: Option<PyReadonlyArray2<'py, f32>>,
        state: Option<PyReadonlyArray2<'py, f32>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (logits, _, _) = self.evaluate(py, images, vectors, state)?;
        {
            let mut logits = logits.try_readwrite()?;
            let mut logs = vec![0.0; self.network.actions()];
            for row in logits.as_slice_mut()?.chunks_exact_mut(logs.len()) {
                log_softmax(row, &mut logs);
                for (probability, log) in row.iter_mut().zip(&logs) {
                    *probability = log.exp();
                }
            }
        }
        Ok(logits)
    }

    fn __repr__(&self) -> String {
        let actions = self.network.actions();
        format!("<Policy of {:?} with {actions} actions>", self.name)
    }
}

impl Policy {
    fn of(name: String, indicators: Vec<String>, network: Network) -> Self {
        Self {
            engine: Engine::new(&network, 1),
            name,
            indicators,
            network,
        }
    }

    /// The number of samples: that of the rows given.
    fn samples(
        &self,
        images: Option<&PyReadonlyArrayDyn<'_, u8>>,
        vectors: Option<&PyReadonlyArray2<'_, f32>>,
    ) -> PyResult<usize> {
        let images = images.map(|images| images.as_array().shape().first().copied().unwrap_or(0));
        let vectors = vectors.map(|vectors| vectors.as_array().nrows());
        match (images, vectors) {
            (Some(images), Some(vectors)) if images != vectors => {
                let message = format!("{images} images and {vectors} vectors: as many of both");
                Err(PyValueError::new_err(message))
            }
            (Some(samples), _) | (None, Some(samples)) => Ok(samples),
            (None, None) => {
                let message = "a policy looks at images, vectors or both: give what it sees";
                Err(PyValueError::new_err(message))
            }
        }
    }
}

/// Of a file that cannot be read, or is not what it should be.
pub(crate) fn problem(error: &form_rl::Error) -> PyErr {
    use form_rl::Error::{Damaged, Io, Mismatch};
    let errno = match error {
        Io { source, .. } => source.raw_os_error(),
        _ => None,
    };
    let file = match error {
        Io { path, .. } | Damaged { path, .. } | Mismatch { path, .. } => {
            Some(path.display().to_string())
        }
        _ => None,
    };
    raise(
        Class::File,
        &error.to_string(),
        file.as_deref(),
        None,
        errno,
    )
}
