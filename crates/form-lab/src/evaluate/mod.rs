//! Evaluation: the success of policies on training maps or on held-out maps.
//!
//! Every episode that is started counts, whatever its length: the episodes are chosen before the first step. (Counting the episodes
//! that *end* within some time overestimates success, because failures take longest.) Two baselines on the same episodes, `random`
//! and `shortest`, put success into context, and failures are grouped by map and by machine state.

mod baseline;
mod failures;

use anyhow::Result;
use form_core::Machine;
use form_env::{EpisodeOutcome, Shortest, Split};
use form_rl::{Agent, AssignmentMode, Choice, Episode, PlayConfig};
use serde::{Deserialize, Serialize};

pub(crate) use self::baseline::{Start, random_success, starts};
pub use self::failures::Failures;

use crate::config::RunConfig;
use crate::env_factory::EnvFactory;
use crate::game_setup::{assignment, game};
use crate::play_callback::PlayCallback;
use crate::statistics::{CONFIDENCE, Interval, mean, mean_interval, proportion_interval};

/// Which episodes are played, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvaluationPlan {
    /// Training maps or held-out maps.
    pub split: Split,
    /// The number of episodes, at least one.
    pub episodes: usize,
    /// How actions are chosen.
    pub choice: Choice,
    /// The seed of starts and actions.
    pub seed: u64,
}

/// The result of an evaluation. Intervals have 95 % confidence. Every episode is a success, a dead end, out of time, or cut off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Whether the maps were held out from training.
    pub held_out: bool,
    /// Whether actions were greedy rather than sampled.
    pub greedy: bool,
    /// The number of episodes started; all of them count.
    pub episodes: u64,
    /// How many of them completed the task, according to the world.
    pub successes: u64,
    /// The success rate.
    pub success: f64,
    /// Its Wilson interval.
    pub success_interval: Interval,
    /// The success rate of uniformly random actions on the same episodes.
    #[serde(default)]
    pub random: Option<f64>,
    /// The mean unshaped return: 1 for an episode that completed the task, 0 for any other.
    #[serde(rename = "return", default)]
    pub return_: f64,
    /// The mean number of steps.
    pub length: f64,
    /// Its Student interval; none for a single episode.
    pub length_interval: Option<Interval>,
    /// The mean length of shortest solutions from the same starts, by exact search; none if the world has no solver.
    #[serde(default)]
    pub shortest: Option<f64>,
    /// Whether `shortest` is exact; otherwise some searches reached their limit, and it is a lower bound.
    #[serde(default)]
    pub shortest_exact: bool,
    /// The steps of successful episodes divided by those of shortest solutions from the same starts; an upper bound if `shortest`
    /// is a lower bound.
    #[serde(default)]
    pub ratio: Option<f64>,
    /// How many episodes no policy can complete within the step limit.
    #[serde(default)]
    pub impossible: u64,
    /// How many episodes reached a dead end.
    pub dead_ends: u64,
    /// How many reached the step limit.
    pub out_of_time: u64,
    /// How many were cut off because the machine reached a terminal state before the world did.
    #[serde(default)]
    pub cut_off: u64,
    /// How many the machine misjudged: those cut off, and those whose outcome it got wrong.
    pub refuted: u64,
    /// The failures, by map and by machine state.
    #[serde(default)]
    pub failures: Failures,
}

/// The counts of one evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationSummary {
    /// The iteration after which it was made.
    pub iteration: u64,
    /// How many episodes were started.
    pub episodes: u64,
    /// How many of them completed the task.
    pub successes: u64,
    /// Their steps in total.
    pub steps: u64,
}

impl EvaluationSummary {
    /// The success rate.
    pub fn success(&self) -> f64 {
        self.successes as f64 / self.episodes.max(1) as f64
    }

    /// The mean number of steps per episode.
    pub fn length(&self) -> f64 {
        self.steps as f64 / self.episodes.max(1) as f64
    }
}

/// The maximum number of parallel worlds.
const WORLDS: usize = 512;

/// Evaluates agents with a machine.
pub fn evaluate<A: EnvFactory>(
    config: &RunConfig,
    envs: &A,
    machine: &Machine,
    agents: &mut [Agent],
    plan: &EvaluationPlan,
) -> Result<Evaluation> {
    let found = evaluate_with(config, envs, machine, agents, plan, PlayCallback::none())?;
    Ok(found.unwrap_or_else(|| unreachable!("no callback interrupts it")))
}

/// As [`evaluate`], with a callback; nothing if it was interrupted.
pub fn evaluate_with<A: EnvFactory>(
    config: &RunConfig,
    envs: &A,
    machine: &Machine,
    agents: &mut [Agent],
    plan: &EvaluationPlan,
    callback: PlayCallback<'_>,
) -> Result<Option<Evaluation>> {
    let found = evaluate_episodes(config, envs, machine, agents, plan, callback)?;
    Ok(found.map(|(evaluation, _)| evaluation))
}

/// As [`evaluate_with`], and returns the episodes.
pub(crate) fn evaluate_episodes<A: EnvFactory>(
    config: &RunConfig,
    envs: &A,
    machine: &Machine,
    agents: &mut [Agent],
    plan: &EvaluationPlan,
    callback: PlayCallback<'_>,
) -> Result<Option<(Evaluation, Vec<Episode>)>> {
    let Some(played) = play_with(config, envs, machine, agents, plan, callback)? else {
        return Ok(None);
    };
    let mut evaluation = count(plan, &played);
    let Some(random) = random_success(config, envs, plan, callback)? else {
        return Ok(None);
    };
    let Some(starts) = starts(envs, plan, true, callback)? else {
        return Ok(None);
    };
    evaluation.random = Some(random);
    evaluation.compare(&played, &starts, envs.step_limit());
    let names = (config.method.assignment_mode() != AssignmentMode::Unaided).then_some(machine);
    evaluation.failures = Failures::of(&played, &starts, names).failing();
    Ok(Some((evaluation, played)))
}

