//! The configuration of a run, which determines it: two runs with the same configuration agree bit by bit, for any number of
//! threads.
//!
//! A configuration starts from a [`Preset`] and a [`Method`], and single keys override it. In a run's folder it is `config.toml`.

mod choices;
mod presets;
mod sections;
mod tolerate;
mod validate;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use form_env::{Actions, Starts, View, WorldOptions};
use form_rl::{Architecture, Credit, EndPotential, PpoConfig, ProgressEncoding};
use serde::{Deserialize, Serialize};

pub use self::choices::{ActionsName, ExplorationChoice, Method, Preset, StartsName, ViewName};
pub use self::sections::{
    EvaluationConfig, ExplorationConfig, LearningConfig, Retrain, StopConfig, TransferConfig,
};

use crate::atomic_files::read_text;

/// The configuration of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// The task: the name of a built-in one, or a file that ends in `.toml`.
    pub task: String,
    /// The method.
    pub method: Method,
    /// The preset that the other values started from.
    pub preset: Preset,
    /// The seed of all randomness, including the maps.
    pub seed: u64,
    /// The maximum number of iterations.
    pub iterations: u64,
    /// How many maps are played in turn; 0 for a new map in every episode.
    pub layouts: usize,
    /// How many worlds run in parallel.
    pub worlds: usize,
    /// How worlds are observed.
    pub view: ViewName,
    /// The action set.
    pub actions: ActionsName,
    /// Where episodes start.
    pub starts: StartsName,
    /// How progress towards a `forall` is encoded.
    pub progress: ProgressEncoding,
    /// Which agents are rewarded.
    pub credit: Credit,
    /// Whether rewards are shaped by the distance to acceptance (potential-based shaping).
    pub shaping: bool,
    /// The discount of the shaping, if it is not that of the training. With 1 only a change of the machine's state is rewarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaping_discount: Option<f32>,
    /// The potential of shaping where an episode terminates.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shaping_end: EndPotential,
    /// The minimum number of samples per update; an agent with fewer waits for more.
    pub least_samples: usize,
    /// For experiments: in every training step each true atom is missed with this probability, and with the same probability a
    /// wrong one is observed. Evaluations have the true labels.
    #[serde(default, skip_serializing_if = "is_default")]
    pub label_noise: f64,
    /// A given machine, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The evaluations. Files of version 0.1 lack this section.
    #[serde(default)]
    pub evaluation: EvaluationConfig,
    /// When a run stops early.
    pub stop: StopConfig,
    /// The machine learner.
    pub learning: LearningConfig,
    /// Exploration, for the method `reach-avoid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploration: Option<ExplorationConfig>,
    /// PPO.
    pub ppo: PpoConfig,
    /// The networks of the policies.
    pub network: Architecture,
    /// The policies that it starts from, unless they are fresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<TransferConfig>,
}

impl RunConfig {
    /// Sets one value by its key in the file, such as `ppo.gamma` to `0.99`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let mut table = toml::Table::try_from(&*self)?;
        // Text needs no quotes.
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
                    "unknown section `{part}`: the sections are evaluation, stop, learning, ppo and network, with the method reach-avoid also exploration"
                ),
            };
        }
        if !place.contains_key(name) && !OPTIONAL.contains(&key) {
            let unset = (OPTIONAL.iter()).filter_map(|key| match key.rsplit_once('.') {
                Some((section, name)) => (section == path).then_some(name),
                None => path.is_empty().then_some(*key),
            });
            let known: BTreeSet<&str> = place.keys().map(String::as_str).chain(unset).collect();
            let known: Vec<&str> = known.into_iter().collect();
            bail!(
                "unknown setting `{key}`; known settings: {}",
                known.join(", ")
            );
        }
        let value = match (place.get(name), value) {
            // 1 may stand for 1.0.
            (Some(toml::Value::Float(_)), toml::Value::Integer(value)) => {
                toml::Value::Float(value as f64)
            }
            (_, value) => value,
        };
        place.insert(name.to_owned(), value);
        let changed = toml::Value::Table(table).try_into::<Self>();
        *self = changed.map_err(|error| anyhow::anyhow!("{key}: {}", in_words(error.message())))?;
        Ok(())
    }

    /// The steps per world and iteration.
    pub fn steps(&self) -> usize {
        self.ppo.train_batch / self.worlds.max(1)
    }

    /// The text of `config.toml`.
    pub fn to_toml(&self) -> Result<String> {
        Ok(toml::to_string_pretty(self)?)
    }

    /// Parses the text of a `config.toml`; errors name `path`.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self> {
        let config: Self = toml::from_str(text)
            .map_err(|error| anyhow::anyhow!(in_words(&error.to_string())))
            .with_context(|| format!("{}", path.display()))?;
        config
            .check()
            .with_context(|| format!("{}", path.display()))?;
        Ok(config)
    }

    /// Reads a `config.toml`. Task files and checkpoints that it names are relative to its folder.
    pub fn open(path: &Path) -> Result<Self> {
        let mut config = Self::from_toml(&read_text(path)?, path)?;
        let beside = |name: &str| {
            let found = path.parent().unwrap_or(Path::new("")).join(name);
            (found.to_str().map(str::to_owned))
                .with_context(|| format!("{}: the path is not UTF-8", found.display()))
        };
        if is_task_file(&config.task) {
            config.task = beside(&config.task)?;
        }
        if let Some(transfer) = &mut config.transfer {
            transfer.checkpoint = beside(&transfer.checkpoint)?;
        }
        Ok(config)
    }

    /// The settings that differ between two configurations: the key, the value here and the value in `other`.
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

    /// All settings by key, with their values.
    pub fn settings(&self) -> Result<Vec<(String, String)>> {
        let mut settings = BTreeMap::new();
        flatten("", &self.to_toml()?.parse()?, &mut settings);
        Ok(settings.into_iter().collect())
    }

    /// The options of its worlds.
    pub fn world_options(&self) -> WorldOptions {
        WorldOptions {
            view: match self.view {
                ViewName::Symbols => View::Symbols,
                ViewName::Identities => View::Identities,
                ViewName::Planes => View::Planes,
                ViewName::Egocentric => View::Egocentric,
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

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Settings that a file need not have.
const OPTIONAL: [&str; 8] = [
    "machine",
    "shaping_discount",
    "shaping_end",
    "label_noise",
    "learning.tolerate",
    "learning.once",
    "learning.counts",
    "learning.joins",
];

/// What serde expected, without the names of Rust's types.
fn in_words(message: &str) -> String {
    [
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected f64", "expected a number"),
        ("expected f32", "expected a number"),
        ("expected a sequence", "expected a list"),
    ]
    .iter()
    .fold(message.to_owned(), |message, (rust, words)| {
        message.replace(rust, words)
    })
}

/// Collects the values of a table by their full keys.
fn flatten(prefix: &str, table: &toml::Table, into: &mut BTreeMap<String, String>) {
    for (name, value) in table {
        match value {
            toml::Value::Table(inner) => flatten(&format!("{prefix}{name}."), inner, into),
            value => drop(into.insert(format!("{prefix}{name}"), value.to_string())),
        }
    }
}

/// Whether a task is named by a file, which ends in `.toml`, rather than by the name of a built-in one.
pub(crate) fn is_task_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "toml")
}
