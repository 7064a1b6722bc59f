//! Many worlds stepped together, those of a task and those of a benchmark. What there is to see is written into arrays of numpy, without
//! Python's lock.

use std::sync::Arc;

use form_core::AtomId;
use form_env::{
    Actions, Copies, Environment as _, Frame, GridWorlds, Maps, Split, Starts, View, WorldOptions,
    Worlds as _,
};
use numpy::{
    PyArray1, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1, PyReadwriteArray2,
};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use crate::benchmarks::BenchmarkWorld;
use crate::errors::{self, Class, world};
use crate::logic::whole;
use crate::placed::{self, Placed};
use crate::seen::{Numbered, Observations, expect};
use crate::stepping::{Begin, Ends, start_next, step, write_labels};
use crate::task::Task;

/// The most worlds that each have a stream of random numbers of their own.
const MOST_WORLDS: usize = 1 << 22;

/// Many worlds of one task, or of one benchmark. Arrays that are passed in are written to in place; Python's lock is not held meanwhile.
#[pyclass(module = "formrl")]
pub struct Worlds {
    many: Many,
    ids: Vec<AtomId>,
    actions: Vec<u8>,
}

/// Worlds of one kind, with what they are made of.
enum Many {
    Grid {
        task: Arc<form_env::Task>,
        maps: Maps,
        options: WorldOptions,
        worlds: GridWorlds,
    },
    Benchmark(Copies<form_env::BenchmarkWorld>),
}

/// The same done with the worlds of either kind, each in code of its own.
macro_rules! with {
    ($many:expr, $worlds:ident => $done:expr) => {
        match $many {
            Many::Grid { worlds, .. } => {
                let $worlds = worlds;
                $done
            }
            Many::Benchmark(worlds) => {
                let $worlds = worlds;
                $done
            }
        }
    };
}

impl Numbered for GridWorlds {
    fn cell(&self, _: usize) -> Option<usize> {
        None
    }
}

impl Numbered for Copies<form_env::BenchmarkWorld> {
    fn cell(&self, world: usize) -> Option<usize> {
        Some(self.environment(world).letters()?.cell())
    }
}

