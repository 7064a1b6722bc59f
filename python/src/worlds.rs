//! `form_env`: the tasks, and many of their worlds stepped together, which write what there is to see into arrays of numpy.

use std::sync::Arc;

use form_core::AtomId;
use form_env::{
    Actions, EpisodeOutcome, Frame, GridWorlds, Maps, Split, Starts, View, WorldOptions,
    Worlds as _, builtin_tasks,
};
use numpy::{
    PyArray1, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1, PyReadwriteArray2,
    PyReadwriteArray4,
};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use crate::errors::{self, Class};
use crate::logic::Signature;
use crate::machine::Machine;
use crate::placed::{self, Placed};

/// A task: a room, what lies in it, and the machine that says when it is done.
///
/// >>> from formrl import Task
/// >>> Task.builtin()[:3]
/// ['all-yellow', 'all-yellow-4', 'all-yellow-6']
/// >>> Task("all-yellow").machine.states
/// ['u0', 'u1', 'u_acc']
#[pyclass(module = "formrl", frozen)]
pub struct Task {
    task: Arc<form_env::Task>,
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

/// The most worlds that each have a stream of random numbers of their own.
const MOST_WORLDS: usize = 1 << 22;

/// Many worlds of one task. Arrays that are passed in are written to in place; Python's lock is not held meanwhile.
#[pyclass(module = "formrl")]
pub struct Worlds {
    task: Arc<form_env::Task>,
    maps: Maps,
    options: WorldOptions,
    worlds: GridWorlds,
    ids: Vec<AtomId>,
    actions: Vec<u8>,
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
        n: usize,
        seed: u64,
        view: &str,
        actions: &str,
        starts: &str,
        maps: Option<usize>,
        map_seed: u64,
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
                task,
                maps,
                options,
                worlds,
            })
        })
        .map_err(|error| world(&error))
    }

    /// Starts over with another seed: the first episode in every world.
    fn restart(&mut self, py: Python<'_>, seed: u64) -> PyResult<()> {
        let n = self.worlds.len();
        let (task, maps, options) = (self.task.clone(), self.maps.clone(), self.options);
        self.worlds = py
            .detach(|| GridWorlds::new(task, maps, options, n, seed))
            .map_err(|error| world(&error))?;
        Ok(())
    }

    /// Starts the next episode in all worlds, or in those that are marked.
    #[pyo3(signature = (mask=None))]
    fn begin(&mut self, py: Python<'_>, mask: Option<PyReadonlyArray1<'_, bool>>) -> PyResult<()> {
        let n = self.worlds.len();
        let marked: Vec<usize> = match mask {
            None => (0..n).collect(),
            Some(mask) => {
                let mask = mask.as_array();
                expect("booleans in the mask", n, mask.len())?;
                (0..n).filter(|world| mask[*world]).collect()
            }
        };
        let worlds = &mut self.worlds;
        py.detach(|| start_next(worlds, &marked))
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
        mut observations: PyReadwriteArray4<'_, u8>,
        mut rewards: PyReadwriteArray1<'_, f64>,
        mut terminated: PyReadwriteArray1<'_, bool>,
        mut truncated: PyReadwriteArray1<'_, bool>,
        mut labels: PyReadwriteArray2<'_, bool>,
        autoreset: &str,
        last: Option<PyReadwriteArray4<'_, u8>>,
        last_labels: Option<PyReadwriteArray2<'_, bool>>,
    ) -> PyResult<()> {
        let n = self.worlds.len();
        let mode = choice("autoreset", autoreset, &MODES)?;
        self.read_actions(&actions)?;
        let (rewards, terminated) = (rewards.as_slice_mut()?, terminated.as_slice_mut()?);
        let truncated = truncated.as_slice_mut()?;
        expect("rewards", n, rewards.len())?;
        expect("entries of terminated", n, terminated.len())?;
        expect("entries of truncated", n, truncated.len())?;
        let observations = observations.as_slice_mut()?;
        let labels = labels.as_slice_mut()?;
        expect("entries of labels", n * self.ids.len(), labels.len())?;
        let (mut last, mut last_labels) = (last, last_labels);
        let last = last
            .as_mut()
            .map(|array| array.as_slice_mut())
            .transpose()?;
        let last_labels = (last_labels.as_mut().map(|array| array.as_slice_mut())).transpose()?;
        if matches!(mode, Mode::Same) {
            let bytes = n * self.worlds.spec().planes_len();
            let given = last.as_ref().map_or(0, |last| last.len());
            expect("entries of last", bytes, given)?;
            let given = last_labels.as_ref().map_or(0, |labels| labels.len());
            expect("entries of last_labels", n * self.ids.len(), given)?;
        }
        let Self {
            worlds,
            ids,
            actions,
            ..
        } = self;
        py.detach(|| -> form_env::Result<()> {
            let over: Vec<usize> = (0..n).filter(|i| worlds.outcome(*i).is_over()).collect();
            worlds.step(actions)?;
            if matches!(mode, Mode::Next) && !over.is_empty() {
                start_next(worlds, &over)?;
            }
            for world in 0..n {
                let outcome = worlds.outcome(world);
                rewards[world] = f64::from(u8::from(outcome == EpisodeOutcome::Goal));
                terminated[world] =
                    matches!(outcome, EpisodeOutcome::Goal | EpisodeOutcome::DeadEnd);
                truncated[world] = outcome == EpisodeOutcome::OutOfTime;
            }
            // A world that stands still since its end has had its reward.
            for world in over {
                rewards[world] = 0.0;
            }
            if let (Mode::Same, Some(last), Some(last_labels)) = (mode, last, last_labels) {
                let bytes = worlds.spec().planes_len();
                for world in (0..n).filter(|i| terminated[*i] || truncated[*i]) {
                    let image = &mut last[world * bytes..][..bytes];
                    worlds.observe(world, image, &mut []);
                    write_labels(worlds, ids, world, last_labels);
                }
                worlds.next_episodes()?;
            }
            for world in 0..n {
                write_labels(worlds, ids, world, labels);
            }
            worlds.observe_all(observations, &mut [])
        })
        .map_err(|error| world(&error))
    }

    /// Writes what is to be seen and the labels, as they are now.
    fn observe(
        &self,
        py: Python<'_>,
        mut observations: PyReadwriteArray4<'_, u8>,
        mut labels: PyReadwriteArray2<'_, bool>,
    ) -> PyResult<()> {
        let observations = observations.as_slice_mut()?;
        let labels = labels.as_slice_mut()?;
        let n = self.worlds.len();
        expect("entries of labels", n * self.ids.len(), labels.len())?;
        py.detach(|| {
            for world in 0..n {
                write_labels(&self.worlds, &self.ids, world, labels);
            }
            self.worlds.observe_all(observations, &mut [])
        })
        .map_err(|error| world(&error))
    }

    /// Where the episode of a world stands: `"running"`, `"goal"`, `"dead-end"` or `"out-of-time"`.
    fn outcome(&self, world: usize) -> PyResult<&'static str> {
        Ok(self.worlds.outcome(self.number(world)?).as_str())
    }

    /// What the last step of a world made true.
    fn labels(&self, world: usize) -> PyResult<Vec<String>> {
        let labels = self.worlds.labels(self.number(world)?);
        Ok(self.task.signature().texts(labels))
    }

    /// The walls of a world, by column and row, and for each atom the cells in which it is observed.
    fn placed_atoms<'py>(&self, py: Python<'py>, world: usize) -> PyResult<Placed<'py>> {
        let map = self.worlds.label_map(self.number(world)?);
        let map =
            map.ok_or_else(|| PyValueError::new_err("the atoms of this world have no place"))?;
        placed::atoms(py, &map, self.task.signature())
    }

    /// The agent's cell and direction in a world; directions are MiniGrid's numbers.
    fn pose(&self, world: usize) -> PyResult<((usize, usize), usize)> {
        let pose = self.worlds.pose(self.number(world)?);
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
        scale: usize,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let copy = self.copy_of(world)?;
        let pixels = Frame::of_world(&copy).to_rgb(scale);
        let pixels = pixels.map_err(|error| self::world(&error))?;
        let room = self.task.room();
        let shape = [room.height() * scale, room.width() * scale, 3];
        PyArray1::from_vec(py, pixels).reshape(shape)
    }

    /// Columns, rows and channels of an observation.
    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        let planes = self.worlds.spec().planes.as_ref();
        planes.map_or((0, 0, 0), |planes| {
            (planes.width, planes.height, planes.channels.len())
        })
    }

    /// The channels of an observation: their names and the largest value of each.
    #[getter]
    fn channels(&self) -> Vec<(String, u8)> {
        let planes = self.worlds.spec().planes.as_ref();
        let channels = planes.map_or(&[][..], |planes| &planes.channels);
        (channels.iter())
            .map(|channel| (channel.name.clone(), channel.max))
            .collect()
    }

    /// The names of the actions.
    #[getter]
    fn actions(&self) -> Vec<String> {
        self.worlds.actions().to_vec()
    }

    fn __len__(&self) -> usize {
        self.worlds.len()
    }

    fn __repr__(&self) -> String {
        format!("<{} Worlds of {:?}>", self.worlds.len(), self.task.name())
    }
}

