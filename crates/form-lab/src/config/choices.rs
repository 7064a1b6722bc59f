//! The enumerations of a configuration: methods, presets, views, actions and starts.

use form_rl::AssignmentMode;
use serde::{Deserialize, Serialize};

/// The method: which machine is used, and how many policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One policy per state of a first-order machine, which is learnt while training.
    Form,
    /// One policy per state of a given machine: the task's own, unless another one is named.
    Handcrafted,
    /// One policy per state of a propositional machine, which is learnt while training.
    Propositional,
    /// One policy, without a machine.
    Ppo,
    /// One recurrent policy (LSTM), without a machine.
    RecurrentPpo,
    /// One policy for all states of a first-order machine, which is learnt while training.
    SinglePolicy,
    /// One policy for every task, trained beforehand; the first-order machine is learnt by exploring from object to object.
    ReachAvoid,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 7] = [
        Self::Form,
        Self::Handcrafted,
        Self::Propositional,
        Self::Ppo,
        Self::RecurrentPpo,
        Self::SinglePolicy,
        Self::ReachAvoid,
    ];

    /// The name in configurations and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Form => "form",
            Self::Handcrafted => "handcrafted",
            Self::Propositional => "propositional",
            Self::Ppo => "ppo",
            Self::RecurrentPpo => "recurrent-ppo",
            Self::SinglePolicy => "single-policy",
            Self::ReachAvoid => "reach-avoid",
        }
    }

    /// Which agent acts in which machine state.
    pub fn assignment_mode(self) -> AssignmentMode {
        match self {
            Self::Form | Self::Handcrafted | Self::Propositional => AssignmentMode::PerState,
            Self::SinglePolicy => AssignmentMode::Single,
            Self::ReachAvoid => AssignmentMode::ReachAvoid,
            Self::Ppo | Self::RecurrentPpo => AssignmentMode::Unaided,
        }
    }

    /// Whether the machine is learnt while training.
    pub fn learns_machine(self) -> bool {
        matches!(
            self,
            Self::Form | Self::Propositional | Self::SinglePolicy | Self::ReachAvoid
        )
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The values that a configuration starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Tables 1 and 2 of the paper: indicators, shared rewards, 20 epochs.
    Paper,
    /// Faster learning: binary planes, three actions, progress as a plane, trajectories that end at the hand-over.
    #[default]
    Fast,
}

impl Preset {
    /// The name in configurations and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Fast => "fast",
        }
    }
}

/// How worlds are observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViewName {
    /// Object, colour and state of every cell as numbers.
    Symbols,
    /// As `symbols`, with the number of a checkpoint as its state.
    Identities,
    /// One binary plane per kind of object.
    Planes,
    /// The same planes, turned and shifted so that the agent is in the middle and looks up.
    Egocentric,
}

impl ViewName {
    /// The name in configurations and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Symbols => "symbols",
            Self::Identities => "identities",
            Self::Planes => "planes",
            Self::Egocentric => "egocentric",
        }
    }
}

/// The action set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionsName {
    /// The seven actions of MiniGrid.
    All,
    /// Turn left, turn right, forward.
    Moves,
}

/// Where episodes start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartsName {
    /// Any cell from which the task can be completed.
    Anywhere,
    /// The start of the map.
    OfTheMap,
}

/// How the next object is chosen while a task is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExplorationChoice {
    /// Any object, with equal probability.
    Uniform,
    /// The object that was visited least often in the same situation.
    Counts,
    /// Walks on which machines disagree that agree with all traces; where there are none, as `counts`.
    Disagreement,
}
