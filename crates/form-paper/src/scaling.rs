//! How the cost of an unknown task grows with the states of its machine, with the objects, and with the size of the map: reach-avoid,
//! the machine learnt by exploring. Not in the paper.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use form_core::Machine;
use form_env::{Colour, Room, Task, TaskDescription};
use form_lab::write_atomically;
use serde::{Deserialize, Serialize};

use crate::curves::{Axis, Curve, Figure, Panel, Scale};
use crate::growth::SUB_TASKS;
use crate::raw_data::{TABLES, make_missing, read_lines, seeds_of};
use crate::unknown_tasks::{EPISODES, MOST_STEPS, UnknownTaskRun, explore, median_and_largest};
use crate::zero_shot::open_room;

/// The sub-tasks before the goal, checkpoints of each colour, and the side of the room, where the others vary.
const STATES: usize = 4;
const OBJECTS: usize = 2;
const SIDE: usize = 13;
/// What varies, with its values.
const SIZES: [(&str, &[usize]); 3] = [
    ("states", &[2, 3, 4, 5, 6, 7]),
    ("checkpoints of each colour", &[2, 3, 4, 5, 6]),
    ("side of the room", &[9, 13, 17, 21, 25]),
];
const CHOICE: &str = "disagreement";
const RAW: &str = "runs.jsonl";
pub(crate) const PICTURE: &str = "scaling.svg";

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizedRun {
    /// What varies.
    pub axis: String,
    /// Its value.
    pub size: usize,
    /// The run.
    pub run: UnknownTaskRun,
}

/// The experiment.
#[derive(Debug)]
pub struct Scaling {
    /// The number of seeds, from 1.
    pub seeds: u64,
    /// Stops the work when it is set.
    pub interrupt: Arc<AtomicBool>,
}

struct Planned {
    axis: &'static str,
    size: usize,
    seed: u64,
}

impl Planned {
    fn is(&self, made: &SizedRun) -> bool {
        (self.axis, self.size, self.seed) == (&*made.axis, made.size, made.run.seed)
    }

    fn task(&self) -> Result<Task> {
        let value = |axis: usize, usual: usize| match SIZES[axis].0 == self.axis {
            true => self.size,
            false => usual,
        };
        let (states, objects, side) = (value(0, STATES), value(1, OBJECTS), value(2, SIDE));
        let sub_tasks = SUB_TASKS[..states - 1].iter().map(|text| {
            // The names of objects go on from colour to colour.
            match *text {
                "purple(o7)" => format!("purple(o{})", 4 * objects - 1),
                "grey(o9)" => format!("grey(o{})", 5 * objects - 1),
                other => other.to_owned(),
            }
        });
        let line: Vec<String> = sub_tasks.chain(["goal".to_owned()]).collect();
        let room: Room = open_room(side)?;
        Ok(Task::new(TaskDescription {
            name: format!("{states}-states-{objects}-objects-{side}"),
            about: String::new(),
            room,
            checkpoints: BTreeMap::from(Colour::ALL.map(|colour| (colour, objects.into()))),
            keys: BTreeSet::new(),
            doors: BTreeSet::new(),
            lava: 0,
            steps: 3000,
            machine: Machine::from_line(&line.join("; "))?.renamed("chain")?,
        })?)
    }
}

