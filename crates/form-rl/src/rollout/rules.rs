//! The rules of the game: who is rewarded for what, how actions are chosen, and what is told of an episode.

use form_core::{StateId, Trace};
use form_env::{Outcome, Worlds};
use serde::{Deserialize, Serialize};

use crate::agents::cast::Cast;
use crate::{Error, Result};

/// Who is rewarded for a step, and when a trajectory is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Credit {
    /// The paper's: equal shares for all agents whose states were visited in the episode. An agent that no longer acts gets its
    /// share added to the reward of its last action, so its trajectory is complete only when the episode is over.
    Shared,
    /// All of it to the agent that acts; its trajectory ends where another takes over. Nothing waits for the end of the
    /// episode. Rewards must be shaped, or only the last agent would ever earn any.
    HandOver,
}

/// The rules of the game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameConfig {
    /// Who is rewarded.
    pub credit: Credit,
    /// Whether γ Φ(u′) − Φ(u) is added to every reward.
    pub shaping: bool,
    /// The γ of the shaping: that of the training.
    pub gamma: f32,
}

impl GameConfig {
    /// Refuses rules by which this cast, with so many numbers of memory an agent, cannot play in these worlds.
    pub(crate) fn check<W: Worlds>(&self, worlds: &W, cast: &Cast, memory: usize) -> Result<()> {
        let many = cast.parts().len() > 1;
        if many && self.credit == Credit::HandOver && !self.shaping {
            return Err(Error::Setting {
                name: "credit",
                value: "hand-over".to_owned(),
                problem: "rewards must be shaped, or only the last agent would earn any",
            });
        }
        if many && memory > 0 {
            return Err(Error::Setting {
                name: "memory",
                value: memory.to_string(),
                problem: "only a method with one agent can have one",
            });
        }
        let states = cast.machine().machine().state_ids();
        let mut waited_for = states.flat_map(|state| cast.machine().progress_atoms(state).iter());
        if cast.parts().iter().any(|part| part.sight.has_plane())
            && waited_for.any(|atom| worlds.cell_of(0, atom).is_none())
        {
            return Err(Error::Setting {
                name: "progress",
                value: "plane".to_owned(),
                problem: "the environment cannot say where all atoms of a `forall` are",
            });
        }
        Ok(())
    }
}

/// How actions are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// With their probabilities.
    Sample,
    /// Always the most probable one.
    Greedy,
    /// All equally likely, whatever the policies say: the baseline that nothing was learnt for.
    Uniform,
}

/// An episode that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Its world.
    pub world: usize,
    /// Its number in that world.
    pub number: u64,
    /// What was done.
    pub actions: Vec<u8>,
    /// Where the world says it stands.
    pub outcome: Outcome,
    /// The machine's state before the last step: the one whose policy acted last.
    pub state: StateId,
    /// All rewards, shaping included.
    pub earned: f64,
    /// What was observed, if the machine disagreed: a counterexample. The episode was cut off there.
    pub counterexample: Option<Trace>,
}

impl Episode {
    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.actions.len()
    }

    /// Whether the task was completed: the unshaped return is 1 then and 0 otherwise.
    pub fn is_success(&self) -> bool {
        self.outcome == Outcome::Goal
    }
}
