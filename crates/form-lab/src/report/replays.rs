//! Episodes to be looked at: played by the policies of a run's checkpoint, the failures first.
//!
//! Episodes are played as [`evaluate`](crate::evaluate) plays them, so what is shown is what is counted. The few that are shown
//! are then gone through once more, step by step, with the machine beside them.

use anyhow::Result;
use form_core::{BoundMachine, Monitor, to_svg};
use form_env::{Environment, Frame, GridWorld, Maps, Outcome, Split, Worlds};
use form_rl::{Choice, Episode, Roles};

use super::data::{EvaluationData, MachineData, ReplayData, RunData};
use crate::arena::{Arena, GridArena};
use crate::evaluation::{Evaluation, EvaluationPlan, judge, play};
use crate::trained::TrainedRun;

/// What is played and shown of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Showing {
    /// How many episodes are played on either set of maps.
    pub episodes: usize,
    /// How many of them can be looked at.
    pub replays: usize,
    /// What episodes and actions are drawn from.
    pub seed: u64,
}

impl Showing {
    /// Few episodes: for pages that nobody asked for, and beside a training that goes on.
    pub const BRIEF: Self = Self {
        episodes: 32,
        replays: 6,
        seed: 0,
    };
}

impl Default for Showing {
    fn default() -> Self {
        Self {
            episodes: 128,
            ..Self::BRIEF
        }
    }
}

/// Plays on the maps of training and on held-out ones, and adds what came of it.
pub(super) fn add(run: &mut RunData, trained: &TrainedRun, showing: Showing) -> Result<()> {
    let arena = GridArena::new(&trained.config)?;
    let bound = match trained.checkpoint.roles {
        Roles::Unaided => None,
        _ => Some(trained.checkpoint.machine.bind(arena.task().signature())?),
    };
    let machine = bound
        .as_ref()
        .map(|bound| position(&mut run.machines, bound, trained));
    let mut splits = vec![Split::Training];
    // A task with few maps holds none of them out.
    match arena.holds_out() {
        true => splits.push(Split::HeldOut),
        false => (run.facts).push((
            "held-out maps",
            "none: the task has too few different maps for any to be held out".to_owned(),
        )),
    }
    let mut agents = trained.agents()?;
    let mut replays = Vec::new();
    for split in splits {
        let plan = EvaluationPlan {
            split,
            episodes: showing.episodes,
            choice: Choice::Sample,
            seed: showing.seed,
        };
        let (config, checkpoint) = (&trained.config, &trained.checkpoint);
        let episodes = play(config, &arena, &checkpoint.machine, &mut agents, &plan)?;
        run.evaluations.push(counted(&judge(&plan, &episodes)));
        let mut stage = Stage {
            // The worlds they were played in: an episode depends on the seed, its world and its number.
            worlds: arena.worlds(episodes.len(), plan.seed, split)?,
            maps: arena.maps(split)?,
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
    Ok(())
}

/// The machine of the checkpoint among those of the run; one whose file is missing is added.
fn position(machines: &mut Vec<MachineData>, bound: &BoundMachine, trained: &TrainedRun) -> usize {
    let svg = to_svg(bound.machine());
    if let Some(found) = machines.iter().rposition(|machine| machine.svg == svg) {
        return found;
    }
    let history = super::history::History {
        machines: vec![(trained.tally.relearnings, None, bound.machine().clone())],
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

fn counted(evaluation: &Evaluation) -> EvaluationData {
    EvaluationData {
        held_out: evaluation.held_out,
        greedy: evaluation.greedy,
        episodes: evaluation.episodes,
        successes: evaluation.successes,
        success: evaluation.success,
        low: evaluation.success_interval.low,
        high: evaluation.success_interval.high,
        length: evaluation.length,
        dead_ends: evaluation.dead_ends,
        out_of_time: evaluation.out_of_time,
        cut_off: evaluation.cut_off,
    }
}

/// Where episodes of one set are gone through again.
struct Stage<'a> {
    worlds: <GridArena as Arena>::Worlds,
    maps: Maps,
    split: Split,
    bound: Option<&'a BoundMachine>,
    machine: Option<usize>,
}

impl Stage<'_> {
    fn replay(&mut self, episode: &Episode, rooms: &mut Vec<String>) -> Result<ReplayData> {
        self.worlds.start(episode.world, episode.number)?;
        let mut world = self.worlds.copy_of(episode.world)?;
        let map = match &self.maps {
            Maps::Set(maps) => maps.iter().position(|map| map == world.map()),
            Maps::Fresh(_) => None,
        };
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
                Outcome::Running => "cut-off",
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
