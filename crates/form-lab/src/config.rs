//! What a run is, completely: two runs with the same configuration are the same, to the bit, whatever the threads.
//!
//! A configuration starts from a [`Preset`] and a [`Method`] and is changed key by key; in a run's folder it is `config.toml`.

mod sense;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use form_env::{Actions, Starts, View, WorldOptions};
use form_rl::{ActivationStyle, Credit, Initial, NetworkStyle, PpoConfig, Progress, Roles};
use serde::{Deserialize, Serialize};

use crate::arena::is_file;
use crate::atomic::read_text;
use crate::transfer::Retrain;

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
    pub fn roles(self) -> Roles {
        match self {
            Self::Form | Self::Handcrafted | Self::Propositional => Roles::PerState,
            Self::SinglePolicy => Roles::Single,
            Self::Ppo | Self::RecurrentPpo => Roles::Unaided,
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

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// The task: the name of a built-in one, or a file.
    pub task: String,
    /// How it is learnt.
    pub method: Method,
    /// What the rest started from.
    pub preset: Preset,
    /// All randomness comes from it, the maps too.
    pub seed: u64,
    /// The most iterations.
    pub iterations: u64,
    /// How many maps are played in turn; 0: a new one every episode.
    pub layouts: usize,
    /// How many worlds are played at once.
    pub worlds: usize,
    /// How they are shown.
    pub view: ViewName,
    /// Which actions there are.
    pub actions: ActionsName,
    /// Where episodes start.
    pub starts: StartsName,
    /// How progress towards a `forall` is shown.
    pub progress: Progress,
    /// Who is rewarded.
    pub credit: Credit,
    /// Whether rewards are shaped by the distance to acceptance.
    pub shaping: bool,
    /// An agent with fewer samples than this waits for more before it learns.
    pub least_samples: usize,
    /// The machine that is given, as text, if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// How success is measured. A file of version 0.1 has no such section.
    #[serde(default)]
    pub evaluation: EvaluationConfig,
    /// When to stop.
    pub stop: StopConfig,
    /// The learning of machines.
    pub learning: LearningConfig,
    /// The training of policies.
    pub ppo: PpoConfig,
    /// Their networks.
    pub network: NetworkStyle,
    /// Whose policies it begins with, if not with fresh ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<TransferConfig>,
}

/// Whose policies a run begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferConfig {
    /// The task that they were trained in.
    pub from: String,
    /// Their checkpoint. A run keeps a copy of it beside its configuration.
    pub checkpoint: String,
    /// Which of them are trained further.
    pub retrain: Retrain,
}

/// How the success of a run is measured: on fixed episodes, the same for the whole run, with actions drawn as in training, each played
/// to its end. The first evaluation is made before anything is learnt; the last one, on other episodes, when the run is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationConfig {
    /// How many episodes an evaluation has.
    pub episodes: usize,
    /// How many the last one has, whose success is that of the run. No decision was based on them.
    pub final_episodes: usize,
    /// How many steps evaluations may take for each step of training, all of them together but the last. An evaluation is made as
    /// soon as that allows it.
    pub share: f64,
}

impl Default for EvaluationConfig {
    fn default() -> Self {
        Self {
            episodes: 50,
            final_episodes: 200,
            share: 0.5,
        }
    }
}

/// When a run stops before its last iteration. All of it is decided by evaluations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopConfig {
    /// The success rate at which a run has converged: of evaluations, and then of fresh episodes. Above 1: never.
    pub success: f64,
    /// How many fresh episodes that is confirmed on.
    pub episodes: usize,
    /// For how many evaluations in a row.
    pub patience: u64,
    /// Appendix C: once the success rate has crossed this, ...
    pub crossing: f64,
    /// ... the run ends when it falls by more than this share of its best value, of fresh episodes, too. 0: it does not.
    pub fall: f64,
}

/// The learning of machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningConfig {
    /// Random steps in every world an iteration, while nothing is known.
    pub explore: usize,
    /// How many counterexamples of an iteration are kept, the shortest of every kind.
    pub keep: usize,
    /// The most states.
    pub max_states: usize,
    /// The most edges between two states.
    pub max_disjuncts: usize,
    /// Whether a run may come back to a state.
    pub cyclic: bool,
    /// Seconds after which learning one machine is given up.
    pub time_limit: u64,
}

