//! Episodes to be looked at: played by the policies of a run's checkpoint, the failures first.
//!
//! Episodes are played as [`evaluate`](crate::evaluate) plays them, so what is shown is what is counted. The few that are shown
//! are then gone through once more, step by step, with the machine beside them.

use anyhow::Result;
use form_core::{BoundMachine, Monitor, to_svg};
use form_env::{Environment, EpisodeOutcome, Frame, GridWorld, Split, Worlds};
use form_rl::{Agent, AssignmentMode, Choice, Episode};

use super::data::{EvaluationData, FOR_THIS_PAGE, MachineData, ReplayData, RunData};
use crate::env_factory::{EnvFactory, GridEnvFactory};
use crate::evaluate::{Evaluation, EvaluationPlan, evaluate_episodes};
use crate::play_callback::PlayCallback;
use crate::run::SavedRun;

/// What is played and shown of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Showing {
    /// How many episodes are played on either set of maps, at most.
    pub episodes: usize,
    /// How many of them can be looked at.
    pub replays: usize,
    /// What episodes and actions are drawn from.
    pub seed: u64,
    /// How many multiplications playing may cost, on all maps together, even if every episode takes all the steps it may. Where a step is
    /// expensive, because a room and so its networks are large, fewer episodes are played. None: as many as were asked for.
    pub work: Option<u64>,
}

impl Showing {
    /// Few episodes, in about a second: for pages that nobody asked for, and beside a training that goes on.
    pub const BRIEF: Self = Self {
        episodes: 32,
        replays: 6,
        seed: 0,
        work: Some(1 << 36),
    };

    /// How many episodes are played on each of so many sets of maps, by these agents, with so many steps at most.
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

/// What a step costs besides the network, in multiplications.
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

/// Plays on the maps of training and on held-out ones, and adds what came of it; whether that was not interrupted.
pub(super) fn add(
    run: &mut RunData,
    trained: &SavedRun,
    showing: Showing,
    callback: PlayCallback<'_>,
) -> Result<bool> {
    let envs = GridEnvFactory::new(&trained.config)?;
    let bound = match trained.checkpoint.mode {
        AssignmentMode::Unaided => None,
        _ => Some(trained.checkpoint.machine.bind(envs.task().signature())?),
    };
    let machine = bound
        .as_ref()
        .map(|bound| position(&mut run.machines, bound, trained));
    let mut splits = vec![Split::Training];
    // A task with few maps holds none of them out.
    match envs.holds_out() {
        true => splits.push(Split::HeldOut),
        false => (run.facts).push((
            "held-out maps",
            "none: the task has too few different maps for any to be held out".to_owned(),
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
        // What the run was measured by when it ended is better, unless more was asked for now.
        let better = |known: &EvaluationData| {
            known.held_out == evaluation.held_out && known.episodes >= evaluation.episodes
        };
        if !run.evaluations.iter().any(better) {
            (run.evaluations).push(counted(&evaluation, FOR_THIS_PAGE));
        }
        let mut stage = Stage {
            // The worlds they were played in: an episode depends on the seed, its world and its number.
            worlds: envs.worlds(plan.worlds(), plan.seed, split)?,
            split,
            bound: bound.as_ref(),
            machine,
        };
        for episode in worth_seeing(&episodes, showing.replays) {
            replays.push(stage.replay(episode, &mut run.rooms)?);
        }
    }
    replays.sort_by_key(|replay: &ReplayData| replay.success);
    run.replays = replays;
    Ok(true)
}

/// The machine of the checkpoint among those of the run; one whose file is missing is added.
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
    machines.extend(history.told());
    machines.len() - 1
}

/// Failures first, those that the machine was wrong about before others; of either some of every length.
fn worth_seeing(episodes: &[Episode], most: usize) -> Vec<&Episode> {
    let (good, bad): (Vec<&Episode>, Vec<&Episode>) =
        episodes.iter().partition(|episode| episode.is_success());
    let (failed, refuted): (Vec<&Episode>, Vec<&Episode>) =
        (bad.into_iter()).partition(|episode| episode.counterexample.is_none());
    // Somebody who comes to see failures also wants to see how it is done.
    let failures = most.saturating_sub(usize::from(!good.is_empty()));
    let mut chosen = of_every_length(refuted, failures);
    chosen.extend(of_every_length(failed, failures - chosen.len()));
    chosen.extend(of_every_length(good, most - chosen.len()));
    chosen
}

/// At most so many, from the longest to the shortest.
fn of_every_length(mut episodes: Vec<&Episode>, most: usize) -> Vec<&Episode> {
    episodes.sort_by_key(|episode| std::cmp::Reverse(episode.steps()));
    let count = episodes.len().min(most);
    (0..count)
        .map(|i| episodes[i * episodes.len() / count])
        .collect()
}

/// An evaluation as the page shows it, and when it was made.
pub(super) fn counted(evaluation: &Evaluation, when: &'static str) -> EvaluationData {
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

/// The most maps that are named because most episodes fail on them.
const MOST_MAPS: usize = 5;

/// Where episodes of one set are gone through again.
struct Stage<'a> {
    worlds: <GridEnvFactory as EnvFactory>::Worlds,
    split: Split,
    bound: Option<&'a BoundMachine>,
    machine: Option<usize>,
}

impl Stage<'_> {
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
        let mut watch = self.bound.map(|bound| (bound, Monitor::new(bound)));
        note(&mut replay, &world, &mut watch);
        for action in &episode.actions {
            world.step(usize::from(*action))?;
            (replay.actions).push(world.actions()[usize::from(*action)].clone());
            note(&mut replay, &world, &mut watch);
        }
        Ok(replay)
    }
}

/// Writes down where the agent and the machine stand.
fn note(replay: &mut ReplayData, world: &GridWorld, watch: &mut Option<(&BoundMachine, Monitor)>) {
    let time = replay.poses.len();
    let cell = world.agent();
    (replay.poses).push((cell.x, cell.y, world.direction() as usize));
    let labels = world.labels();
    if !labels.is_empty() {
        let texts = world.signature().texts(labels);
        replay.labels.push((time, texts));
    }
    let Some((machine, monitor)) = watch else {
        return;
    };
    if !labels.is_empty() {
        let step = monitor.observe(machine, labels);
        replay
            .edges
            .extend(step.edge.map(|edge| (time, edge.index())));
    }
    changed(&mut replay.states, time, monitor.state().index());
    let seen = machine.signature().texts(monitor.seen());
    changed(&mut replay.buffer, time, seen);
}

/// Adds an entry where something differs from the one before.
fn changed<T: PartialEq>(entries: &mut Vec<(usize, T)>, time: usize, value: T) {
    if entries.last().is_none_or(|(_, last)| *last != value) {
        entries.push((time, value));
    }
}
