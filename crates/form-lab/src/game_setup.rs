//! From a configuration to a game that can be played: who acts in which machine state, and the options of the game.

use anyhow::{Context, Result};
use form_core::{Machine, StepMode};
use form_env::Worlds;
use form_rl::{AgentAssignment, AssignmentMode, Game, GameConfig};

use crate::config::RunConfig;
use crate::explore::reach_avoid_policy;

/// Who acts in which state of a machine, bound to the atoms of these worlds.
pub(crate) fn assignment<W: Worlds>(
    config: &RunConfig,
    worlds: &W,
    machine: &Machine,
) -> Result<AgentAssignment> {
    let roles = config.method.assignment_mode();
    if roles == AssignmentMode::Unaided {
        return Ok(AgentAssignment::unaided(worlds.signature(), worlds.spec())?);
    }
    let misfit = || {
        format!(
            "the machine {} does not fit what can be observed in the task {}",
            machine.name(),
            config.task
        )
    };
    let bound = machine.bind(worlds.signature()).with_context(misfit)?;
    // It must know no objects but those of all episodes.
    if let Some(shared) = worlds.shared_signature() {
        let shared = machine.bind(&worlds.signature().restricted(shared));
        shared
            .context("on the maps with the fewest objects")
            .with_context(misfit)?;
    }
    (machine.step_mode()).must_be(
        worlds.step_mode(),
        &format!("the machine {}", machine.name()),
        &format!("the task {}", config.task),
    )?;
    if let Some(policy) = reach_avoid_policy(config) {
        if machine.step_mode() == StepMode::All {
            return Err(form_env::Error::EveryStep {
                machine: machine.name().to_owned(),
            }
            .into());
        }
        return Ok(AgentAssignment::reach_avoid(bound, policy, worlds.spec()));
    }
    Ok(AgentAssignment::new(
        bound,
        roles,
        config.progress,
        worlds.spec(),
    ))
}

/// The game of a run in these worlds.
pub(crate) fn game<W: Worlds>(
    config: &RunConfig,
    worlds: W,
    assignment: AgentAssignment,
) -> Result<Game<W>> {
    let hidden = hidden_size(config);
    Ok(Game::new(worlds, assignment, game_config(config), hidden)?)
}

/// What an LSTM carries from step to step: its cell and its hidden state.
pub(crate) fn hidden_size(config: &RunConfig) -> usize {
    2 * config.network.memory
}

/// How the game of a run rewards its agents.
pub(crate) fn game_config(config: &RunConfig) -> GameConfig {
    GameConfig {
        credit: config.credit,
        shaping: config.shaping,
        gamma: config.shaping_discount.unwrap_or(config.ppo.gamma),
        end: config.shaping_end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use form_rl::EndPotential;

    use crate::config::{Method, Preset};

    /// Shaping has the discount of the training, unless another one is set: with the paper's settings only changes of state are rewarded, and
    /// dead ends cost nothing.
    #[test]
    fn the_discount_and_the_end_of_shaping() {
        let of = |preset| RunConfig::new("all-yellow", Method::Form, preset);
        let (mut fast, paper) = (of(Preset::Fast), of(Preset::Paper));
        assert_eq!(game_config(&fast).gamma, fast.ppo.gamma);
        assert_eq!(game_config(&paper).gamma, 1.0);
        assert_eq!(game_config(&paper).end, EndPotential::Distance);
        assert_eq!(game_config(&fast).end, EndPotential::Zero);
        fast.shaping_discount = Some(0.5);
        assert_eq!(game_config(&fast).gamma, 0.5);
    }
}
