//! `form_lab`'s saved runs at play: their policies asked step by step in worlds of Python's, and whole episodes.

use std::path::{Path, PathBuf};

use form_env::{Action, Environment, Shortest, Split, Worlds as _};
use form_lab::{EpisodeRequest, Recording, SavedRun, message};
use form_rl::{Choice, log_softmax};
use numpy::{PyArray1, PyArray4, PyArrayMethods};
use pyo3::prelude::*;

use crate::arrays::read_only;
use crate::errors::{self, Class};
use crate::logic::whole;
use crate::worlds::Worlds;

/// The policies of a run, asked step by step in the first of some worlds: `begin` after a reset, `observe` after a step.
#[pyclass(module = "formrl")]
pub struct Player {
    player: form_rl::Player,
}

#[pymethods]
impl Player {
    /// The policies of the run in a folder, for worlds like these.
    #[new]
    #[allow(clippy::needless_pass_by_value, reason = "what Python passes")]
    fn new(folder: PathBuf, worlds: &Worlds) -> PyResult<Self> {
        let run = opened(&folder)?;
        let player = run.player(worlds.native()?);
        let player = player.map_err(|error| problem(&message(&error)))?;
        Ok(Self { player })
    }

    /// The name of the machine's state.
    #[getter]
    fn state(&self) -> &str {
        self.player.state()
    }

    /// An episode has begun.
    fn begin(&mut self, worlds: &Worlds) -> PyResult<()> {
        self.player.begin(worlds.native()?);
        Ok(())
    }

    /// The world has taken this action; whether the machine agrees with it so far.
    fn observe(&mut self, worlds: &Worlds, action: u8) -> PyResult<bool> {
        Ok(self.player.observe(worlds.native()?, action))
    }

    /// The probabilities of the actions now; those of all are the same where the run has no policy for the situation.
    fn probabilities<'py>(
        &mut self,
        py: Python<'py>,
        worlds: &Worlds,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let worlds = worlds.native()?;
        let actions = worlds.actions().len();
        let logits = (self.player.logits(worlds)).map_err(|error| problem(&error.to_string()))?;
        let mut probabilities = vec![1.0 / actions as f64; actions];
        if let Some(logits) = logits {
            let mut logs = vec![0.0; logits.len()];
            log_softmax(logits, &mut logs);
            // A reach-avoid policy knows the moves alone.
            probabilities.fill(0.0);
            for (probability, log) in probabilities.iter_mut().zip(logs) {
                *probability = f64::from(log).exp();
            }
        }
        Ok(PyArray1::from_vec(py, probabilities))
    }

    fn __repr__(&self) -> String {
        format!("<Player in {:?}>", self.state())
    }
}

/// An episode: number of the map, observations, actions, labels and states of the machine after every step, how it ended, and the length of a
/// shortest solution with whether that is exact.
type Played<'py> = (
    u64,
    Bound<'py, PyArray4<u8>>,
    Vec<usize>,
    Vec<Vec<String>>,
    Vec<String>,
    &'static str,
    Option<(usize, bool)>,
);

/// An episode that the policies of a run play: the one that `form draw` draws for the same map and seed.
#[pyfunction]
#[pyo3(signature = (folder, *, map=None, held_out=false, greedy=false, seed=0))]
#[allow(clippy::needless_pass_by_value, reason = "what Python passes")]
pub fn play_episode<'py>(
    py: Python<'py>,
    folder: PathBuf,
    #[pyo3(from_py_with = whole)] map: Option<u64>,
    held_out: bool,
    greedy: bool,
    #[pyo3(from_py_with = whole)] seed: u64,
) -> PyResult<Played<'py>> {
    let request = EpisodeRequest {
        split: match held_out {
            true => Split::HeldOut,
            false => Split::Training,
        },
        map,
        seed,
        choice: match greedy {
            true => Choice::Greedy,
            false => Choice::Sample,
        },
    };
    let run = opened(&folder)?;
    let recording = py
        .detach(|| Recording::of(&run, &request))
        .map_err(|error| problem(&message(&error)))?;
    let mut world = recording.start().clone();
    let (machine, spec) = (recording.machine(), world.spec().clone());
    let mut monitor = form_core::Monitor::new(machine);
    let (mut planes, mut labels, mut states) = (Vec::new(), Vec::new(), Vec::new());
    let actions: Vec<Action> = recording.actions().collect();
    for next in actions.iter().map(Some).chain([None]) {
        let start = planes.len();
        planes.resize(start + spec.planes_len(), 0);
        world.observe(&mut planes[start..], &mut []);
        monitor.observe(machine, world.labels());
        labels.push(machine.signature().texts(world.labels()));
        states.push(machine.machine().state_name(monitor.state()).to_owned());
        if let Some(next) = next {
            let step = world.step(*next as usize);
            step.map_err(|error| problem(&error.to_string()))?;
        }
    }
    let (width, height, channels) = (spec.planes.as_ref()).map_or((0, 0, 0), |planes| {
        (planes.width, planes.height, planes.channels.len())
    });
    let observations = PyArray1::from_vec(py, planes);
    Ok((
        recording.map(),
        read_only(observations.reshape([states.len(), width, height, channels])?),
        actions.iter().map(|action| *action as usize).collect(),
        labels,
        states,
        recording.ended().as_str(),
        match recording.shortest() {
            Shortest::Exactly(steps) => Some((steps, true)),
            Shortest::AtLeast(steps) => Some((steps, false)),
            Shortest::Impossible => None,
        },
    ))
}

fn opened(folder: &Path) -> PyResult<SavedRun> {
    let place = folder.display().to_string();
    SavedRun::open(folder)
        .map_err(|error| errors::raise(Class::File, &message(&error), Some(&place), None, None))
}

fn problem(message: &str) -> PyErr {
    errors::raise(Class::World, message, None, None, None)
}
