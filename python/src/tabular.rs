//! `form_rl`'s tabular methods: Q-learning with counterfactual experience, and the optimum by value iteration.

use std::sync::{Arc, Mutex, PoisonError};

use form_env::Outcome;
use form_rl::{Optimum, QEpisode, QSettings};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use crate::bound::BoundMachine;
use crate::errors::{self, Class};
use crate::logic::whole;
use crate::logic::{Signature, SignatureLike};

type Outcomes = Vec<Vec<Vec<(f64, usize, f64, bool)>>>;
type Episodes<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
);

/// A finite MDP whose states are labelled, as a table.
#[pyclass(module = "formrl", frozen)]
pub struct LabelledMdp {
    table: Arc<form_env::LabelledMdp>,
}

#[pymethods]
impl LabelledMdp {
    /// `labels` has a row of booleans per state, one per atom of the signature. `outcomes[state][action]` is a list of (probability,
    /// next state, reward, terminated), as Gymnasium's toy text environments have it; `starts` a list of (probability, state).
    #[new]
    #[allow(clippy::needless_pass_by_value, reason = "what Python passes")]
    fn new(
        signature: SignatureLike,
        labels: PyReadonlyArray2<'_, bool>,
        outcomes: Outcomes,
        starts: Vec<(f64, usize)>,
    ) -> PyResult<Self> {
        let signature = signature.get();
        let labels = labels.as_array();
        if labels.ncols() != signature.ids.len() {
            return Err(PyValueError::new_err(format!(
                "expected {} booleans per state, one per atom of the signature, got {}",
                signature.ids.len(),
                labels.ncols()
            )));
        }
        let labels = (labels.rows().into_iter())
            .map(|row| {
                let there = signature.ids.iter().zip(row).filter(|(_, there)| **there);
                there.map(|(id, _)| *id).collect()
            })
            .collect();
        let outcome = |(probability, next, reward, terminated)| Outcome {
            probability,
            next,
            reward,
            terminated,
        };
        let of_state = |of_state: Vec<Vec<_>>| -> Vec<Vec<Outcome>> {
            (of_state.into_iter())
                .map(|of_action| of_action.into_iter().map(outcome).collect())
                .collect()
        };
        let outcomes = outcomes.into_iter().map(of_state).collect();
        let signature = (*signature.signature).clone();
        let table = form_env::LabelledMdp::new(signature, labels, outcomes, starts);
        let table = table
            .map_err(|error| errors::raise(Class::World, &error.to_string(), None, None, None))?;
        Ok(Self::of(table))
    }

    /// What can be observed.
    #[getter]
    fn signature(&self) -> Signature {
        Signature::of(Arc::new(self.table.signature().clone()))
    }

    /// The number of states.
    #[getter]
    fn states(&self) -> usize {
        self.table.states()
    }

    /// The number of actions.
    #[getter]
    fn actions(&self) -> usize {
        self.table.actions()
    }

    /// What entering a state makes true.
    fn labels(&self, state: usize) -> PyResult<Vec<String>> {
        if state >= self.table.states() {
            return Err(PyIndexError::new_err(format!("no state {state}")));
        }
        let label = &self.table.labels()[self.table.label_of(state)];
        Ok(self.table.signature().texts(label))
    }

    /// The states that an action can lead to, with their probabilities.
    fn outcomes(&self, state: usize, action: usize) -> PyResult<Vec<(f64, usize, f64, bool)>> {
        if state >= self.table.states() || action >= self.table.actions() {
            return Err(PyIndexError::new_err(format!(
                "no action {action} in state {state}"
            )));
        }
        let outcomes = self.table.outcomes(state, action).iter();
        Ok(outcomes
            .map(|o| (o.probability, o.next, o.reward, o.terminated))
            .collect())
    }

    fn __repr__(&self) -> String {
        let (states, actions) = (self.table.states(), self.table.actions());
        format!("<LabelledMdp of {states} states and {actions} actions>")
    }
}

impl LabelledMdp {
    pub fn of(table: form_env::LabelledMdp) -> Self {
        Self {
            table: Arc::new(table),
        }
    }
}

/// Tabular Q-learning over states and situations: machine states, with what matters of their windows.
#[pyclass(module = "formrl")]
pub struct QLearner {
    learner: form_rl::QLearner,
    machines: Vec<Py<BoundMachine>>,
    states: usize,
}