impl Scaling {
    /// Makes all runs that the folder does not have, keeps each there, and writes tables and picture when all are made. Returns the runs, and whether they are all.
    pub fn carry_out(
        &self,
        folder: &Path,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<(Vec<SizedRun>, bool)> {
        let make = |planned: &Planned| {
            let task = Arc::new(planned.task()?);
            let run = explore(&task, CHOICE, planned.seed, &self.interrupt);
            let run = run.with_context(|| format!("{}, seed {}", task.name(), planned.seed))?;
            Ok(run.map(|run| {
                say(&format!(
                    "{}, seed {}: {} steps, {:.1} s",
                    run.task, run.seed, run.steps, run.seconds
                ));
                SizedRun {
                    axis: planned.axis.to_owned(),
                    size: planned.size,
                    run,
                }
            }))
        };
        let runs = make_missing(&folder.join(RAW), &plan(self.seeds), Planned::is, make)?;
        let complete = !self.interrupt.load(Ordering::Relaxed);
        if complete {
            let text = scaling_tables(&runs, self.seeds);
            write_atomically(&folder.join(TABLES), text.as_bytes())?;
            write_atomically(&folder.join(PICTURE), picture(&runs)?.as_bytes())?;
        }
        Ok((runs, complete))
    }
}

fn plan(seeds: u64) -> Vec<Planned> {
    let mut plan = Vec::new();
    for (axis, sizes) in SIZES {
        for size in sizes {
            plan.extend((1..=seeds).map(|seed| Planned {
                axis,
                size: *size,
                seed,
            }));
        }
    }
    plan
}

/// The tables made again from the raw data of a folder; `command` is what made it.
pub(crate) fn remake_tables(folder: &Path, command: &str) -> Result<String> {
    Ok(scaling_tables(
        &read_lines(&folder.join(RAW))?,
        seeds_of(command)?,
    ))
}

/// The tables of all runs.
pub fn scaling_tables(runs: &[SizedRun], seeds: u64) -> String {
    let mut text = format!(
        "# How cost grows\n\nMade by `form reproduce scaling --seeds {seeds}`. The method `reach-avoid`, policy given, the machine learnt by exploring; at most {MOST_STEPS} steps per run. Where it does not vary, the \
         task has {STATES} states (sub-tasks in a row, the last one the goal), {OBJECTS} checkpoints of each of six colours, and an open room of side {SIDE}. Medians, the largest in brackets; success is the \
         lowest of the runs, on {EPISODES} episodes on held-out maps each; *random* is that of random play there, the mean of the runs.\n"
    );
    for (axis, sizes) in SIZES {
        let _ = write!(
            text,
            "\n| {axis} | runs | task's machine | steps until the final machine | steps in all | seconds | success, worst run | random |\n|---|---|---|---|---|---|---|---|\n"
        );
        for size in sizes {
            let runs: Vec<&UnknownTaskRun> = (runs.iter())
                .filter(|one| (&*one.axis, one.size) == (axis, *size))
                .map(|one| &one.run)
                .collect();
            let numbers = |value: &dyn Fn(&UnknownTaskRun) -> Option<f64>| -> Vec<f64> {
                runs.iter().filter_map(|run| value(run)).collect()
            };
            let percent = |value: Option<f64>| {
                value.map_or_else(|| "–".to_owned(), |value| format!("{:.1} %", 100.0 * value))
            };
            let _ = writeln!(
                text,
                "| {size} | {} | {} | {} | {} | {} | {} | {} |",
                runs.len(),
                runs.iter().filter(|run| run.equivalent).count(),
                median_and_largest(
                    numbers(&|run| run.steps_to_final_machine.map(|steps| steps as f64)),
                    0
                ),
                median_and_largest(numbers(&|run| Some(run.steps as f64)), 0),
                median_and_largest(numbers(&|run| Some(run.seconds)), 1),
                percent(
                    numbers(&|run| Some(run.held_out))
                        .into_iter()
                        .reduce(f64::min)
                ),
                percent(form_lab::mean(&numbers(&|run| run.random))),
            );
        }
    }
    text + &format!("\n![steps until the final machine]({PICTURE})\n")
}

/// The picture made again from the raw data of a folder.
pub(crate) fn remake_picture(folder: &Path, _command: &str) -> Result<String> {
    picture(&read_lines::<SizedRun>(&folder.join(RAW))?)
}

/// Steps until the final machine over each axis: the mean of the seeds, and a band from the lowest to the highest.
fn picture(runs: &[SizedRun]) -> Result<String> {
    let mut panels = Vec::new();
    for (axis, _) in SIZES {
        let mut by_seed: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        for one in runs.iter().filter(|one| one.axis == axis) {
            if let Some(steps) = one.run.steps_to_final_machine {
                let points = by_seed.entry(one.run.seed).or_default();
                points.push((one.size as f64, steps as f64));
            }
        }
        panels.push(Panel {
            title: axis.to_owned(),
            x: Axis {
                label: axis.to_owned(),
                scale: Scale::Number,
            },
            y: Axis {
                label: "steps until the final machine".to_owned(),
                scale: Scale::Number,
            },
            curves: vec![Curve {
                method: "reach-avoid".to_owned(),
                runs: by_seed.into_values().collect(),
            }],
        });
    }
    Figure { panels }.to_svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_kept_run_is_missing() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/scaling");
        let runs: Vec<SizedRun> = read_lines(&folder.join(RAW)).unwrap();
        let seeds = runs.iter().map(|one| one.run.seed).max().unwrap();
        assert_eq!(runs.len(), plan(seeds).len());
    }
}