/// How the episodes of an evaluation are spread over worlds and rounds. The first `episodes` of them count, in the order of rounds
/// and worlds.
#[derive(Clone, Copy)]
struct Layout {
    worlds: usize,
    rounds: usize,
    episodes: usize,
}

impl EvaluationPlan {
    /// The number of worlds.
    pub(crate) fn worlds(&self) -> usize {
        self.layout().worlds
    }

    fn layout(&self) -> Layout {
        let episodes = self.episodes.max(1);
        let rounds = episodes.div_ceil(WORLDS);
        Layout {
            worlds: episodes.div_ceil(rounds),
            rounds,
            episodes,
        }
    }
}

/// Plays the episodes of a plan and returns them in the order of rounds and worlds. All maps of a set are played equally often, up to
/// one episode.
pub fn play<A: EnvFactory>(
    config: &RunConfig,
    envs: &A,
    machine: &Machine,
    agents: &mut [Agent],
    plan: &EvaluationPlan,
) -> Result<Vec<Episode>> {
    let played = play_with(config, envs, machine, agents, plan, PlayCallback::none())?;
    Ok(played.unwrap_or_default())
}

/// As [`play`], with a callback; nothing if it was interrupted.
pub(crate) fn play_with<A: EnvFactory>(
    config: &RunConfig,
    envs: &A,
    machine: &Machine,
    agents: &mut [Agent],
    plan: &EvaluationPlan,
    callback: PlayCallback<'_>,
) -> Result<Option<Vec<Episode>>> {
    let layout = plan.layout();
    let worlds = envs.worlds(layout.worlds, plan.seed, plan.split)?;
    let assignment = assignment(config, &worlds, machine)?;
    // As in training: actions are random until a machine that can accept is known.
    let choice = match assignment.mode() == AssignmentMode::Unaided || assignment.can_accept() {
        true => plan.choice,
        false => Choice::Uniform,
    };
    let mut game = game(config, worlds, assignment)?;
    let rounds = PlayConfig {
        episodes: layout.rounds as u64,
        choice,
        seed: plan.seed,
    };
    let played = game.play_while(agents, rounds, |progress| callback.report(progress))?;
    Ok((!callback.is_interrupted()).then(|| in_order(played, layout)))
}

/// The episodes that count. Surplus episodes are dropped by their place, not by their length.
fn in_order(mut played: Vec<Episode>, layout: Layout) -> Vec<Episode> {
    played.sort_by_key(|episode| (episode.number, episode.world));
    played.truncate(layout.episodes);
    played
}

/// Counts outcomes.
pub(crate) fn count(plan: &EvaluationPlan, episodes: &[Episode]) -> Evaluation {
    let count = |what: &dyn Fn(&Episode) -> bool| {
        episodes.iter().filter(|episode| what(episode)).count() as u64
    };
    let ended = |outcome| move |episode: &Episode| episode.outcome == outcome;
    let successes = count(&Episode::is_success);
    let total = episodes.len() as u64;
    let success = successes as f64 / total.max(1) as f64;
    let lengths: Vec<f64> = episodes
        .iter()
        .map(|episode| episode.steps() as f64)
        .collect();
    Evaluation {
        held_out: plan.split == Split::HeldOut,
        greedy: plan.choice == Choice::Greedy,
        episodes: total,
        successes,
        success,
        success_interval: proportion_interval(successes, total, CONFIDENCE).unwrap_or(Interval {
            low: 0.0,
            high: 1.0,
        }),
        random: None,
        return_: success,
        length: mean(&lengths).unwrap_or(0.0),
        // The Student interval of few episodes can reach below zero.
        length_interval: mean_interval(&lengths, CONFIDENCE).map(|interval| Interval {
            low: interval.low.max(0.0),
            ..interval
        }),
        shortest: None,
        shortest_exact: false,
        ratio: None,
        impossible: 0,
        dead_ends: count(&ended(EpisodeOutcome::DeadEnd)),
        out_of_time: count(&ended(EpisodeOutcome::OutOfTime)),
        cut_off: count(&ended(EpisodeOutcome::Running)),
        refuted: count(&|episode: &Episode| episode.counterexample.is_some()),
        failures: Failures::default(),
    }
}

impl Evaluation {
    /// Compares lengths with shortest solutions from the same starts.
    pub(crate) fn compare(&mut self, played: &[Episode], starts: &[Start], limit: Option<u64>) {
        let (mut shortest, mut exact) = (Vec::new(), true);
        let (mut taken, mut least) = (0.0, 0.0);
        for (episode, start) in played.iter().zip(starts) {
            self.impossible += u64::from(limit.is_some_and(|limit| start.is_beyond(limit)));
            let (few, proven) = match start.shortest {
                None => return,
                Some(Shortest::Exactly(few)) => (few, true),
                Some(Shortest::AtLeast(few)) => (few, false),
                Some(Shortest::Impossible) => continue,
            };
            exact &= proven;
            shortest.push(few as f64);
            if episode.is_success() {
                taken += episode.steps() as f64;
                least += few as f64;
            }
        }
        self.shortest = mean(&shortest);
        self.shortest_exact = exact && self.shortest.is_some();
        self.ratio = (least > 0.0).then(|| taken / least);
    }

    /// The total number of steps.
    pub fn steps(&self) -> u64 {
        (self.length * self.episodes as f64).round() as u64
    }
}
