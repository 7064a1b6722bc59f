//! The configuration of the game: credit assignment, reward shaping, how actions are chosen; and the record of an episode.

use form_core::{StateId, Trace};
use form_env::{EpisodeOutcome, Worlds};
use serde::{Deserialize, Serialize};

use crate::agents::agent_assignment::AgentAssignment;
use crate::{Error, Result};

/// Credit assignment: which agents receive the reward of a step, and when a trajectory is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Credit {
    /// The paper's: equal shares for all agents that have acted in the episode. The share of an agent that no longer acts is added
    /// to the reward of its last action, so its trajectory is complete only when the episode is over.
    Shared,
    /// The whole reward for the agent that acts; its trajectory ends where another agent takes over. Rewards must be shaped, or
    /// only the last agent would receive any.
    HandOver,
}

/// Φ, the potential of shaping, where an episode terminates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndPotential {
    /// Zero, whatever the end (Ng, Harada, Russell 1999): with the discount of the training, shaping keeps the optimal policies.
    #[default]
    Zero,
    /// By the distance to acceptance, as the paper's text has it: 1 in the accepting state. A dead end has no such distance; there, Φ is
    /// that of the state before, so that dead ends are neither rewarded nor punished. Not policy-invariant: a sub-task is rewarded also
    /// where a dead end follows it.
    Distance,
}

/// The configuration of the game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameConfig {
    /// Which agents receive the reward of a step.
    pub credit: Credit,
    /// Whether γ Φ(u′) − Φ(u) is added to every reward: potential-based shaping (Ng, Harada, Russell 1999).
    pub shaping: bool,
    /// The γ of the shaping. Only with the discount of the training, and [`EndPotential::Zero`], does shaping keep the optimal policies.
    pub gamma: f32,
    /// The potential where an episode terminates.
    pub end: EndPotential,
}

impl GameConfig {
    /// Rejects a configuration that does not fit these worlds and agents, whose hidden states have this size.
    pub(crate) fn check<W: Worlds>(
        &self,
        worlds: &W,
        assignment: &AgentAssignment,
        hidden_size: usize,
    ) -> Result<()> {
        let many = assignment.roles().len() > 1;
        if many && self.credit == Credit::HandOver && !self.shaping {
            return Err(Error::Setting {
                name: "credit",
                value: "hand-over".to_owned(),
                problem: "rewards must be shaped, or only the last agent would receive any",
            });
        }
        if many && hidden_size > 0 {
            return Err(Error::Setting {
                name: "memory",
                value: hidden_size.to_string(),
                problem: "only a method with one agent can have a recurrent layer",
            });
        }
        let machine = assignment.bound_machine();
        let own = worlds.own_signature(0);
        let mut awaited = (assignment.machine().state_ids())
            .flat_map(|state| machine.progress_atoms(state).iter())
            .filter(|atom| own.is_none_or(|own| own.contains(*atom)));
        if assignment
            .roles()
            .iter()
            .any(|role| role.encoder.has_plane())
            && awaited.any(|atom| worlds.cell_of(0, atom).is_none())
        {
            return Err(Error::Setting {
                name: "progress",
                value: "plane".to_owned(),
                problem: "the environment does not know the cells of all atoms of a `forall`",
            });
        }
        Ok(())
    }
}

/// How actions are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// Sampled from the policy.
    Sample,
    /// The most probable action.
    Greedy,
    /// Uniformly at random: the random baseline.
    Uniform,
}

/// The record of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Its world.
    pub world: usize,
    /// Its number in that world.
    pub number: u64,
    /// The actions taken.
    pub actions: Vec<u8>,
    /// The outcome that the world reports.
    pub outcome: EpisodeOutcome,
    /// The machine's state before the last step: the one whose policy acted last.
    pub state: StateId,
    /// The sum of all rewards, shaping included.
    pub total_reward: f64,
    /// What was observed, where it was recorded.
    pub trace: Option<Trace>,
    /// The trace, if the machine disagreed with the world: a counterexample. The episode was truncated there, unless machines
    /// [begin anew](crate::WrongLabels::restart).
    pub counterexample: Option<Trace>,
}

impl Episode {
    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.actions.len()
    }

    /// Whether the task was completed: the unshaped return is 1 then and 0 otherwise.
    pub fn is_success(&self) -> bool {
        self.outcome == EpisodeOutcome::Goal
    }
}