#[pymethods]
impl Worlds {
    #[new]
    #[pyo3(signature = (task, n, *, seed=0, view="symbols", actions="all", starts="anywhere", maps=None, map_seed=0, held_out=false))]
    #[allow(
        clippy::too_many_arguments,
        reason = "keywords of a Python constructor"
    )]
    fn new(
        py: Python<'_>,
        task: &Task,
        #[pyo3(from_py_with = whole)] n: usize,
        #[pyo3(from_py_with = whole)] seed: u64,
        view: &str,
        actions: &str,
        starts: &str,
        #[pyo3(from_py_with = whole)] maps: Option<usize>,
        #[pyo3(from_py_with = whole)] map_seed: u64,
        held_out: bool,
    ) -> PyResult<Self> {
        let options = WorldOptions {
            view: choice("view", view, &VIEWS)?,
            actions: choice("actions", actions, &ACTIONS)?,
            starts: choice("starts", starts, &STARTS)?,
        };
        if n > MOST_WORLDS {
            return Err(PyValueError::new_err(format!(
                "{n} worlds: there can be {MOST_WORLDS} at most"
            )));
        }
        let split = if held_out {
            Split::HeldOut
        } else {
            Split::Training
        };
        let task = task.task.clone();
        // Wrappers and recorders bind machines once, to the atoms of the task.
        if task.shared_signature().is_some() {
            return Err(PyValueError::new_err(format!(
                "the maps of {} have different numbers of objects, and worlds for Gymnasium need one number of each colour: write one number in the task file, or use `formrl.train`, which trains on such maps",
                task.name()
            )));
        }
        py.detach(|| {
            let maps = match maps {
                None => Maps::Fresh(split),
                Some(count) => Maps::Set(task.maps(map_seed, split, count)?),
            };
            let worlds = GridWorlds::new(task.clone(), maps.clone(), options, n, seed)?;
            Ok(Self {
                ids: task.signature().ids().collect(),
                actions: vec![0; n],
                many: Many::Grid {
                    task,
                    maps,
                    options,
                    worlds,
                },
            })
        })
        .map_err(|error| world(&error))
    }

    /// Copies of worlds of a benchmark with the same atoms and the same kind of observation; their maps may differ.
    #[staticmethod]
    fn of_benchmark(worlds: Vec<PyRef<'_, BenchmarkWorld>>) -> PyResult<Self> {
        let worlds: Vec<form_env::BenchmarkWorld> =
            (worlds.iter()).map(|world| world.world.clone()).collect();
        let Some(first) = worlds.first() else {
            return Err(PyValueError::new_err("there must be a world"));
        };
        let ids = first.signature().ids().collect();
        let alike = |other: &form_env::BenchmarkWorld| {
            let lengths = |world: &form_env::BenchmarkWorld| {
                (world.spec().planes_len(), world.spec().vector_len())
            };
            other.signature() == first.signature() && lengths(other) == lengths(first)
        };
        if !worlds.iter().all(alike) {
            return Err(PyValueError::new_err(
                "all worlds must have the same atoms and the same kind of observation",
            ));
        }
        Ok(Self {
            ids,
            actions: vec![0; worlds.len()],
            many: Many::Benchmark(Copies::new(worlds, 0).map_err(|error| world(&error))?),
        })
    }

    /// Starts over with another seed: the first episode in every world.
    fn restart(&mut self, py: Python<'_>, #[pyo3(from_py_with = whole)] seed: u64) -> PyResult<()> {
        let restarted = py.detach(|| -> form_env::Result<()> {
            match &mut self.many {
                Many::Grid {
                    task,
                    maps,
                    options,
                    worlds,
                } => {
                    *worlds =
                        GridWorlds::new(task.clone(), maps.clone(), *options, worlds.len(), seed)?;
                }
                Many::Benchmark(copies) => {
                    let worlds = (0..copies.len()).map(|world| copies.environment(world).clone());
                    *copies = Copies::new(worlds.collect(), seed)?;
                }
            }
            Ok(())
        });
        restarted.map_err(|error| world(&error))
    }

    /// Starts the next episode in all worlds, or in those that are marked.
    #[pyo3(signature = (mask=None))]
    fn begin(&mut self, py: Python<'_>, mask: Option<PyReadonlyArray1<'_, bool>>) -> PyResult<()> {
        let n = self.actions.len();
        let marked: Vec<usize> = match mask {
            None => (0..n).collect(),
            Some(mask) => {
                let mask = mask.as_array();
                expect("booleans in the mask", n, mask.len())?;
                (0..n).filter(|world| mask[*world]).collect()
            }
        };
        let many = &mut self.many;
        py.detach(|| with!(many, worlds => start_next(worlds, &marked)))
            .map_err(|error| world(&error))
    }

    /// Takes one action in every world and writes what came of it.
    ///
    /// `autoreset` is `"next"`: a world that was over begins its next episode in place of the action; `"same"`: a world that
    /// is over now does so at once, and what was seen last goes to `last` and `last_labels`; or `"off"`: it stands still.
    #[pyo3(signature = (actions, observations, rewards, terminated, truncated, labels, *, autoreset="next", last=None, last_labels=None))]
    #[allow(clippy::too_many_arguments, reason = "the arrays that a step fills")]
    fn step(
        &mut self,
        py: Python<'_>,
        actions: PyReadonlyArray1<'_, i64>,
        mut observations: Observations<'_>,
        mut rewards: PyReadwriteArray1<'_, f64>,
        mut terminated: PyReadwriteArray1<'_, bool>,
        mut truncated: PyReadwriteArray1<'_, bool>,
        mut labels: PyReadwriteArray2<'_, bool>,
        autoreset: &str,
        mut last: Option<Observations<'_>>,
        mut last_labels: Option<PyReadwriteArray2<'_, bool>>,
    ) -> PyResult<()> {
        let n = self.actions.len();
        let mode = choice("autoreset", autoreset, &MODES)?;
        self.read_actions(&actions)?;
        let all = n * self.ids.len();
        let ends = Ends {
            rewards: rewards.as_slice_mut()?,
            terminated: terminated.as_slice_mut()?,
            truncated: truncated.as_slice_mut()?,
        };
        expect("rewards", n, ends.rewards.len())?;
        expect("entries of terminated", n, ends.terminated.len())?;
        expect("entries of truncated", n, ends.truncated.len())?;
        let labels = labels.as_slice_mut()?;
        expect("entries of labels", all, labels.len())?;
        let Self { many, ids, actions } = self;
        with!(many, worlds => {
            let seen = observations.of("observations", worlds)?;
            let when = match mode {
                Mode::Next => Begin::Next,
                Mode::Off => Begin::Never,
                Mode::Same => {
                    let (Some(last), Some(last_labels)) = (&mut last, &mut last_labels) else {
                        return Err(PyValueError::new_err(
                            "\"same\" also writes to entries of last and of last_labels: pass both",
                        ));
                    };
                    let labels = last_labels.as_slice_mut()?;
                    expect("entries of last_labels", all, labels.len())?;
                    Begin::Same(last.of("last", worlds)?, labels)
                }
            };
            py.detach(|| step(worlds, actions, ids, seen, ends, labels, when))
                .map_err(|error| world(&error))
        })
    }

    /// Writes what is to be seen and the labels, as they are now.
    fn observe(
        &self,
        py: Python<'_>,
        mut observations: Observations<'_>,
        mut labels: PyReadwriteArray2<'_, bool>,
    ) -> PyResult<()> {
        let labels = labels.as_slice_mut()?;
        let n = self.actions.len();
        expect("entries of labels", n * self.ids.len(), labels.len())?;
        with!(&self.many, worlds => {
            let mut seen = observations.of("observations", worlds)?;
            py.detach(|| {
                for world in 0..n {
                    write_labels(worlds, &self.ids, world, labels);
                }
                seen.write_all(worlds)
            })
            .map_err(|error| world(&error))
        })
    }

    /// Where the episode of a world stands: `"running"`, `"goal"`, `"dead-end"` or `"out-of-time"`.
    fn outcome(&self, world: usize) -> PyResult<&'static str> {
        let world = self.number(world)?;
        Ok(with!(&self.many, worlds => worlds.outcome(world).as_str()))
    }

    /// What the last step of a world made true.
    fn labels(&self, world: usize) -> PyResult<Vec<String>> {
        let world = self.number(world)?;
        Ok(with!(&self.many, worlds => worlds.signature().texts(worlds.labels(world))))
    }

    /// The walls of a world, by column and row, and for each atom the cells in which it is observed.
    fn placed_atoms<'py>(&self, py: Python<'py>, world: usize) -> PyResult<Placed<'py>> {
        let worlds = self.native()?;
        let map = worlds.label_map(self.number(world)?);
        let map =
            map.ok_or_else(|| PyValueError::new_err("the atoms of this world have no place"))?;
        placed::atoms(py, &map, worlds.signature())
    }

    /// The agent's cell and direction in a world; directions are MiniGrid's numbers.
    fn pose(&self, world: usize) -> PyResult<((usize, usize), usize)> {
        let pose = self.native()?.pose(self.number(world)?);
        let (cell, direction) =
            pose.ok_or_else(|| PyValueError::new_err("the agent of this world has no place"))?;
        Ok(((cell.x, cell.y), direction as usize))
    }

    /// A world as text, with colours for terminals if they are wanted.
    #[pyo3(signature = (world, colours=false))]
    fn to_text(&self, world: usize, colours: bool) -> PyResult<String> {
        let copy = self.copy_of(world)?;
        Ok(Frame::of_world(&copy).to_text(colours))
    }

    /// A world as pixels, `scale` per cell.
    #[pyo3(signature = (world, scale=32))]
    fn to_rgb<'py>(
        &self,
        py: Python<'py>,
        world: usize,
        #[pyo3(from_py_with = whole)] scale: usize,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let copy = self.copy_of(world)?;
        let pixels = Frame::of_world(&copy).to_rgb(scale);
        let pixels = pixels.map_err(|error| self::world(&error))?;
        let room = self.native()?.task().room();
        let shape = [room.height() * scale, room.width() * scale, 3];
        PyArray1::from_vec(py, pixels).reshape(shape)
    }

    /// Columns, rows and channels of an observation.
    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        let planes = with!(&self.many, worlds => worlds.spec().planes.as_ref());
        planes.map_or((0, 0, 0), |planes| {
            (planes.width, planes.height, planes.channels.len())
        })
    }

    /// The channels of an observation: their names and the largest value of each.
    #[getter]
    fn channels(&self) -> Vec<(String, u8)> {
        let planes = with!(&self.many, worlds => worlds.spec().planes.as_ref());
        let channels = planes.map_or(&[][..], |planes| &planes.channels);
        (channels.iter())
            .map(|channel| (channel.name.clone(), channel.max))
            .collect()
    }

    /// The names of the actions.
    #[getter]
    fn actions(&self) -> Vec<String> {
        with!(&self.many, worlds => worlds.actions().to_vec())
    }

    fn __len__(&self) -> usize {
        self.actions.len()
    }

    fn __repr__(&self) -> String {
        let name = match &self.many {
            Many::Grid { task, .. } => format!("{:?}", task.name()),
            Many::Benchmark(_) => "a benchmark".to_owned(),
        };
        format!("<{} Worlds of {name}>", self.actions.len())
    }
}

