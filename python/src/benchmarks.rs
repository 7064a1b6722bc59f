//! `form_env`'s benchmarks: Office, Craft, Water and Letter world, one episode after the other.

use std::sync::Arc;

use form_env::{
    Benchmark, Environment as _, EpisodeOutcome, LetterWorld, Naming, Stream, WaterWorld, generator,
};
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::world;
use crate::logic::Signature;
use crate::logic::whole;
use crate::machine::Machine;
use crate::tabular::LabelledMdp;

/// A world of a benchmark: an environment with labels and without a task.
#[pyclass(module = "formrl")]
pub struct BenchmarkWorld {
    pub world: form_env::BenchmarkWorld,
}

#[pymethods]
impl BenchmarkWorld {
    /// Office world. With `letters`, atoms are those of the published machines.
    #[staticmethod]
    #[pyo3(signature = (*, letters=false))]
    fn office(letters: bool) -> Self {
        Self::of_letters(LetterWorld::office(naming(letters)))
    }

    /// Craft world: the random map of a seed, or the text of a map.
    #[staticmethod]
    #[pyo3(signature = (*, seed=0, map=None, letters=false))]
    fn craft(
        #[pyo3(from_py_with = whole)] seed: u64,
        map: Option<&str>,
        letters: bool,
    ) -> PyResult<Self> {
        let naming = naming(letters);
        Ok(Self::of_letters(match map {
            None => LetterWorld::craft(seed, naming),
            Some(text) => LetterWorld::craft_map(text, naming).map_err(|e| world(&e))?,
        }))
    }

    /// Water world with the balls of a seed.
    #[staticmethod]
    #[pyo3(signature = (*, seed=0, letters=false))]
    fn water(#[pyo3(from_py_with = whole)] seed: u64, letters: bool) -> Self {
        Self {
            world: WaterWorld::new(seed, naming(letters)).into(),
        }
    }

    /// Letter world: letters in random cells of a torus.
    #[staticmethod]
    fn letter(
        #[pyo3(from_py_with = whole)] size: usize,
        letters: &str,
        #[pyo3(from_py_with = whole)] steps: u32,
    ) -> PyResult<Self> {
        let random = &mut generator(0, Stream::Map(0));
        let world = LetterWorld::letters(size, letters, steps, random).map_err(|e| world(&e))?;
        Ok(Self::of_letters(world))
    }

    /// The tasks of a benchmark (`office`, `craft` or `water`), in the order of the published ones.
    #[staticmethod]
    fn tasks(benchmark: &str) -> PyResult<Vec<(String, Machine)>> {
        let benchmark = match benchmark {
            "office" => Benchmark::Office,
            "craft" => Benchmark::Craft,
            "water" => Benchmark::Water,
            other => {
                return Err(PyValueError::new_err(format!(
                    "tasks of \"office\", \"craft\" or \"water\", not of {other:?}"
                )));
            }
        };
        Ok((benchmark.tasks().into_iter())
            .map(|(name, machine)| (name.to_owned(), Machine::of(machine)))
            .collect())
    }

    /// What can be observed.
    #[getter]
    fn signature(&self) -> Signature {
        Signature::of(Arc::new(self.world.signature().clone()))
    }

    /// The names of the actions.
    #[getter]
    fn actions(&self) -> Vec<String> {
        self.world.actions().to_vec()
    }

    /// Columns, rows and channels of an image; `None` where observations are rows of numbers.
    #[getter]
    fn shape(&self) -> Option<(usize, usize, usize)> {
        let planes = self.world.spec().planes.as_ref()?;
        Some((planes.width, planes.height, planes.channels.len()))
    }

    /// The smallest and the largest value of each number of an observation.
    #[getter]
    fn bounds(&self) -> (Vec<f32>, Vec<f32>) {
        let vector = &self.world.spec().vector;
        vector.iter().map(|entry| (entry.low, entry.high)).unzip()
    }

    /// The map of the episode as text; `None` in Water world.
    #[getter]
    fn map(&self) -> Option<String> {
        Some(self.world.letters()?.grid().to_string())
    }

    /// The number of free cells; `None` in Water world.
    #[getter]
    fn cells(&self) -> Option<usize> {
        Some(self.world.letters()?.grid().cells())
    }

    /// The number of the cell that the agent is in; `None` in Water world.
    #[getter]
    fn cell(&self) -> Option<usize> {
        Some(self.world.letters()?.cell())
    }

    /// The map of the episode as a table, for tabular methods.
    fn table(&self) -> PyResult<LabelledMdp> {
        let cells = self.world.letters().ok_or_else(|| {
            PyValueError::new_err("Water world is continuous: there is no table of its states")
        })?;
        Ok(LabelledMdp::of(cells.model().map_err(|e| world(&e))?))
    }

    /// Starts the episode of this number.
    fn reset(
        &mut self,
        #[pyo3(from_py_with = whole)] seed: u64,
        #[pyo3(from_py_with = whole)] episode: u64,
    ) -> PyResult<()> {
        let random = &mut generator(seed, Stream::Episode { world: 0, episode });
        let reset = self.world.reset(random);
        reset.map_err(|error| world(&error))
    }

    /// Takes an action; whether the limit of steps is reached.
    fn step(&mut self, action: usize) -> PyResult<bool> {
        let outcome = self.world.step(action);
        Ok(outcome.map_err(|error| world(&error))? == EpisodeOutcome::OutOfTime)
    }

    /// What the last step, or the reset, made true.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.world.signature().texts(self.world.labels())
    }

    /// The observation as a row of numbers.
    fn vector<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        let world = &self.world;
        let mut vector = vec![0.0; world.spec().vector_len()];
        world.observe(&mut vec![0; world.spec().planes_len()], &mut vector);
        PyArray1::from_vec(py, vector)
    }

    /// The observation as an image.
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let world = &self.world;
        let mut planes = vec![0; world.spec().planes_len()];
        world.observe(&mut planes, &mut vec![0.0; world.spec().vector_len()]);
        let (width, height, channels) = self.shape().unwrap_or((0, 0, 0));
        PyArray1::from_vec(py, planes).reshape([width, height, channels])
    }
}

impl BenchmarkWorld {
    fn of_letters(world: LetterWorld) -> Self {
        Self {
            world: world.into(),
        }
    }
}

fn naming(letters: bool) -> Naming {
    match letters {
        true => Naming::Letters,
        false => Naming::Words,
    }
}
