//! How good policies are: whole episodes on maps they were trained on, or on maps that no training run ever sees.

use anyhow::Result;
use form_core::Machine;
use form_env::{Outcome, Split, Stream, generator};
use form_rl::{Agent, Choice, Episode};
use serde::{Deserialize, Serialize};

use crate::arena::Arena;
use crate::config::RunConfig;
use crate::statistics::{CONFIDENCE, Interval, mean, mean_interval, proportion_interval};
use crate::train::{cast, game};

/// What to play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvaluationPlan {
    /// On which maps.
    pub split: Split,
    /// How many episodes; at least one.
    pub episodes: usize,
    /// How actions are chosen.
    pub choice: Choice,
    /// What episodes and choices are drawn from.
    pub seed: u64,
}

/// What came of it. Intervals are of 95 % confidence, over episodes. An episode is a success, a dead end, out of time, or cut off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// On maps that were held out from training?
    pub held_out: bool,
    /// Whether the most probable action was taken, rather than one drawn.
    pub greedy: bool,
    /// How many episodes were played.
    pub episodes: u64,
    /// How many of them completed the task, by what the world says.
    pub successes: u64,
    /// The share of those.
    pub success: f64,
    /// Wilson's interval of it.
    pub success_interval: Interval,
    /// The mean unshaped return: 1 for an episode that completed the task, 0 for any other.
    #[serde(rename = "return", default)]
    pub return_: f64,
    /// The mean number of steps.
    pub length: f64,
    /// Student's interval of it; none of a single episode.
    pub length_interval: Option<Interval>,
    /// How many episodes ended where the task had become impossible.
    pub dead_ends: u64,
    /// How many ran out of time.
    pub out_of_time: u64,
    /// How many were cut off because the machine thought them over while the world went on.
    #[serde(default)]
    pub cut_off: u64,
    /// How many the machine was wrong about, however they ended: those cut off, and those whose end it took for another.
    pub refuted: u64,
}

/// The most worlds that are played at once.
const WORLDS: usize = 512;

/// Lets agents play in worlds of an arena, and counts.
pub fn evaluate<A: Arena>(
    config: &RunConfig,
    arena: &A,
    machine: &Machine,
    agents: &mut [Agent],
    plan: &EvaluationPlan,
) -> Result<Evaluation> {
    let episodes = play(config, arena, machine, agents, plan)?;
    Ok(judge(plan, &episodes))
}

/// Plays the episodes of a plan: as many as it says, in the order of their numbers and worlds. On a set of maps that holds no more
/// than there are episodes, every map is played.
pub fn play<A: Arena>(
    config: &RunConfig,
    arena: &A,
    machine: &Machine,
    agents: &mut [Agent],
    plan: &EvaluationPlan,
) -> Result<Vec<Episode>> {
    let wanted = plan.episodes.max(1);
    let rounds = wanted.div_ceil(WORLDS);
    let count = wanted.div_ceil(rounds);
    let worlds = arena.worlds(count, plan.seed, plan.split)?;
    let cast = cast(config, &worlds, machine)?;
    let mut game = game(config, worlds, cast)?;
    let mut random = generator(plan.seed, Stream::Other(0));
    let mut played = game.play(agents, rounds as u64, plan.choice, &mut random)?;
    // Those that are too many are chosen beforehand, not by how long they took.
    played.sort_by_key(|episode| (episode.number, episode.world));
    played.truncate(wanted);
    Ok(played)
}

/// Counts.
pub(crate) fn judge(plan: &EvaluationPlan, episodes: &[Episode]) -> Evaluation {
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
        return_: success,
        length: mean(&lengths).unwrap_or(0.0),
        // No episode has fewer than no steps, whatever Student says of a few.
        length_interval: mean_interval(&lengths, CONFIDENCE).map(|interval| Interval {
            low: interval.low.max(0.0),
            ..interval
        }),
        dead_ends: count(&ended(Outcome::DeadEnd)),
        out_of_time: count(&ended(Outcome::OutOfTime)),
        cut_off: count(&ended(Outcome::Running)),
        refuted: count(&|episode: &Episode| episode.counterexample.is_some()),
    }
}
