//! `form_rl`'s policy for sub-tasks: reach one of these cells, step on none of those.

use std::path::PathBuf;

use form_env::{Cell, Direction, ReachAvoid};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use crate::policy::problem;

/// The policy that carries out the sub-tasks of all machines. Called with planes and a pose, it returns the probabilities of the actions
/// `left`, `right` and `forward`.
///
/// Planes are arrays of booleans, indexed by column and row as MiniGrid's image; directions are MiniGrid's numbers.
#[pyclass(module = "formrl")]
pub struct ReachAvoidPolicy {
    policy: form_rl::ReachAvoidPolicy,
}

#[pymethods]
impl ReachAvoidPolicy {
    /// The policy that comes with the package. With a `shield` it never goes forward onto a cell to avoid.
    #[staticmethod]
    #[pyo3(signature = (*, shield=false))]
    fn shipped(shield: bool) -> Self {
        let policy = form_rl::ReachAvoidPolicy::shipped().with_shield(shield);
        Self { policy }
    }

    /// Reads a policy that `form pretrain` made.
    #[staticmethod]
    #[pyo3(signature = (path, *, shield=false))]
    #[allow(clippy::needless_pass_by_value, reason = "what Python passes")]
    fn open(path: PathBuf, shield: bool) -> PyResult<Self> {
        let policy = form_rl::ReachAvoidPolicy::open(&path).map_err(|error| problem(&error))?;
        let policy = policy.with_shield(shield);
        Ok(Self { policy })
    }

    /// The command that made the policy.
    #[getter]
    fn command(&self) -> String {
        self.policy.origin().command.clone()
    }

    /// The seed of its training.
    #[getter]
    fn seed(&self) -> u64 {
        self.policy.origin().seed
    }

    /// The weights, in the order of the file's tensors.
    #[getter]
    fn weights(&self) -> Vec<f32> {
        self.policy.weights().to_vec()
    }

    /// The probabilities of `left`, `right` and `forward`.
    #[allow(clippy::needless_pass_by_value, reason = "what Python passes")]
    fn __call__(
        &self,
        walls: PyReadonlyArray2<'_, bool>,
        reach: PyReadonlyArray2<'_, bool>,
        avoid: PyReadonlyArray2<'_, bool>,
        cell: (usize, usize),
        direction: usize,
    ) -> PyResult<[f32; 3]> {
        let [width, height] = [walls.shape()[0], walls.shape()[1]];
        let bytes = |plane: &PyReadonlyArray2<'_, bool>| -> PyResult<Vec<bool>> {
            if plane.shape() != [width, height] {
                return Err(PyValueError::new_err("planes of different shapes"));
            }
            Ok(plane.as_array().iter().copied().collect())
        };
        let (walls, reach, avoid) = (bytes(&walls)?, bytes(&reach)?, bytes(&avoid)?);
        let mut cells = ReachAvoid::from_walls(width, height, &walls)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        for (x, y) in (0..width).flat_map(|x| (0..height).map(move |y| (x, y))) {
            if reach[x * height + y] {
                cells.ask_for(Cell { x, y });
            }
            if avoid[x * height + y] {
                cells.forbid(Cell { x, y });
            }
        }
        let (x, y) = cell;
        let direction = Direction::ALL.get(direction).copied();
        match direction {
            Some(direction) if x < width && y < height && !walls[x * height + y] => {
                let values = self.policy.evaluate(&cells);
                Ok(values.probabilities(Cell { x, y }, direction))
            }
            Some(_) => Err(PyIndexError::new_err(format!("no free cell at ({x}, {y})"))),
            None => Err(PyValueError::new_err("directions are 0 to 3")),
        }
    }
}
