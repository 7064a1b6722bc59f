//! What a run is, completely: two runs with the same configuration are the same, to the bit, whatever the threads.
//!
//! A configuration starts from a [`Preset`] and a [`Method`] and is changed key by key; in a run's folder it is `config.toml`.

mod choices;
mod presets;
mod sections;
mod validate;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use form_env::{Actions, Starts, View, WorldOptions};
use form_rl::{Architecture, Credit, PpoConfig, ProgressEncoding};
use serde::{Deserialize, Serialize};

pub use self::choices::{ActionsName, Method, Preset, StartsName, ViewName};
pub use self::sections::{EvaluationConfig, LearningConfig, Retrain, StopConfig, TransferConfig};

use crate::atomic_files::read_text;

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
    pub progress: ProgressEncoding,
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
    pub network: Architecture,
    /// Whose policies it begins with, if not with fresh ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<TransferConfig>,
}

impl RunConfig {
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
        if is_task_file(&config.task) {
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

/// Whether a task is named by a file, which ends in `.toml`, rather than by the name of a built-in one.
pub(crate) fn is_task_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "toml")
}
