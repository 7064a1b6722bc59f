//! Unknown tasks learnt with a given policy: the steps until the final machine, and the success then. Not in the paper.
//!
//! The policy is told where objects are and never trained; the machine is learnt by exploring from object to object. Three ways to
//! choose the next object are compared.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use form_core::Machine;
use form_env::{Split, Task, TaskDescription};
use form_lab::{
    EvaluationPlan, GridEnvFactory, Method, Preset, RunConfig, Trainer, difference_from_truth,
    world_for, write_atomically,
};
use form_rl::Choice;
use serde::{Deserialize, Serialize};

use crate::raw_data::{TABLES, make_missing, read_lines, seeds_of};
use crate::statistics::{interquartile_mean, median};
use crate::zero_shot::random_machines;

/// The ways to choose the next object, as settings.
const CHOICES: [&str; 3] = ["disagreement", "counts", "uniform"];
/// Tasks of the paper.
const PAPER: [&str; 3] = ["all-yellow", "green-but-one", "blue-all-yellow-7"];
/// Seven sub-tasks in a row.
const SEVEN: &str = "exists X. blue(X); forall X. yellow(X); purple(o7); exists X. red(X); grey(o8); forall X. green(X); goal";
/// The number of random tasks.
const RANDOM: usize = 20;
/// A run that has taken this many steps is over.
pub(crate) const MOST_STEPS: u64 = 200_000;
/// Episodes per evaluation.
pub(crate) const EPISODES: usize = 200;
const RAW: &str = "runs.jsonl";

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnknownTaskRun {
    /// The task.
    pub task: String,
    /// The states of its machine that are neither accepting nor rejecting.
    pub states: usize,
    /// How the next object was chosen.
    pub choice: String,
    /// The seed.
    pub seed: u64,
    /// Whether it stopped by itself, within the limit of steps.
    pub converged: bool,
    /// Steps until the last machine.
    pub steps_to_final_machine: Option<u64>,
    /// Steps in all.
    pub steps: u64,
    /// Machines learnt.
    pub machines: u64,
    /// Whether the last machine does the same as the task's own, one atom at a time.
    pub equivalent: bool,
    /// Success on the maps that were explored.
    pub training: f64,
    /// Success on maps that were held out.
    pub held_out: f64,
    /// That of random play there.
    pub random: Option<f64>,
    /// Steps of successful episodes ÷ those of shortest solutions there.
    pub ratio: Option<f64>,
    /// Seconds, on one thread.
    pub seconds: f64,
}

/// The experiment.
#[derive(Debug)]
pub struct UnknownTasks {
    /// The number of seeds, from 1; random tasks have one.
    pub seeds: u64,
    /// Stops the work when it is set.
    pub interrupt: Arc<AtomicBool>,
}

/// One run to make.
struct Planned {
    task: Arc<Task>,
    choice: &'static str,
    seed: u64,
}

impl Planned {
    fn is(&self, run: &UnknownTaskRun) -> bool {
        run.task == self.task.name() && run.choice == self.choice && run.seed == self.seed
    }
}

