//! Many worlds of a benchmark stepped together, which write what there is to see into arrays of numpy, without Python's lock.

use form_core::AtomId;
use form_env::{EpisodeOutcome, Stream, generator};
use numpy::{
    PyReadonlyArray1, PyReadwriteArray1, PyReadwriteArray2, PyReadwriteArray4,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::benchmarks::{BenchmarkWorld, World, problem};
use crate::worlds::expect;

/// Worlds that a thread serves without looking up.
const AT_ONCE: usize = 64;

/// Copies of worlds with the same atoms, actions and kind of observation; their maps may differ.
///
/// Arrays that are passed in are written to in place.
#[pyclass(module = "formrl")]
pub struct BenchmarkWorlds {
    copies: Vec<Copied>,
    ids: Vec<AtomId>,
    actions: usize,
}

struct Copied {
    world: World,
    seed: u64,
    episode: u64,
    truncated: bool,
}

/// What a step writes, an array each.
struct Row<'a> {
    action: i64,
    begins: bool,
    truncated: &'a mut bool,
    labels: &'a mut [bool],
}

/// What kind of observations there are.
#[derive(FromPyObject)]
enum Observations<'py> {
    Cells(PyReadwriteArray1<'py, i64>),
    Vectors(PyReadwriteArray2<'py, f32>),
    Images(PyReadwriteArray4<'py, u8>),
}

#[pymethods]
impl BenchmarkWorlds {
    #[new]
    fn new(worlds: Vec<PyRef<'_, BenchmarkWorld>>) -> PyResult<Self> {
        let copies: Vec<Copied> = (worlds.iter())
            .map(|world| Copied {
                world: world.world.clone(),
                seed: 0,
                episode: 0,
                truncated: false,
            })
            .collect();
        let Some(first) = copies.first() else {
            return Err(PyValueError::new_err("there must be a world"));
        };
        let kind = |copy: &Copied| {
            let world = copy.world.environment();
            (
                world.signature().clone(),
                world.spec().vector_len(),
                world.spec().planes_len(),
            )
        };
        let same = kind(first);
        if copies.iter().any(|copy| kind(copy) != same) {
            return Err(PyValueError::new_err(
                "all worlds must have the same atoms and the same kind of observation",
            ));
        }
        Ok(Self {
            ids: same.0.ids().collect(),
            actions: first.world.environment().actions().len(),
            copies,
        })
    }

    /// Says where the worlds' random numbers come from: each one's next episode is the first of its seed.
    fn seed(&mut self, seeds: Vec<u64>) -> PyResult<()> {
        expect("seeds", self.copies.len(), seeds.len())?;
        for (copy, seed) in self.copies.iter_mut().zip(seeds) {
            (copy.seed, copy.episode) = (seed, 0);
        }
        Ok(())
    }

    /// Starts the next episode in the worlds that are marked.
    fn begin(
        &mut self,
        py: Python<'_>,
        mask: PyReadonlyArray1<'_, bool>,
        mut labels: PyReadwriteArray2<'_, bool>,
    ) -> PyResult<()> {
        let (mask, labels) = (mask.as_slice()?, labels.as_slice_mut()?);
        expect("booleans in the mask", self.copies.len(), mask.len())?;
        expect("labels", self.copies.len() * self.ids.len(), labels.len())?;
        let (copies, ids) = (&mut self.copies, &self.ids);
        py.detach(|| {
            let rows = labels.chunks_exact_mut(ids.len());
            for ((copy, begins), labels) in copies.iter_mut().zip(mask).zip(rows) {
                if *begins {
                    copy.begin()?;
                }
                copy.write_labels(ids, labels);
            }
            Ok(())
        })
        .map_err(|error: form_env::Error| problem(&error))
    }

    /// Takes an action in every world, or begins its next episode in place of it in those that are marked.
    fn step(
        &mut self,
        py: Python<'_>,
        actions: PyReadonlyArray1<'_, i64>,
        begins: PyReadonlyArray1<'_, bool>,
        mut truncated: PyReadwriteArray1<'_, bool>,
        mut labels: PyReadwriteArray2<'_, bool>,
    ) -> PyResult<()> {
        let (actions, begins) = (actions.as_slice()?, begins.as_slice()?);
        let (truncated, labels) = (truncated.as_slice_mut()?, labels.as_slice_mut()?);
        expect("actions", self.copies.len(), actions.len())?;
        expect("booleans in the mask", self.copies.len(), begins.len())?;
        expect("entries of truncated", self.copies.len(), truncated.len())?;
        expect("labels", self.copies.len() * self.ids.len(), labels.len())?;
        let known = 0..self.actions as i64;
        if let Some(wrong) = actions.iter().find(|action| !known.contains(action)) {
            let last = self.actions - 1;
            return Err(PyValueError::new_err(format!(
                "actions are from 0 to {last}, not {wrong}"
            )));
        }
        let (copies, ids) = (&mut self.copies, &self.ids);
        py.detach(|| {
            let outputs = truncated
                .par_iter_mut()
                .zip(labels.par_chunks_exact_mut(ids.len()));
            let inputs = actions.par_iter().zip(begins);
            (copies.par_iter_mut().zip(inputs.zip(outputs)))
                .with_min_len(AT_ONCE)
                .try_for_each(|(copy, ((action, begins), (truncated, labels)))| {
                    copy.step(
                        ids,
                        Row {
                            action: *action,
                            begins: *begins,
                            truncated,
                            labels,
                        },
                    )
                })
        })
        .map_err(|error| problem(&error))
    }

    /// Writes what is to be seen: numbers of cells, rows of numbers, or images.
    fn observe(&self, py: Python<'_>, observations: Observations<'_>) -> PyResult<()> {
        let n = self.copies.len();
        let spec = self.copies[0].world.environment().spec();
        let (numbers, bytes) = (spec.vector_len(), spec.planes_len());
        let copies = &self.copies;
        match observations {
            Observations::Cells(mut cells) => {
                expect("cells", n, cells.len())?;
                for (copy, out) in copies.iter().zip(cells.as_slice_mut()?) {
                    *out = copy.world.cell().unwrap_or(0) as i64;
                }
            }
            Observations::Vectors(mut vectors) => {
                expect("numbers", n * numbers, vectors.len())?;
                let out = vectors.as_slice_mut()?;
                py.detach(|| {
                    (copies
                        .par_iter()
                        .zip(out.par_chunks_exact_mut(numbers.max(1))))
                    .with_min_len(AT_ONCE)
                    .for_each(|(copy, row)| {
                        let world = copy.world.environment();
                        world.observe(&mut [], row);
                    });
                });
            }
            Observations::Images(mut images) => {
                expect("bytes", n * bytes, images.len())?;
                let out = images.as_slice_mut()?;
                py.detach(|| {
                    (copies
                        .par_iter()
                        .zip(out.par_chunks_exact_mut(bytes.max(1))))
                    .with_min_len(AT_ONCE)
                    .for_each(|(copy, image)| copy.world.environment().observe(image, &mut []));
                });
            }
        }
        Ok(())
    }

    fn __len__(&self) -> usize {
        self.copies.len()
    }
}

impl Copied {
    fn begin(&mut self) -> form_env::Result<()> {
        let (seed, episode) = (self.seed, self.episode);
        (self.world.environment_mut())
            .reset(&mut generator(seed, Stream::Episode { world: 0, episode }))?;
        self.episode += 1;
        self.truncated = false;
        Ok(())
    }

    fn step(&mut self, ids: &[AtomId], row: Row<'_>) -> form_env::Result<()> {
        if row.begins {
            self.begin()?;
        } else {
            let outcome = self.world.environment_mut().step(row.action as usize)?;
            self.truncated = outcome == EpisodeOutcome::OutOfTime;
        }
        *row.truncated = self.truncated;
        self.write_labels(ids, row.labels);
        Ok(())
    }

    fn write_labels(&self, ids: &[AtomId], row: &mut [bool]) {
        let labels = self.world.environment().labels();
        for (cell, id) in row.iter_mut().zip(ids) {
            *cell = labels.contains(*id);
        }
    }
}