impl Worlds {
    /// The worlds themselves, if they are those of a task.
    pub fn native(&self) -> PyResult<&GridWorlds> {
        match &self.many {
            Many::Grid { worlds, .. } => Ok(worlds),
            Many::Benchmark(_) => Err(PyValueError::new_err(
                "this needs worlds of a task, not of a benchmark",
            )),
        }
    }

    fn number(&self, world: usize) -> PyResult<usize> {
        let n = self.actions.len();
        if world < n {
            return Ok(world);
        }
        Err(PyIndexError::new_err(format!(
            "no world {world}: there are {n}, counted from 0"
        )))
    }

    fn copy_of(&self, world: usize) -> PyResult<form_env::GridWorld> {
        let copy = self.native()?.copy_of(self.number(world)?);
        copy.map_err(|error| self::world(&error))
    }

    fn read_actions(&mut self, actions: &PyReadonlyArray1<'_, i64>) -> PyResult<()> {
        let known = with!(&self.many, worlds => worlds.actions().len());
        let given = actions.as_array();
        expect("actions, one per world", self.actions.len(), given.len())?;
        for (read, given) in self.actions.iter_mut().zip(given) {
            *read = u8::try_from(*given)
                .ok()
                .filter(|action| usize::from(*action) < known)
                .ok_or_else(|| {
                    let message = format!("no action {given}: there are {known}, counted from 0");
                    errors::raise(Class::World, &message, None, None, None)
                })?;
        }
        Ok(())
    }
}

/// The same as Python says it.
#[derive(Clone, Copy)]
enum Mode {
    Next,
    Same,
    Off,
}

const MODES: [(&str, Mode); 3] = [
    ("next", Mode::Next),
    ("same", Mode::Same),
    ("off", Mode::Off),
];
const VIEWS: [(&str, View); 4] = [
    ("symbols", View::Symbols),
    ("identities", View::Identities),
    ("planes", View::Planes),
    ("egocentric", View::Egocentric),
];
const ACTIONS: [(&str, Actions); 2] = [("all", Actions::All), ("moves", Actions::Moves)];
const STARTS: [(&str, Starts); 2] = [
    ("anywhere", Starts::Anywhere),
    ("of-the-map", Starts::OfTheMap),
];

fn choice<T: Copy>(what: &str, given: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(name, _)| *name == given);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = known.iter().map(|(name, _)| format!("{name:?}")).collect();
        PyValueError::new_err(format!(
            "{what} is one of {}, not {given:?}",
            names.join(", ")
        ))
    })
}
