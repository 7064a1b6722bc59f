//! What to visit next: the plan of an episode and the choice of single objects.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use form_core::{Atom, AtomSet, BoundMachine, Kind, MachineStatus, Monitor, StateId, Trace};
use form_env::Random;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::hypotheses::{Attempts, Hypotheses};
use super::queries::QueryState;
use super::shrinking::Shrinking;
use crate::config::ExplorationChoice;

/// A machine state, what was observed in it, and what is observed next.
type Situation = (StateId, AtomSet, AtomSet);

/// The least rate at which a walk tries what has been a dead end, while no goal is known.
const DARING: f64 = 0.05;
/// How many walks may fail to find a goal before choices become random.
const LOST_AFTER: u64 = 8;
/// The most objects that a walk visits before it carries out the machine, once a goal is known.
const MOST_DETOURS: usize = 8;

/// How likely a varied walk visits one more object, before every observation.
const WANDERING: f64 = 0.4;

/// Chooses what to visit.
#[derive(Debug)]
pub(crate) struct Explorer {
    choice: ExplorationChoice,
    machine: Arc<BoundMachine>,
    /// The machine on the map at hand, where `forall` ranges over the objects of that map.
    here: Arc<BoundMachine>,
    /// Whether the machine can accept: a goal is known then.
    can_accept: bool,
    hypotheses: Hypotheses,
    /// How often an observation was made in a situation, and in a state.
    tried: HashMap<Situation, u64>,
    tried_in_state: HashMap<(StateId, AtomSet), u64>,
    /// How often an observation was the last one before a dead end, and how often it was made.
    dead_ends: HashMap<AtomSet, (u64, u64)>,
    /// Whether many walks have not found a goal.
    is_lost: bool,
}

/// How far exploration has come, beside its traces: what a checkpoint keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplorationState {
    /// Episodes so far.
    episodes: u64,
    /// The shrinking of a counterexample.
    pub(super) shrinking: Shrinking,
    /// How often the hypotheses beside the present machine were put to the test.
    pub(super) attempts: Attempts,
    /// The work of the learner for all machines so far.
    #[serde(default)]
    pub(super) work: u64,
    /// The queries, once the learner has had no machine in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) queries: Option<QueryState>,
}

/// What an episode is for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EpisodePlan {
    /// What to observe first, in this order.
    pub(crate) probe: VecDeque<AtomSet>,
    /// How many objects are then chosen one by one; without a known goal, as many as there is time for.
    pub(crate) detours: Option<usize>,
    /// After how many observations towards acceptance one more object is visited.
    pub(crate) variation: Option<usize>,
    /// How likely one more object is visited before every observation towards acceptance.
    pub(crate) wandering: f64,
    /// Whether the walk is over after the probe, and the machine does not end it before.
    pub(crate) only_probe: bool,
    /// Whether the walk is over as soon as something else is observed.
    pub(crate) exactly: bool,
    /// The most objects that are visited.
    pub(crate) most: Option<usize>,
}

impl EpisodePlan {
    /// The plan to observe this and nothing else.
    pub(crate) fn query(word: Vec<AtomSet>) -> Self {
        Self {
            probe: word.into(),
            only_probe: true,
            exactly: true,
            ..Self::default()
        }
    }

    /// The plan to observe this, and then to reach acceptance if that is known.
    pub(crate) fn trial(word: Vec<AtomSet>, can_accept: bool) -> Self {
        Self {
            probe: word.into(),
            detours: Some(0),
            only_probe: !can_accept,
            ..Self::default()
        }
    }

    /// The plan with this number of objects at most.
    pub(crate) fn at_most(self, objects: usize) -> Self {
        Self {
            most: Some(objects),
            ..self
        }
    }

    /// The plan to reach acceptance with detours.
    pub(crate) fn varied() -> Self {
        Self {
            detours: Some(0),
            wandering: WANDERING,
            ..Self::default()
        }
    }
}

impl Explorer {
    /// An explorer of a machine, with a flag whether it can accept, that knows these traces; `varied` tells whether maps have different
    /// objects.
    pub(crate) fn new(
        choice: ExplorationChoice,
        (machine, can_accept): (&Arc<BoundMachine>, bool),
        vocabulary: &[Atom],
        traces: &[Trace],
        varied: bool,
    ) -> Self {
        let machine = machine.clone();
        let hypotheses = match choice {
            ExplorationChoice::Disagreement if can_accept => {
                let (lifted, signature) = (machine.machine(), machine.signature());
                Hypotheses::beside(lifted, signature, vocabulary, traces, varied)
            }
            _ => Hypotheses::default(),
        };
        let mut explorer = Self {
            choice,
            here: machine.clone(),
            machine,
            can_accept,
            hypotheses,
            tried: HashMap::new(),
            tried_in_state: HashMap::new(),
            dead_ends: HashMap::new(),
            is_lost: false,
        };
        for trace in traces {
            explorer.count(trace);
        }
        explorer
    }

    /// Begins an episode in which these atoms can be observed, if these are not all; returns the machine for it.
    pub(crate) fn begin(&mut self, own: Option<&Arc<AtomSet>>) -> Arc<BoundMachine> {
        self.here = self.machine.restricted(own.map(AsRef::as_ref));
        self.here.clone()
    }

    /// Takes a new trace into account.
    pub(crate) fn add(&mut self, trace: &Trace) {
        self.hypotheses.add(trace);
        self.count(trace);
    }

