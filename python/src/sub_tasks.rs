//! What a machine asks for on a map: `form_env`'s planner, with the machine's run beside it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use form_core::{AtomSet, Monitor};
use form_env::{Cell, LabelMap, Planner, Room};
use numpy::{PyArray1, PyArray3, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use crate::bound::BoundMachine;
use crate::errors::{self, Class};

/// The sub-tasks of a machine on one map: the cells to reach and to avoid, as the machine goes on.
///
/// - `walls`: an array of booleans, by column and row; walls go all around.
/// - `cells`: for each atom of the machine's signature, the cells in which it is observed; none for what is not on the map.
#[pyclass(module = "formrl")]
pub struct SubTasks {
    planner: Planner,
    monitor: Monitor,
}

#[pymethods]
impl SubTasks {
    #[new]
    #[allow(clippy::needless_pass_by_value, reason = "what Python passes")]
    fn new(
        machine: &BoundMachine,
        walls: PyReadonlyArray2<'_, bool>,
        cells: BTreeMap<String, Vec<(usize, usize)>>,
    ) -> PyResult<Self> {
        let world = |error: &form_env::Error| {
            errors::raise(Class::World, &error.to_string(), None, None, None)
        };
        let [width, height] = [walls.shape()[0], walls.shape()[1]];
        let walls = walls.as_array();
        let free = (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .find(|(x, y)| !walls[[*x, *y]]);
        // A room has a goal, which nothing here asks for: some free cell is as good as any.
        let rows: Vec<String> = (0..height)
            .map(|y| {
                let cell = |x| match walls[[x, y]] {
                    true => '#',
                    false if Some((x, y)) == free => 'G',
                    false => '.',
                };
                (0..width).map(cell).collect()
            })
            .collect();
        let room = Room::from_rows(&rows).map_err(|error| world(&error))?;
        let signature = machine.bound.signature();
        let mut labels: HashMap<(usize, usize), AtomSet> = HashMap::new();
        for id in signature.ids() {
            let atom = signature.atom(id).to_string();
            let Some(places) = cells.get(&atom) else {
                let message = format!("`cells` does not say where {atom} is observed");
                return Err(PyValueError::new_err(message));
            };
            for place in places {
                if place.0 >= width || place.1 >= height {
                    let message =
                        format!("{atom} at {place:?}: the room has {width} × {height} cells");
                    return Err(PyIndexError::new_err(message));
                }
                labels.entry(*place).or_default().insert(id);
            }
        }
        if let Some(unknown) = cells
            .keys()
            .find(|atom| signature.id_of_text(atom).is_none())
        {
            let message = format!("`cells` has {unknown}, which the machine's signature has not");
            return Err(PyValueError::new_err(message));
        }
        let label = |cell: Cell| labels.get(&(cell.x, cell.y)).cloned().unwrap_or_default();
        let map = LabelMap::from_labels(room, label);
        let bound: Arc<form_core::BoundMachine> = machine.bound.clone();
        Ok(Self {
            monitor: Monitor::new(&bound),
            planner: Planner::new(bound, map).map_err(|error| world(&error))?,
        })
    }

    /// Starts a new episode on the same map.
    fn reset(&mut self) {
        self.monitor.reset(self.planner.machine());
    }

    /// Takes what a step has made true.
    #[allow(clippy::needless_pass_by_value, reason = "what Python passes")]
    fn observe(&mut self, labels: Vec<String>) -> PyResult<()> {
        let machine = self.planner.machine().clone();
        let labels = (machine.signature().observation(&labels)).map_err(|e| errors::core(&e))?;
        self.monitor.observe(&machine, &labels);
        Ok(())
    }

    /// The state of the machine.
    #[getter]
    fn state(&self) -> String {
        let machine = self.planner.machine().machine();
        machine.state_name(self.monitor.state()).to_owned()
    }

    /// The least number of observations with which the machine accepts, for an agent in this cell; `None` if it cannot any more.
    fn observations_left(&mut self, cell: (usize, usize)) -> PyResult<Option<usize>> {
        let cell = self.cell(cell)?;
        Ok(self.planner.plan(&self.monitor, cell).observations_left)
    }

    /// Walls, cells to reach and cells to avoid, as three planes by column and row, for an agent in this cell.
    fn planes<'py>(
        &mut self,
        py: Python<'py>,
        cell: (usize, usize),
    ) -> PyResult<Bound<'py, PyArray3<bool>>> {
        let cell = self.cell(cell)?;
        let room = self.planner.map().room();
        let shape = [3, room.width(), room.height()];
        let sub_task = &self.planner.plan(&self.monitor, cell).sub_task;
        let planes = [sub_task.walls(), sub_task.reach(), sub_task.avoid()].concat();
        PyArray1::from_vec(py, planes).reshape(shape)
    }

    fn __repr__(&self) -> String {
        format!("<SubTasks in {}>", self.state())
    }
}

impl SubTasks {
    fn cell(&self, (x, y): (usize, usize)) -> PyResult<Cell> {
        let cell = Cell { x, y };
        match self.planner.map().room().is_wall(cell) {
            true => Err(PyIndexError::new_err(format!("no free cell at ({x}, {y})"))),
            false => Ok(cell),
        }
    }
}