impl Worlds {
    /// The worlds themselves.
    pub fn native(&self) -> &GridWorlds {
        &self.worlds
    }

    /// The number of actions.
    pub fn action_count(&self) -> usize {
        self.worlds.actions().len()
    }

    fn number(&self, world: usize) -> PyResult<usize> {
        if world < self.worlds.len() {
            return Ok(world);
        }
        Err(PyIndexError::new_err(format!(
            "no world {world}: there are {}, counted from 0",
            self.worlds.len()
        )))
    }

    fn copy_of(&self, world: usize) -> PyResult<form_env::GridWorld> {
        let copy = self.worlds.copy_of(self.number(world)?);
        copy.map_err(|error| self::world(&error))
    }

    fn read_actions(&mut self, actions: &PyReadonlyArray1<'_, i64>) -> PyResult<()> {
        let (given, known) = (actions.as_array(), self.worlds.actions().len());
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

/// When the next episode of a world that is over begins.
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

fn start_next(worlds: &mut GridWorlds, which: &[usize]) -> form_env::Result<()> {
    let episodes = (which.iter())
        .map(|world| (*world, worlds.episode(*world) + 1))
        .collect();
    worlds.start_all(episodes)
}

/// One boolean per atom.
fn write_labels(worlds: &GridWorlds, ids: &[AtomId], world: usize, labels: &mut [bool]) {
    let row = &mut labels[world * ids.len()..][..ids.len()];
    row.fill(false);
    let there = worlds.labels(world);
    if !there.is_empty() {
        for id in there.iter() {
            row[id.index()] = true;
        }
    }
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

/// An error of the worlds.
fn world(error: &form_env::Error) -> PyErr {
    let (class, errno) = match error {
        form_env::Error::Io { source, .. } => (Class::File, source.raw_os_error()),
        _ => (Class::World, None),
    };
    let (file, position) = (error.file(), error.position());
    errors::raise(class, &error.to_string(), file, position, errno)
}
