//! Machines carried out at once by one policy that was never trained on them: the paper's tasks, random machines, other rooms. Not in the
//! paper.
//!
//! The planner is told in which cells the atoms are; per-state policies of the other experiments are not.

mod machines;
mod rooms;
mod table;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use form_env::{Split, Task, paper_tasks};
use form_lab::{Evaluation, PlayCallback, ReachAvoidPlan, world_for, write_atomically};
use form_rl::{Choice, ReachAvoidPolicy};
use serde::{Deserialize, Serialize};

use crate::raw_data::{TABLES, read_lines, write_lines};

pub use machines::{draw_machines, random_machines};
pub(crate) use rooms::open_room;
pub use table::zero_shot_tables;

/// The file of all evaluations in the folder of results, one per line.
const RAW: &str = "evaluations.jsonl";

/// The seed of maps, starts and actions.
const SEED: u64 = 0;

/// What a machine is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZeroShotGroup {
    /// A task of the paper.
    Paper,
    /// A random machine in the paper's room.
    Random,
    /// Another room.
    Rooms,
}

/// One machine carried out by one policy, with or without shield.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ZeroShotRow {
    /// What the machine is of.
    pub group: ZeroShotGroup,
    /// The name of the task or of the machine.
    pub name: String,
    /// The number of states that are neither accepting nor rejecting.
    pub states: usize,
    /// The policy: its seed, and a checksum of its weights.
    pub policy: String,
    /// Whether the policy had a shield.
    pub shield: bool,
    /// What came of it.
    pub evaluation: Evaluation,
}

/// How the experiment is carried out.
#[derive(Debug)]
pub struct ZeroShot<'a> {
    /// The policies.
    pub policies: Vec<ReachAvoidPolicy>,
    /// Maps per machine.
    pub maps: usize,
    /// The command, to name in the tables.
    pub command: String,
    /// Stops the work when it is set.
    pub interrupt: &'a AtomicBool,
}

impl ZeroShot<'_> {
    /// Carries out all machines, keeps every evaluation in the folder, and writes the tables. Evaluations that the folder has are not
    /// repeated. Returns the rows and whether they are complete.
    pub fn carry_out(&self, folder: &Path, say: &dyn Fn(&str)) -> Result<(Vec<ZeroShotRow>, bool)> {
        let mut kept: BTreeMap<Key, ZeroShotRow> = read_lines::<ZeroShotRow>(&folder.join(RAW))?
            .into_iter()
            .filter(|row| row.evaluation.episodes == self.maps as u64)
            .map(|row| (key(&row), row))
            .collect();
        let mut rows = Vec::new();
        let mut complete = true;
        for (group, name, task) in tasks()? {
            let found = self.carry_out_one(group, &name, task, &mut kept)?;
            let Some(found) = found else {
                complete = false;
                break;
            };
            let worst = found
                .iter()
                .map(|row| row.evaluation.success)
                .fold(1.0, f64::min);
            say(&format!("{name}: at least {:.1} %", 100.0 * worst));
            rows.extend(found);
            write_lines(&folder.join(RAW), rows.iter().chain(kept.values()))?;
        }
        if complete {
            write_lines(&folder.join(RAW), rows.iter())?;
            let text = zero_shot_tables(&rows, &self.command);
            write_atomically(&folder.join(TABLES), text.as_bytes())?;
        }
        Ok((rows, complete))
    }

    /// One machine with all policies; nothing if it was interrupted.
    fn carry_out_one(
        &self,
        group: ZeroShotGroup,
        name: &str,
        task: Task,
        kept: &mut BTreeMap<Key, ZeroShotRow>,
    ) -> Result<Option<Vec<ZeroShotRow>>> {
        let callback = PlayCallback::none().interrupted_by(self.interrupt);
        let states = task.truth().machine().inner_states();
        let plan = ReachAvoidPlan {
            machine: Arc::new(task.truth().clone()),
            task: Arc::new(task),
            split: Split::HeldOut,
            episodes: self.maps,
            choice: Choice::Sample,
            seed: SEED,
        };
        let mut prepared = None;
        let mut rows = Vec::new();
        for policy in &self.policies {
            let described = describe(policy)?;
            let known = [false, true]
                .map(|shield| kept.remove(&(group, name.to_owned(), described.clone(), shield)));
            if let [Some(without), Some(with)] = known {
                rows.extend([without, with]);
                continue;
            }
            if prepared.is_none() {
                prepared = plan.clone().prepare(callback)?;
            }
            let Some(runs) = &prepared else {
                return Ok(None);
            };
            let Some(found) = runs.evaluate_both(policy, callback)? else {
                return Ok(None);
            };
            for (evaluation, shield) in found.into_iter().zip([false, true]) {
                rows.push(ZeroShotRow {
                    group,
                    name: name.to_owned(),
                    states,
                    policy: described.clone(),
                    shield,
                    evaluation,
                });
            }
        }
        Ok(Some(rows))
    }
}

/// What tells rows apart.
type Key = (ZeroShotGroup, String, String, bool);

fn key(row: &ZeroShotRow) -> Key {
    (row.group, row.name.clone(), row.policy.clone(), row.shield)
}

/// All machines with their worlds.
fn tasks() -> Result<Vec<(ZeroShotGroup, String, Task)>> {
    let paper = (paper_tasks().into_iter())
        .map(|task| (ZeroShotGroup::Paper, task.name().to_owned(), task));
    let mut tasks: Vec<(ZeroShotGroup, String, Task)> = paper.collect();
    for machine in random_machines()? {
        let task = world_for(&machine)?;
        tasks.push((ZeroShotGroup::Random, machine.name().to_owned(), task));
    }
    let rooms = (rooms::tasks()?.into_iter())
        .map(|task| (ZeroShotGroup::Rooms, task.name().to_owned(), task));
    tasks.extend(rooms);
    Ok(tasks)
}

/// A policy by its seed and a checksum of its weights.
fn describe(policy: &ReachAvoidPolicy) -> Result<String> {
    // FNV-1a.
    let hash = (policy.to_bytes()?.iter()).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Ok(format!("seed {} ({hash:016x})", policy.origin().seed))
}

/// The tables made again from the raw data of a folder; `command` is what made it.
pub(crate) fn remake_tables(folder: &Path, command: &str) -> Result<String> {
    let rows: Vec<ZeroShotRow> = read_lines(&folder.join(RAW))?;
    Ok(zero_shot_tables(&rows, command))
}
