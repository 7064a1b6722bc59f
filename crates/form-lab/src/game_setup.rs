//! From a configuration to a game that can be played: who acts in which machine state, and the options of the game.

use anyhow::{Context, Result};
use form_core::Machine;
use form_env::Worlds;
use form_rl::{Cast, Game, GameConfig, Roles};

use crate::config::RunConfig;

/// Who acts in which state of a machine, bound to the atoms of these worlds.
pub(crate) fn cast<W: Worlds>(config: &RunConfig, worlds: &W, machine: &Machine) -> Result<Cast> {
    let roles = config.method.roles();
    if roles == Roles::Unaided {
        return Ok(Cast::unaided(worlds.signature(), worlds.spec())?);
    }
    let bound = machine.bind(worlds.signature()).with_context(|| {
        format!(
            "the machine {} does not fit what can be observed in the task {}",
            machine.name(),
            config.task
        )
    })?;
    Ok(Cast::new(bound, roles, config.progress, worlds.spec()))
}

/// The game of a run in these worlds.
pub(crate) fn game<W: Worlds>(config: &RunConfig, worlds: W, cast: Cast) -> Result<Game<W>> {
    // An LSTM carries its cell and its hidden state from step to step.
    let memory = 2 * config.network.memory;
    Ok(Game::new(worlds, cast, game_config(config), memory)?)
}

/// How the game of a run rewards its agents.
pub(crate) fn game_config(config: &RunConfig) -> GameConfig {
    GameConfig {
        credit: config.credit,
        shaping: config.shaping,
        gamma: config.ppo.gamma,
    }
}