#[pymethods]
impl QLearner {
    /// A learner of one task per machine, for a table or for these numbers of states and actions.
    #[new]
    #[pyo3(signature = (machines, table=None, *, states=0, actions=0, learning_rate=0.5, epsilon=0.1, discount=0.9, initial=2.0,
        crm=true, shaping=false, environment_reward=false, episode_steps=1000, seed=0))]
    #[allow(
        clippy::too_many_arguments,
        reason = "keywords of a Python constructor"
    )]
    fn new(
        machines: Vec<Py<BoundMachine>>,
        table: Option<&LabelledMdp>,
        #[pyo3(from_py_with = whole)] states: usize,
        #[pyo3(from_py_with = whole)] actions: usize,
        learning_rate: f64,
        epsilon: f64,
        discount: f64,
        initial: f64,
        crm: bool,
        shaping: bool,
        environment_reward: bool,
        #[pyo3(from_py_with = whole)] episode_steps: u32,
        #[pyo3(from_py_with = whole)] seed: u64,
    ) -> PyResult<Self> {
        let settings = QSettings {
            learning_rate,
            epsilon,
            discount,
            initial,
            counterfactual: crm,
            shaping,
            environment_reward,
            episode_steps,
        };
        let bound = bound(&machines)?;
        let (learner, states) = match table {
            Some(LabelledMdp { table }) => (
                form_rl::QLearner::of_table(table, bound, settings, seed),
                table.states(),
            ),
            None => (
                form_rl::QLearner::new(states, actions, bound, settings, seed),
                states,
            ),
        };
        Ok(Self {
            learner: learner.map_err(|error| problem(&error))?,
            machines,
            states,
        })
    }

    /// Plays and learns in a table for a number of steps: task, number of steps, reward and acceptance of every episode. Python's lock is
    /// not held meanwhile.
    fn run<'py>(
        &mut self,
        py: Python<'py>,
        table: &LabelledMdp,
        #[pyo3(from_py_with = whole)] steps: u64,
    ) -> PyResult<Episodes<'py>> {
        if table.table.states() != self.states {
            return Err(PyValueError::new_err(format!(
                "the learner was made for {} states, the table has {}",
                self.states,
                table.table.states()
            )));
        }
        let (learner, table) = (&mut self.learner, &table.table);
        let interrupt: Mutex<Option<PyErr>> = Mutex::new(None);
        let stop = || {
            #[allow(
                clippy::redundant_closure_for_method_calls,
                reason = "the method is not general enough in its lifetime"
            )]
            let signal = Python::attach(|py| py.check_signals()).err();
            let stop = signal.is_some();
            *interrupt.lock().unwrap_or_else(PoisonError::into_inner) = signal;
            stop
        };
        let episodes = py.detach(|| learner.run(table, steps, &stop));
        if let Some(error) = interrupt
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
        {
            return Err(error);
        }
        let episodes = episodes.map_err(|error| problem(&error))?;
        Ok((
            PyArray1::from_iter(py, episodes.iter().map(|episode| episode.task)),
            PyArray1::from_iter(py, episodes.iter().map(|episode| episode.steps)),
            PyArray1::from_iter(py, episodes.iter().map(|episode| episode.reward)),
            PyArray1::from_iter(py, episodes.iter().map(|episode| episode.accepted)),
        ))
    }

    /// Starts an episode of the next task in a state with these labels.
    fn begin(&mut self, py: Python<'_>, state: usize, labels: &Bound<'_, PyAny>) -> PyResult<()> {
        let labels = self.signature(py).get().observation(labels)?;
        let begun = self.learner.begin(state, &labels);
        begun.map_err(|error| problem(&error))
    }

    /// An action: random with probability epsilon, else the best one.
    fn act(&mut self) -> PyResult<usize> {
        self.learner.act().map_err(|error| problem(&error))
    }

    /// Learns from a step to a state with these labels. Returns task, number of steps, reward and acceptance of the episode once it is
    /// over.
    #[pyo3(signature = (action, state, labels, *, reward=0.0, terminated=false))]
    fn learn(
        &mut self,
        py: Python<'_>,
        action: usize,
        state: usize,
        labels: &Bound<'_, PyAny>,
        reward: f64,
        terminated: bool,
    ) -> PyResult<Option<(u32, u32, f64, bool)>> {
        let labels = self.signature(py).get().observation(labels)?;
        let episode = self
            .learner
            .learn(action, state, &labels, reward, terminated);
        let episode = episode.map_err(|error| problem(&error))?;
        Ok(episode.map(|e| (e.task, e.steps, e.reward, e.accepted)))
    }

    /// Ends the episode where it is, without an end of its task: task, number of steps, reward and acceptance. `None` if none is played.
    fn cut_off(&mut self) -> Option<(u32, u32, f64, bool)> {
        let episode = self.learner.cut_off();
        episode.map(|e| (e.task, e.steps, e.reward, e.accepted))
    }

    /// The number of states of the environment.
    #[getter]
    fn states(&self) -> usize {
        self.states
    }

    /// The machines, one per task.
    #[getter]
    fn machines(&self, py: Python<'_>) -> Vec<Py<BoundMachine>> {
        self.machines.iter().map(|m| m.clone_ref(py)).collect()
    }

    /// Task, machine state and atoms seen in the window, of every situation.
    #[getter]
    fn situations(&self) -> Vec<(usize, String, Vec<String>)> {
        (0..self.learner.situations())
            .map(|situation| {
                let (task, state, seen) = self.learner.situation(situation);
                let machine = self.machines[task].get().bound.machine();
                (task, machine.states()[state].to_string(), seen)
            })
            .collect()
    }

    /// The number of the situation of the episode that is being played, if one is.
    #[getter]
    fn situation(&self) -> Option<usize> {
        self.learner.current()
    }

    /// The values of all actions in a state and a situation.
    fn values<'py>(
        &self,
        py: Python<'py>,
        state: usize,
        situation: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if state >= self.states || situation >= self.learner.situations() {
            return Err(PyIndexError::new_err(format!(
                "no state {state} with situation {situation}"
            )));
        }
        let values = self.learner.values(state, situation);
        Ok(PyArray1::from_slice(py, values))
    }
}