    /// Whether a walk is known that could refute the machine.
    pub(crate) fn has_open_questions(&self, state: &ExplorationState) -> bool {
        state.shrinking.is_active() || self.hypotheses.are_open(&state.attempts)
    }

    fn count(&mut self, trace: &Trace) {
        let machine = self.machine.restricted(trace.own_signature());
        let mut monitor = Monitor::new(&machine);
        for observation in trace.steps() {
            *(self.tried.entry(situation(&monitor, observation))).or_default() += 1;
            let in_state = (monitor.state(), observation.clone());
            *(self.tried_in_state.entry(in_state)).or_default() += 1;
            monitor.observe(&machine, observation);
            self.dead_ends.entry(observation.clone()).or_default().1 += 1;
        }
        if let (Kind::DeadEnd, Some(last)) = (trace.kind(), trace.steps().last()) {
            self.dead_ends.entry(last.clone()).or_default().0 += 1;
        }
    }

    /// The plan of the next episode, on a map with these observations, after these traces.
    pub(crate) fn plan(
        &mut self,
        state: &mut ExplorationState,
        traces: &[Trace],
        observations: &[AtomSet],
        random: &mut Random,
    ) -> EpisodePlan {
        state.episodes += 1;
        self.is_lost = !self.can_accept && state.episodes > LOST_AFTER;
        if let Some(walk) = state.shrinking.walk(traces, self.here.own_signature()) {
            return EpisodePlan {
                probe: walk.into(),
                only_probe: true,
                ..EpisodePlan::default()
            };
        }
        if !self.can_accept {
            return EpisodePlan::default();
        }
        let attempts = &mut state.attempts;
        if let Some(probe) = self.hypotheses.probe(&self.here, observations, attempts) {
            return EpisodePlan {
                probe: probe.into(),
                detours: Some(0),
                ..EpisodePlan::default()
            };
        }
        let states = self.machine.machine().inner_states();
        let plan = EpisodePlan {
            detours: Some(0),
            ..EpisodePlan::default()
        };
        match state.episodes % 4 {
            0 => plan,
            1 => EpisodePlan {
                detours: Some(random.random_range(1..=MOST_DETOURS)),
                ..plan
            },
            _ => EpisodePlan {
                variation: Some(random.random_range(0..=states)),
                ..plan
            },
        }
    }

    /// The next object by itself: one of these observations.
    pub(crate) fn choose<'a>(
        &self,
        monitor: &Monitor,
        observations: &'a [AtomSet],
        random: &mut Random,
    ) -> Option<&'a AtomSet> {
        let mut sensible = |observation: &&AtomSet| match () {
            () if *observation == monitor.newest() => false,
            () if self.can_accept => !self.is_fatal(monitor, observation),
            () if !self.machine.machine().edges().is_empty() => {
                !self.is_fatal(monitor, observation) || random.random_bool(DARING)
            }
            () => random.random_bool(self.survival(observation)),
        };
        let mut candidates: Vec<&AtomSet> = observations.iter().filter(&mut sensible).collect();
        // If there is no goal for long, half of the choices are random: counting goes through all orders of a few objects first.
        let counting = !self.is_lost || random.random_bool(0.5);
        if counting && self.choice != ExplorationChoice::Uniform {
            let count = |observation: &AtomSet| {
                let in_state = (monitor.state(), observation.clone());
                let here = self.tried.get(&situation(monitor, observation));
                let in_state = self.tried_in_state.get(&in_state);
                (here.copied().unwrap_or(0), in_state.copied().unwrap_or(0))
            };
            let least = candidates.iter().map(|one| count(one)).min()?;
            candidates.retain(|one| count(one) == least);
        }
        match candidates.len() {
            0 => None,
            count => Some(candidates[random.random_range(0..count)]),
        }
    }

    /// How often an observation was no dead end, while nothing better is known.
    fn survival(&self, observation: &AtomSet) -> f64 {
        let (ended, made) = self.dead_ends.get(observation).copied().unwrap_or_default();
        // One more of each, so that nothing is certain.
        let rate = (ended as f64 + 0.5) / (made as f64 + 1.0);
        (1.0 - rate).clamp(DARING, 1.0)
    }

    /// Whether it has ended every walk that met it, or the machine calls it a dead end.
    pub(crate) fn is_dangerous(&self, monitor: &Monitor, observation: &AtomSet) -> bool {
        let (ended, made) = self.dead_ends.get(observation).copied().unwrap_or_default();
        made > 1 && ended == made || self.is_fatal(monitor, observation)
    }

    /// Whether the machine calls it a dead end.
    pub(crate) fn is_fatal(&self, monitor: &Monitor, observation: &AtomSet) -> bool {
        let edge = monitor.peek(&self.here, observation).edge;
        edge.is_some_and(|edge| {
            let (to, _) = self.here.outcome(edge);
            self.here.machine().status(to) == MachineStatus::Rejected
        })
    }

    /// Whether the machine can accept: a goal is known then.
    pub(crate) fn can_accept(&self) -> bool {
        self.can_accept
    }

    /// The machine that is explored.
    pub(crate) fn machine(&self) -> &Arc<BoundMachine> {
        &self.machine
    }
}

fn situation(monitor: &Monitor, observation: &AtomSet) -> Situation {
    (monitor.state(), monitor.seen().clone(), observation.clone())
}
