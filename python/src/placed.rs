//! Where the atoms of a world are, as Python gets it.

use std::collections::BTreeMap;

use form_env::{Cell, LabelMap};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

/// The walls by column and row, and for each atom the cells in which it is observed.
pub type Placed<'py> = (
    Bound<'py, PyArray2<bool>>,
    BTreeMap<String, Vec<(usize, usize)>>,
);

/// The walls and the places of all atoms of the signature.
pub fn atoms<'py>(
    py: Python<'py>,
    map: &LabelMap,
    signature: &form_core::Signature,
) -> PyResult<Placed<'py>> {
    let room = map.room();
    let cells: Vec<Cell> = (0..room.width())
        .flat_map(|x| (0..room.height()).map(move |y| Cell { x, y }))
        .collect();
    let walls: Vec<bool> = cells.iter().map(|cell| room.is_wall(*cell)).collect();
    let walls = PyArray1::from_vec(py, walls).reshape([room.width(), room.height()])?;
    let placed = signature.ids().map(|id| {
        let there = (cells.iter())
            .filter(|cell| !room.is_wall(**cell) && map.label(**cell).contains(id))
            .map(|cell| (cell.x, cell.y))
            .collect();
        (signature.atom(id).to_string(), there)
    });
    Ok((walls, placed.collect()))
}