impl UnknownTasks {
    /// Makes all runs that the folder does not have, keeps each there, and writes the tables when all are made. Returns the runs, and whether they are all.
    pub fn carry_out(
        &self,
        folder: &Path,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<(Vec<UnknownTaskRun>, bool)> {
        let all = plan(self.seeds)?;
        let make = |planned: &Planned| {
            let Planned { task, choice, seed } = planned;
            let run = explore(task, choice, *seed, &self.interrupt);
            let run =
                run.with_context(|| format!("{}, seed {}", planned.task.name(), planned.seed))?;
            if let Some(run) = &run {
                say(&format!(
                    "{}, {}, seed {}: {} steps, held out {:.1} %, {:.1} s",
                    run.task,
                    run.choice,
                    run.seed,
                    run.steps,
                    100.0 * run.held_out,
                    run.seconds
                ));
            }
            Ok(run)
        };
        let runs = make_missing(&folder.join(RAW), &all, Planned::is, make)?;
        let complete = !self.interrupt.load(Ordering::Relaxed);
        if complete {
            let text = unknown_tasks_tables(&runs, self.seeds);
            write_atomically(&folder.join(TABLES), text.as_bytes())?;
        }
        Ok((runs, complete))
    }
}

/// One run, with the next object chosen so; nothing if it was interrupted.
pub(crate) fn explore(
    task: &Arc<Task>,
    choice: &str,
    seed: u64,
    interrupt: &Arc<AtomicBool>,
) -> Result<Option<UnknownTaskRun>> {
    let mut config = RunConfig::new(task.name(), Method::ReachAvoid, Preset::Fast);
    config.seed = seed;
    config.set("exploration.choice", choice)?;
    let start = Instant::now();
    let envs = GridEnvFactory::of(task.clone(), &config);
    let mut trainer = Trainer::new(config, envs, interrupt.clone())?;
    while trainer.state().stop_cause.is_none() && trainer.state().steps < MOST_STEPS {
        if trainer.iterate()?.is_none() {
            return Ok(None);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let mut evaluate = |split| {
        trainer.evaluate(&EvaluationPlan {
            split,
            episodes: EPISODES,
            choice: Choice::Sample,
            seed,
        })
    };
    let (training, held_out) = (evaluate(Split::Training)?, evaluate(Split::HeldOut)?);
    let state = trainer.state();
    Ok(Some(UnknownTaskRun {
        task: task.name().to_owned(),
        states: task.truth().machine().inner_states(),
        choice: choice.to_owned(),
        seed,
        converged: state
            .stop_cause
            .as_ref()
            .is_some_and(|cause| cause.as_str() == "converged"),
        steps_to_final_machine: state.steps_to_final_machine,
        steps: state.steps,
        machines: state.relearnings,
        equivalent: is_equivalent(trainer.machine(), task)?,
        training: training.success,
        held_out: held_out.success,
        random: held_out.random,
        ratio: held_out.ratio,
        seconds,
    }))
}

/// Success in 99 % of the episodes, on the maps that were explored and on others.
fn is_solved(run: &UnknownTaskRun) -> bool {
    run.training.min(run.held_out) >= 0.99
}

fn is_random(task: &str) -> bool {
    task.starts_with("random_")
}

/// Whether a machine cannot be told from that of the task by what a room shows. A machine of another signature is an error.
pub(crate) fn is_equivalent(machine: &Machine, task: &Task) -> Result<bool> {
    machine.bind(task.signature())?;
    Ok(difference_from_truth(task, machine).is_some_and(|trace| trace.is_empty()))
}

/// All runs: ten seeds or as many as are asked for of the paper's tasks and of seven sub-tasks, one of every random task.
fn plan(seeds: u64) -> Result<Vec<Planned>> {
    let mut tasks = Vec::new();
    for name in PAPER {
        tasks.push((Arc::new(Task::builtin(name)?), seeds));
    }
    let machine = Machine::from_line(SEVEN)?.renamed("seven")?;
    tasks.push((named("seven-sub-tasks", &world_for(&machine)?)?, seeds));
    let machines = random_machines()?;
    let fitting = (machines.iter()).filter(|machine| (3..=6).contains(&machine.inner_states()));
    for machine in fitting.take(RANDOM) {
        tasks.push((named(machine.name(), &world_for(machine)?)?, 1));
    }
    let mut plan = Vec::new();
    for choice in CHOICES {
        for (task, seeds) in &tasks {
            plan.extend((1..=*seeds).map(|seed| Planned {
                task: task.clone(),
                choice,
                seed,
            }));
        }
    }
    Ok(plan)
}

/// The task with another name.
fn named(name: &str, task: &Task) -> Result<Arc<Task>> {
    let description = TaskDescription {
        name: name.to_owned(),
        ..task.description().clone()
    };
    Ok(Arc::new(Task::new(description)?))
}

/// The tables made again from the raw data of a folder; `command` is what made it.
pub(crate) fn remake_tables(folder: &Path, command: &str) -> Result<String> {
    let runs: Vec<UnknownTaskRun> = read_lines(&folder.join(RAW))?;
    Ok(unknown_tasks_tables(&runs, seeds_of(command)?))
}

/// The tables of all runs.
pub fn unknown_tasks_tables(runs: &[UnknownTaskRun], seeds: u64) -> String {
    let mut text = format!(
        "# Unknown tasks\n\nMade by `form reproduce unknown-tasks --seeds {seeds}`, ten training maps, policy given, at most {MOST_STEPS} steps per run.\n\n\
         | task | choice | runs | converged | machine of the task | steps until the final machine | machines | success, training maps | held out | worst | random | steps ÷ shortest | seconds |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
    );
    let tasks = [PAPER.as_slice(), &["seven-sub-tasks"]].concat();
    for task in tasks {
        for choice in CHOICES {
            let of = |run: &&UnknownTaskRun| run.task == task && run.choice == choice;
            text += &row(task, choice, &runs.iter().filter(of).collect::<Vec<_>>());
        }
    }
    let random = |choice: &str| -> Vec<&UnknownTaskRun> {
        let of = |run: &&UnknownTaskRun| is_random(&run.task) && run.choice == choice;
        runs.iter().filter(of).collect()
    };
    for choice in CHOICES {
        text += &row("20 random tasks of 3 to 6 states", choice, &random(choice));
    }
    let solved = CHOICES.map(|choice| {
        let runs = random(choice);
        let solved = runs.iter().filter(|run| is_solved(run)).count();
        format!("{solved} of {} with {choice}", runs.len())
    });
    text += &format!(
        "\nSteps and machines are medians, with the largest in brackets; success, random play and ratios are interquartile means over runs \
         of {EPISODES} episodes each; *worst* is the lowest success on held-out maps. Random tasks that are solved, with success in 99 % of the episodes \
         on training maps and on held-out maps: {}.\n",
        solved.join(", ")
    );
    text
}

fn row(task: &str, choice: &str, runs: &[&UnknownTaskRun]) -> String {
    let count = |what: &dyn Fn(&&&UnknownTaskRun) -> bool| runs.iter().filter(what).count();
    let numbers = |value: &dyn Fn(&UnknownTaskRun) -> Option<f64>| -> Vec<f64> {
        runs.iter().filter_map(|run| value(run)).collect()
    };
    let middle = |values: Vec<f64>| interquartile_mean(&values);
    let percent = |value: Option<f64>| {
        value.map_or_else(|| "–".to_owned(), |value| format!("{:.1} %", 100.0 * value))
    };
    let steps = numbers(&|run| run.steps_to_final_machine.map(|steps| steps as f64));
    let machines = numbers(&|run| Some(run.machines as f64));
    let seconds = numbers(&|run| Some(run.seconds));
    let worst = numbers(&|run| Some(run.held_out))
        .into_iter()
        .reduce(f64::min);
    let ratio = middle(numbers(&|run| run.ratio));
    format!(
        "| {task} | {choice} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
        runs.len(),
        count(&|run| run.converged),
        count(&|run| run.equivalent),
        median_and_largest(steps, 0),
        median_and_largest(machines, 0),
        percent(middle(numbers(&|run| Some(run.training)))),
        percent(middle(numbers(&|run| Some(run.held_out)))),
        percent(worst),
        percent(middle(numbers(&|run| run.random))),
        ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}")),
        median_and_largest(seconds, 1),
    )
}

pub(crate) fn median_and_largest(values: Vec<f64>, digits: usize) -> String {
    let middle = median(&values);
    match (middle, values.into_iter().reduce(f64::max)) {
        (Some(middle), Some(largest)) => format!("{middle:.digits$} [{largest:.digits$}]"),
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_kept_run_is_missing() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/unknown-tasks");
        let runs: Vec<UnknownTaskRun> = read_lines(&folder.join(RAW)).unwrap();
        let seeds = runs.iter().map(|run| run.seed).max().unwrap();
        assert_eq!(runs.len(), plan(seeds).unwrap().len());
    }
}
