//! The arrays of numpy that worlds write to what there is to see: numbers of cells, rows of numbers, or images.

use form_env::Worlds;
use numpy::{PyReadwriteArray1, PyReadwriteArray2, PyReadwriteArray4};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An array for the observations of all worlds. The kind that most worlds have is tried first.
#[derive(FromPyObject)]
pub enum Observations<'py> {
    Images(PyReadwriteArray4<'py, u8>),
    Vectors(PyReadwriteArray2<'py, f32>),
    Cells(PyReadwriteArray1<'py, i64>),
}

impl Observations<'_> {
    /// Its memory, if it has room for the observations of these worlds.
    pub fn of(&mut self, what: &str, worlds: &impl Numbered) -> PyResult<Seen<'_>> {
        let spec = worlds.spec();
        let (kind, each) = match self {
            Self::Images(_) => ("images", spec.planes_len()),
            Self::Vectors(_) => ("rows of numbers", spec.vector_len()),
            Self::Cells(_) => ("numbers of cells", usize::from(worlds.cell(0).is_some())),
        };
        if each == 0 {
            return Err(PyValueError::new_err(format!(
                "{what}: these worlds are not seen as {kind}"
            )));
        }
        let seen = match self {
            Self::Images(images) => Seen::Images(images.as_slice_mut()?),
            Self::Vectors(vectors) => Seen::Vectors(vectors.as_slice_mut()?),
            Self::Cells(cells) => Seen::Cells(cells.as_slice_mut()?),
        };
        expect(
            &format!("entries of {what}"),
            worlds.len() * each,
            seen.len(),
        )?;
        Ok(seen)
    }
}

/// Worlds whose cells may have numbers.
pub trait Numbered: Worlds {
    /// The number of the cell that the agent of a world is in, if cells have numbers.
    fn cell(&self, world: usize) -> Option<usize>;
}

/// The memory of such an array.
pub enum Seen<'a> {
    Images(&'a mut [u8]),
    Vectors(&'a mut [f32]),
    Cells(&'a mut [i64]),
}

impl Seen<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Images(images) => images.len(),
            Self::Vectors(vectors) => vectors.len(),
            Self::Cells(cells) => cells.len(),
        }
    }

    /// Writes what is to be seen of one world.
    pub fn write(&mut self, worlds: &impl Numbered, world: usize) {
        match self {
            Self::Cells(cells) => cells[world] = number(worlds, world),
            Self::Vectors(vectors) => {
                let numbers = worlds.spec().vector_len();
                let row = &mut vectors[world * numbers..][..numbers];
                worlds.observe(world, &mut [], row);
            }
            Self::Images(images) => {
                let bytes = worlds.spec().planes_len();
                let image = &mut images[world * bytes..][..bytes];
                worlds.observe(world, image, &mut []);
            }
        }
    }

    /// Writes what is to be seen of all worlds.
    pub fn write_all(&mut self, worlds: &impl Numbered) -> form_env::Result<()> {
        match self {
            Self::Cells(cells) => {
                for (world, cell) in cells.iter_mut().enumerate() {
                    *cell = number(worlds, world);
                }
                Ok(())
            }
            Self::Vectors(vectors) => worlds.observe_all(&mut [], vectors),
            Self::Images(images) => worlds.observe_all(images, &mut []),
        }
    }
}

fn number(worlds: &impl Numbered, world: usize) -> i64 {
    worlds.cell(world).map_or(0, |cell| cell as i64)
}

/// An error unless an array has as many entries as it must.
pub fn expect(what: &str, expected: usize, given: usize) -> PyResult<()> {
    if expected == given {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "expected {expected} {what}, got {given}"
    )))
}
