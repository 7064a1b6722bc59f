//! The baselines of an evaluation on the same episodes: random play and shortest solutions.

use anyhow::Result;
use form_env::{Shortest, Worlds};
use form_rl::{AgentAssignment, Choice, Episode, Game, PlayConfig};
use rayon::prelude::*;

use super::{EvaluationPlan, in_order};
use crate::config::RunConfig;
use crate::env_factory::EnvFactory;
use crate::game_setup::game_config;
use crate::play_callback::PlayCallback;
use crate::search_limit::{SEARCH_LIMIT, limit_after};

/// What is known of an episode before it is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// The number of its map, if maps are numbered.
    pub(crate) map: Option<usize>,
    /// The length of its shortest solution, if it was computed.
    pub(crate) shortest: Option<Shortest>,
}

impl Start {
    /// Whether no policy can complete the episode within a step limit.
    pub(crate) fn is_beyond(&self, limit: u64) -> bool {
        match self.shortest {
            Some(Shortest::Exactly(few) | Shortest::AtLeast(few)) => few as u64 > limit,
            Some(Shortest::Impossible) => true,
            None => false,
        }
    }
}

/// The success rate of random play on the episodes of a plan; nothing if it was interrupted. It does not depend on the machine.
pub(crate) fn random_success<A: EnvFactory>(
    config: &RunConfig,
    envs: &A,
    plan: &EvaluationPlan,
    callback: PlayCallback<'_>,
) -> Result<Option<f64>> {
    let layout = plan.layout();
    let worlds = envs.worlds(layout.worlds, plan.seed, plan.split)?;
    let assignment = AgentAssignment::unaided(worlds.signature(), worlds.spec())?;
    let mut game = Game::new(worlds, assignment, game_config(config), 0)?;
    let rounds = PlayConfig {
        episodes: layout.rounds as u64,
        choice: Choice::Uniform,
        seed: plan.seed,
    };
    let played = game.play_while(&mut [], rounds, |_| !callback.is_interrupted())?;
    if callback.is_interrupted() {
        return Ok(None);
    }
    let played = in_order(played, layout);
    let successes = played.iter().filter(|one| Episode::is_success(one)).count();
    Ok(Some(successes as f64 / played.len().max(1) as f64))
}

/// The starts of the episodes of a plan, in their order, with shortest solutions if `solve`; nothing if it was interrupted.
pub(crate) fn starts<A: EnvFactory>(
    envs: &A,
    plan: &EvaluationPlan,
    solve: bool,
    callback: PlayCallback<'_>,
) -> Result<Option<Vec<Start>>> {
    let layout = plan.layout();
    let mut worlds = envs.worlds(layout.worlds, plan.seed, plan.split)?;
    let first = match solve && layout.worlds > 0 {
        true => envs.shortest(&worlds, 0, SEARCH_LIMIT),
        false => None,
    };
    let limit = limit_after(first);
    let mut starts = Vec::with_capacity(layout.worlds * layout.rounds);
    for round in 0..layout.rounds {
        if round > 0 {
            for world in 0..layout.worlds {
                worlds.start(world, round as u64)?;
            }
        }
        let start = |world: usize| Start {
            map: envs.map_number(&worlds, world),
            shortest: match solve && !callback.is_interrupted() {
                true if (round, world) == (0, 0) => first,
                true => envs.shortest(&worlds, world, limit),
                false => None,
            },
        };
        let of_round = (0..layout.worlds).into_par_iter().map(start);
        starts.par_extend(of_round);
    }
    starts.truncate(layout.episodes);
    Ok((!callback.is_interrupted()).then_some(starts))
}
