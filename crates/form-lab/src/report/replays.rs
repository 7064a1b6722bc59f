//! Replays: episodes played by the policies of a run's checkpoint, failures first.
//!
//! Episodes are played as in [`evaluate`](crate::evaluate), so the page shows what it counts. The few that are shown are then repeated
//! step by step, together with the machine.

use std::sync::Arc;

use anyhow::Result;
use form_core::{BoundMachine, Monitor, to_svg};
use form_env::{Environment, EpisodeOutcome, Frame, GridWorld, Split, Worlds};
use form_rl::{Agent, AssignmentMode, Choice, Episode};

use super::data::{EvaluationData, FOR_THIS_PAGE, MachineData, ReplayData, RunData};
use crate::env_factory::{EnvFactory, GridEnvFactory};
use crate::evaluate::{Evaluation, EvaluationPlan, evaluate_episodes};
use crate::play_callback::PlayCallback;
use crate::run::SavedRun;

/// How many episodes of a run are played and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Showing {
    /// The maximum number of episodes per set of maps.
    pub episodes: usize,
    /// How many of them are shown.
    pub replays: usize,
    /// The seed of starts and actions.
    pub seed: u64,
    /// The maximum number of multiplications for all episodes together, assuming that each reaches the step limit. Large networks
    /// get fewer episodes. None for no limit.
    pub work: Option<u64>,
}

impl Showing {
    /// Few episodes, about a second: for pages at the end of a run and while it trains.
    pub const BRIEF: Self = Self {
        episodes: 32,
        replays: 6,
        seed: 0,
        work: Some(1 << 36),
    };

    /// The number of episodes per set of maps, for these agents and this step limit.
    fn affordable(&self, agents: &[Agent], limit: u64, sets: usize) -> usize {
        let Some(work) = self.work else {
            return self.episodes;
        };
        let networks = agents.iter().map(|agent| agent.network().multiplications());
        let step = networks.max().unwrap_or(0) + STEP;
        let most = work / step / limit.max(1) / sets.max(1) as u64;
        usize::try_from(most)
            .unwrap_or(usize::MAX)
            .clamp(1, self.episodes.max(1))
    }
}

/// The cost of a step without the network, in multiplications.
const STEP: u64 = 10_000;

impl Default for Showing {
    fn default() -> Self {
        Self {
            episodes: 128,
            work: Some(1 << 40),
            ..Self::BRIEF
        }
    }
}

/// Plays on training maps and on held-out maps and adds the replays; false if it was interrupted.
pub(super) fn add(
    run: &mut RunData,
    trained: &SavedRun,
    showing: Showing,
    callback: PlayCallback<'_>,
) -> Result<bool> {
    let envs = GridEnvFactory::new(&trained.config)?;
    let bound = match trained.checkpoint.mode {
        AssignmentMode::Unaided => None,
        _ => Some(Arc::new(
            trained.checkpoint.machine.bind(envs.task().signature())?,
        )),
    };
    let machine = bound
        .as_ref()
        .map(|bound| position(&mut run.machines, bound, trained));
    let mut splits = vec![Split::Training];
    // A task with few maps has none to hold out.
    match envs.holds_out() {
        true => splits.push(Split::HeldOut),
        false => (run.facts).push((
            "held-out maps",
            "none: the task has too few different maps".to_owned(),
        )),
    }
    let mut agents = trained.agents()?;
    let limit = u64::from(envs.task().steps());
    let episodes = showing.affordable(&agents, limit, splits.len());
    let mut replays = Vec::new();
    for split in splits {
        let plan = EvaluationPlan {
            split,
            episodes,
            choice: Choice::Sample,
            seed: showing.seed,
        };
        let (config, machine_text) = (&trained.config, &trained.checkpoint.machine);
        let played = evaluate_episodes(config, &envs, machine_text, &mut agents, &plan, callback)?;
        let Some((evaluation, episodes)) = played else {
            return Ok(false);
        };
        // The final evaluation of the run is kept unless this one has more episodes.
        let better = |known: &EvaluationData| {
            known.held_out == evaluation.held_out && known.episodes >= evaluation.episodes
        };
        if !run.evaluations.iter().any(better) {
            (run.evaluations).push(evaluation_data(&evaluation, FOR_THIS_PAGE));
        }
        let mut again = ReplayWorlds {
            // The same worlds: an episode is determined by the seed, its world and its number.
            worlds: envs.worlds(plan.worlds(), plan.seed, split)?,
            split,
            bound: bound.as_ref(),
            machine,
        };
        for episode in worth_seeing(&episodes, showing.replays) {
            replays.push(again.replay(episode, &mut run.rooms)?);
        }
    }
    replays.sort_by_key(|replay: &ReplayData| replay.success);
    run.replays = replays;
    Ok(true)
}

/// The index of the checkpoint's machine among those of the run; it is added if its file is missing.
fn position(machines: &mut Vec<MachineData>, bound: &BoundMachine, trained: &SavedRun) -> usize {
    let svg = to_svg(bound.machine());
    if let Some(found) = machines.iter().rposition(|machine| machine.svg == svg) {
        return found;
    }
    let history = super::history::History {
        machines: vec![(trained.state.relearnings, None, bound.machine().clone())],
        metrics: &[],
        timings: &[],
        traces: &[],
        signature: None,
    };
    machines.extend(history.describe());
    machines.len() - 1
}