impl QLearner {
    fn signature(&self, py: Python<'_>) -> Py<Signature> {
        self.machines[0].get().signature.clone_ref(py)
    }
}

/// Value iteration on the cross product: per task, the discounted value from the start, and the reward per step of the optimal policy
/// with random actions of probability epsilon, averaged over episodes.
#[pyfunction]
#[pyo3(signature = (table, machines, *, epsilon=0.1, discount=0.9, environment_reward=false, episode_steps=1000, episodes=1000, seed=0))]
#[allow(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "keywords of a Python function"
)]
pub fn optimum(
    py: Python<'_>,
    table: &LabelledMdp,
    machines: Vec<Py<BoundMachine>>,
    epsilon: f64,
    discount: f64,
    environment_reward: bool,
    #[pyo3(from_py_with = whole)] episode_steps: u32,
    #[pyo3(from_py_with = whole)] episodes: u32,
    #[pyo3(from_py_with = whole)] seed: u64,
) -> PyResult<(Vec<f64>, Vec<f64>)> {
    let settings = QSettings {
        epsilon,
        discount,
        environment_reward,
        episode_steps,
        ..QSettings::default()
    };
    let (bound, table) = (bound(&machines)?, &*table.table);
    py.detach(|| {
        let tasks = bound.len();
        let optimum = Optimum::new(table, bound, &settings)?;
        let values = (0..tasks).map(|task| optimum.value(table, task)).collect();
        let per_step = optimum.reward_per_step(table, &settings, episodes, seed);
        Ok((values, per_step))
    })
    .map_err(|error| problem(&error))
}

/// The mean of reward per step over the last `window` episodes, relative to the optimum of their task, after every `tick` steps.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "what Python passes")]
pub fn learning_curve<'py>(
    py: Python<'py>,
    tasks: PyReadonlyArray1<'_, u32>,
    steps: PyReadonlyArray1<'_, u32>,
    rewards: PyReadonlyArray1<'_, f64>,
    optimum: Vec<f64>,
    #[pyo3(from_py_with = whole)] window: usize,
    #[pyo3(from_py_with = whole)] tick: u64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    if tasks.len() != steps.len() || tasks.len() != rewards.len() {
        return Err(PyValueError::new_err("arrays of different lengths"));
    }
    if window == 0 || tick == 0 {
        return Err(PyValueError::new_err("window and tick are at least 1"));
    }
    let columns = (tasks.as_array(), steps.as_array(), rewards.as_array());
    let rows = columns.0.iter().zip(columns.1).zip(columns.2);
    let episodes: Vec<QEpisode> = rows
        .map(|((task, steps), reward)| QEpisode {
            task: *task,
            steps: *steps,
            reward: *reward,
            accepted: false,
        })
        .collect();
    if episodes
        .iter()
        .any(|e| e.task as usize >= optimum.len() || e.steps == 0)
    {
        return Err(PyValueError::new_err(
            "every episode has a step, and a task with an optimum",
        ));
    }
    let curve = form_rl::learning_curve(&episodes, &optimum, window, tick);
    Ok(PyArray1::from_vec(py, curve))
}

fn bound(machines: &[Py<BoundMachine>]) -> PyResult<Vec<Arc<form_core::BoundMachine>>> {
    let all: Vec<Arc<form_core::BoundMachine>> =
        machines.iter().map(|m| m.get().bound.clone()).collect();
    if all.iter().any(|one| one.signature() != all[0].signature()) {
        return Err(PyValueError::new_err(
            "the machines are bound to different signatures",
        ));
    }
    Ok(all)
}

fn problem(error: &form_rl::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
