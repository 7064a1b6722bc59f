//! The enumerations of a configuration: methods, presets, views, actions and starts.

use form_rl::AssignmentMode;
use serde::{Deserialize, Serialize};

/// How a task is learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One policy a state of a first-order machine that is learnt on the way.
    Form,
    /// One policy a state of a machine that is given: the task's own, unless another is named.
    Handcrafted,
    /// One policy a state of a propositional machine that is learnt on the way.
    Propositional,
    /// One policy that knows of no machine.
    Ppo,
    /// The same with memory.
    RecurrentPpo,
    /// One policy for all states of a first-order machine that is learnt on the way.
    SinglePolicy,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Form,
        Self::Handcrafted,
        Self::Propositional,
        Self::Ppo,
        Self::RecurrentPpo,
        Self::SinglePolicy,
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Form => "form",
            Self::Handcrafted => "handcrafted",
            Self::Propositional => "propositional",
            Self::Ppo => "ppo",
            Self::RecurrentPpo => "recurrent-ppo",
            Self::SinglePolicy => "single-policy",
        }
    }

    /// How the work is shared out among agents.
    pub fn assignment_mode(self) -> AssignmentMode {
        match self {
            Self::Form | Self::Handcrafted | Self::Propositional => AssignmentMode::PerState,
            Self::SinglePolicy => AssignmentMode::Single,
            Self::Ppo | Self::RecurrentPpo => AssignmentMode::Unaided,
        }
    }

    /// Whether the machine is learnt on the way.
    pub fn learns_machine(self) -> bool {
        matches!(self, Self::Form | Self::Propositional | Self::SinglePolicy)
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a configuration starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Tables 1 and 2 of the paper: numbers instead of planes, seven actions, indicators, shared rewards, twenty epochs.
    Paper,
    /// What learns fast: planes, the three actions that move, progress as a plane, trajectories closed at the hand-over.
    #[default]
    Fast,
}

impl Preset {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Fast => "fast",
        }
    }
}

/// How worlds are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViewName {
    /// Object, colour and state of every cell, as numbers.
    Symbols,
    /// The same with the checkpoints' identities as their state.
    Identities,
    /// A plane of zeros and ones for every kind of thing.
    Planes,
}

impl ViewName {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Symbols => "symbols",
            Self::Identities => "identities",
            Self::Planes => "planes",
        }
    }
}

/// Which actions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionsName {
    /// MiniGrid's seven.
    All,
    /// The three that move.
    Moves,
}

/// Where episodes start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartsName {
    /// Anywhere that the task can be completed from.
    Anywhere,
    /// Where the map says.
    OfTheMap,
}