/// Failures first, those that the machine misjudged before others, of various lengths.
fn worth_seeing(episodes: &[Episode], most: usize) -> Vec<&Episode> {
    let (good, bad): (Vec<&Episode>, Vec<&Episode>) =
        episodes.iter().partition(|episode| episode.is_success());
    let (failed, refuted): (Vec<&Episode>, Vec<&Episode>) =
        (bad.into_iter()).partition(|episode| episode.counterexample.is_none());
    // At least one success, for comparison.
    let failures = most.saturating_sub(usize::from(!good.is_empty()));
    let mut chosen = of_every_length(refuted, failures);
    chosen.extend(of_every_length(failed, failures - chosen.len()));
    chosen.extend(of_every_length(good, most - chosen.len()));
    chosen
}

/// At most `most` episodes, evenly from the longest to the shortest.
fn of_every_length(mut episodes: Vec<&Episode>, most: usize) -> Vec<&Episode> {
    episodes.sort_by_key(|episode| std::cmp::Reverse(episode.steps()));
    let count = episodes.len().min(most);
    (0..count)
        .map(|i| episodes[i * episodes.len() / count])
        .collect()
}

/// An evaluation for the page.
pub(super) fn evaluation_data(evaluation: &Evaluation, when: &'static str) -> EvaluationData {
    let mut failures = evaluation.failures.worst_maps(MOST_MAPS);
    failures.extend(evaluation.failures.by_state());
    EvaluationData {
        when,
        held_out: evaluation.held_out,
        greedy: evaluation.greedy,
        episodes: evaluation.episodes,
        successes: evaluation.successes,
        success: evaluation.success,
        low: evaluation.success_interval.low,
        high: evaluation.success_interval.high,
        random: evaluation.random,
        length: evaluation.length,
        shortest: evaluation.shortest,
        shortest_exact: evaluation.shortest_exact,
        ratio: evaluation.ratio,
        dead_ends: evaluation.dead_ends,
        out_of_time: evaluation.out_of_time,
        cut_off: evaluation.cut_off,
        failures,
    }
}

/// The maximum number of failing maps that are named.
const MOST_MAPS: usize = 5;

/// The worlds in which episodes are repeated.
struct ReplayWorlds<'a> {
    worlds: <GridEnvFactory as EnvFactory>::Worlds,
    split: Split,
    bound: Option<&'a Arc<BoundMachine>>,
    machine: Option<usize>,
}

impl ReplayWorlds<'_> {
    fn replay(&mut self, episode: &Episode, rooms: &mut Vec<String>) -> Result<ReplayData> {
        self.worlds.start(episode.world, episode.number)?;
        let mut world = self.worlds.copy_of(episode.world)?;
        let map = self.worlds.map_number(episode.world);
        let room = Frame::of_map(world.task(), world.map()).to_svg();
        let number = rooms.iter().position(|known| *known == room);
        let number = number.unwrap_or_else(|| {
            rooms.push(room);
            rooms.len() - 1
        });
        let mut replay = ReplayData {
            set: match self.split {
                Split::Training => "training",
                Split::HeldOut => "held-out",
            },
            outcome: match episode.outcome {
                EpisodeOutcome::Running => "cut-off",
                outcome => outcome.as_str(),
            },
            success: episode.is_success(),
            refuted: episode.counterexample.is_some(),
            map,
            room: number,
            machine: self.machine,
            poses: Vec::new(),
            actions: Vec::new(),
            labels: Vec::new(),
            states: Vec::new(),
            edges: Vec::new(),
            buffer: Vec::new(),
        };
        let own = self.worlds.own_signature(episode.world);
        let mut monitored = self.bound.map(|bound| {
            let bound = bound.restricted(own.map(AsRef::as_ref));
            let monitor = Monitor::new(&bound);
            (bound, monitor)
        });
        note(&mut replay, &world, &mut monitored);
        for action in &episode.actions {
            world.step(usize::from(*action))?;
            (replay.actions).push(world.actions()[usize::from(*action)].clone());
            note(&mut replay, &world, &mut monitored);
        }
        Ok(replay)
    }
}

/// Records the agent and the machine.
fn note(
    replay: &mut ReplayData,
    world: &GridWorld,
    monitored: &mut Option<(Arc<BoundMachine>, Monitor)>,
) {
    let time = replay.poses.len();
    let cell = world.agent();
    (replay.poses).push((cell.x, cell.y, world.direction() as usize));
    let labels = world.labels();
    if !labels.is_empty() {
        let texts = world.signature().texts(labels);
        replay.labels.push((time, texts));
    }
    let Some((machine, monitor)) = monitored else {
        return;
    };
    // Without labels it does something only where every step counts.
    let step = monitor.observe(machine, labels);
    (replay.edges).extend(step.edge.map(|edge| (time, edge.index())));
    changed(&mut replay.states, time, monitor.state().index());
    let seen = machine.signature().texts(monitor.seen());
    changed(&mut replay.buffer, time, seen);
}

/// Adds an entry if the value has changed.
fn changed<T: PartialEq>(entries: &mut Vec<(usize, T)>, time: usize, value: T) {
    if entries.last().is_none_or(|(_, last)| *last != value) {
        entries.push((time, value));
    }
}