impl RunConfig {
    /// The configuration of a preset for a method.
    pub fn new(task: &str, method: Method, preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::paper(task, method),
            Preset::Fast => Self::fast(task, method),
        }
    }

    fn paper(task: &str, method: Method) -> Self {
        let per_state = method.roles() == Roles::PerState;
        Self {
            task: task.to_owned(),
            method,
            preset: Preset::Paper,
            seed: 1,
            iterations: 300,
            layouts: 10,
            worlds: 64,
            view: ViewName::Symbols,
            actions: ActionsName::All,
            starts: StartsName::Anywhere,
            progress: Progress::Bits,
            credit: Credit::Shared,
            shaping: method.roles() != Roles::Unaided,
            least_samples: 1024,
            machine: None,
            evaluation: EvaluationConfig::default(),
            stop: StopConfig {
                success: 2.0,
                episodes: 100,
                patience: 1,
                crossing: 0.7,
                fall: 0.1,
            },
            learning: LearningConfig {
                time_limit: 3600,
                ..LearningConfig::of(method)
            },
            ppo: match per_state {
                true => PpoConfig::default(),
                false => PpoConfig::single_policy(),
            },
            network: NetworkStyle {
                normalise: true,
                memory: memory(method),
                ..NetworkStyle::default()
            },
            transfer: None,
        }
    }

    fn fast(task: &str, method: Method) -> Self {
        let unaided = method.roles() == Roles::Unaided;
        let ppo = PpoConfig {
            gamma: 0.98,
            learning_rate: 1e-3,
            train_batch: 16_384,
            minibatch: 512,
            epochs: 3,
            clip: 0.2,
            value_clip: 10.0,
            gradient_clip: 0.5,
            kl_coefficient: 0.0,
            ..PpoConfig::default()
        };
        Self {
            preset: Preset::Fast,
            iterations: 2000,
            worlds: if unaided { 64 } else { 128 },
            view: ViewName::Planes,
            actions: ActionsName::Moves,
            progress: Progress::Plane,
            credit: Credit::HandOver,
            least_samples: 512,
            stop: StopConfig {
                success: 0.99,
                episodes: 500,
                patience: 3,
                crossing: 1.0,
                fall: 0.0,
            },
            learning: LearningConfig::of(method),
            // Without a machine the reward is one at the end, hundreds of steps away: returns without bootstrapping, over many steps.
            ppo: match unaided {
                true => PpoConfig {
                    gamma: 0.998,
                    lambda: 1.0,
                    train_batch: 65_536,
                    minibatch: 256,
                    epochs: 4,
                    ..ppo
                },
                false => ppo,
            },
            network: NetworkStyle {
                activation: ActivationStyle::Relu,
                initial: Initial::Orthogonal,
                memory: if method == Method::RecurrentPpo {
                    64
                } else {
                    0
                },
                sequence: if method == Method::RecurrentPpo { 64 } else { 32 },
                ..NetworkStyle::default()
            },
            ..Self::paper(task, method)
        }
    }

    /// Sets one value, by its name in the file: `ppo.gamma`, `0.99`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let mut table = toml::Table::try_from(&*self)?;
        // What is no TOML value is text.
        let parsed = format!("value = {value}").parse::<toml::Table>();
        let parsed = match parsed {
            Ok(mut parsed) => parsed.remove("value"),
            Err(_) => None,
        };
        let value = parsed.unwrap_or_else(|| toml::Value::String(value.to_owned()));
        let mut place = &mut table;
        let (path, name) = key.rsplit_once('.').unwrap_or(("", key));
        for part in path.split('.').filter(|part| !part.is_empty()) {
            place = match place.get_mut(part) {
                Some(toml::Value::Table(inner)) => inner,
                _ => bail!(
                    "there is no section `{part}`: the sections are evaluation, stop, learning, ppo and network"
                ),
            };
        }
        if !place.contains_key(name) && key != "machine" {
            let known: Vec<&str> = place.keys().map(String::as_str).collect();
            bail!(
                "there is no setting `{key}`; there are: {}",
                known.join(", ")
            );
        }
        let value = match (place.get(name), value) {
            // 1 is a fine way to write 1.0.
            (Some(toml::Value::Float(_)), toml::Value::Integer(value)) => {
                toml::Value::Float(value as f64)
            }
            (_, value) => value,
        };
        place.insert(name.to_owned(), value);
        let changed = toml::Value::Table(table).try_into::<Self>();
        *self = changed.map_err(|error| anyhow::anyhow!("{key}: {}", error.message()))?;
        Ok(())
    }

    /// Steps of every world in an iteration.
    pub fn steps(&self) -> usize {
        self.ppo.train_batch / self.worlds.max(1)
    }

    /// As a file.
    pub fn to_toml(&self) -> Result<String> {
        Ok(toml::to_string_pretty(self)?)
    }

    /// Reads a file.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self> {
        let config: Self = toml::from_str(text).with_context(|| format!("{}", path.display()))?;
        config
            .check()
            .with_context(|| format!("{}", path.display()))?;
        Ok(config)
    }

    /// Reads a file from the disk. Task files and checkpoints that it names are found beside it.
    pub fn open(path: &Path) -> Result<Self> {
        let mut config = Self::from_toml(&read_text(path)?, path)?;
        let beside = |name: &str| {
            let found = path.parent().unwrap_or(Path::new("")).join(name);
            (found.to_str().map(str::to_owned))
                .with_context(|| format!("{}: not a path of letters", found.display()))
        };
        if is_file(&config.task) {
            config.task = beside(&config.task)?;
        }
        if let Some(transfer) = &mut config.transfer {
            transfer.checkpoint = beside(&transfer.checkpoint)?;
        }
        Ok(config)
    }

    /// The settings in which two configurations differ: the name, and the value in this one and in the other.
    pub fn differences(&self, other: &Self) -> Result<Vec<(String, String, String)>> {
        let (mut mine, mut others) = (BTreeMap::new(), BTreeMap::new());
        flatten("", &self.to_toml()?.parse()?, &mut mine);
        flatten("", &other.to_toml()?.parse()?, &mut others);
        let names: BTreeSet<&String> = mine.keys().chain(others.keys()).collect();
        let value = |of: &BTreeMap<String, String>, name: &String| {
            of.get(name).map_or("nothing", String::as_str).to_owned()
        };
        Ok((names.into_iter())
            .filter(|name| mine.get(*name) != others.get(*name))
            .map(|name| (name.clone(), value(&mine, name), value(&others, name)))
            .collect())
    }

    /// All settings and their values, by name.
    pub fn settings(&self) -> Result<Vec<(String, String)>> {
        let mut settings = BTreeMap::new();
        flatten("", &self.to_toml()?.parse()?, &mut settings);
        Ok(settings.into_iter().collect())
    }

    /// How worlds are shown and started.
    pub fn world_options(&self) -> WorldOptions {
        WorldOptions {
            view: match self.view {
                ViewName::Symbols => View::Symbols,
                ViewName::Identities => View::Identities,
                ViewName::Planes => View::Planes,
            },
            actions: match self.actions {
                ActionsName::All => Actions::All,
                ActionsName::Moves => Actions::Moves,
            },
            starts: match self.starts {
                StartsName::Anywhere => Starts::Anywhere,
                StartsName::OfTheMap => Starts::OfTheMap,
            },
        }
    }
}

/// The values of a table by their full names.
fn flatten(prefix: &str, table: &toml::Table, into: &mut BTreeMap<String, String>) {
    for (name, value) in table {
        match value {
            toml::Value::Table(inner) => flatten(&format!("{prefix}{name}."), inner, into),
            value => drop(into.insert(format!("{prefix}{name}"), value.to_string())),
        }
    }
}

fn memory(method: Method) -> usize {
    match method {
        Method::RecurrentPpo => 256,
        _ => 0,
    }
}

impl LearningConfig {
    /// Without quantifiers a choice among objects takes several edges: propositional machines may have two between two states, as
    /// in the paper.
    fn of(method: Method) -> Self {
        Self {
            max_disjuncts: match method {
                Method::Propositional => 2,
                _ => 1,
            },
            ..Self::default()
        }
    }
}

impl Default for LearningConfig {
    fn default() -> Self {
        Self {
            explore: 1024,
            keep: 60,
            max_states: 10,
            max_disjuncts: 1,
            cyclic: false,
            time_limit: 600,
        }
    }
}
