//! Table 3 of the paper, the learner alone: seconds from a set of traces to the smallest machine, proven, first-order and propositional.
//!
//! The traces come from random walks, or from finished runs of the joint loop: then they are what its learner had for the last machine. The
//! same traces go to clingo with the problem encoded directly, if the program is installed. Learning is on one thread.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use form_core::{Machine, Signature, Trace, TraceFile};
use form_env::{RandomWalks, Task};
use form_lab::write_atomically;
use form_learn::asp::learn_with_clingo;
use form_learn::{LearnOutcome, Learner, Limits, Options};
use serde::{Deserialize, Serialize};

use crate::processor_time::thread_seconds;
use crate::raw_data::{TABLES, make_missing, read_lines, seeds_of};
use crate::statistics::median_and_range;
use crate::unknown_tasks::is_equivalent;

/// The tasks with the paper's seconds, first-order and propositional.
const TASKS: [(&str, [&str; 2]); 3] = [
    ("all-yellow", ["1.0 s", "16.3 s"]),
    ("green-but-one", ["0.5 s", "0.6 s"]),
    ("blue-all-yellow-7", ["12.8 s", "more than an hour"]),
];
const SOURCES: [&str; 2] = ["walks", "joint loop"];
const MACHINES: [&str; 2] = ["first-order", "propositional"];
const BUILT_IN: &str = "form";
const CLINGO: &str = "clingo";
/// Traces of each kind from walks.
const EACH: usize = 20;
/// Seconds for one machine.
const LIMIT: u64 = 600;
/// Sets of traces of a kind of the last task that clingo gets: it takes minutes for one, or does not end within the limit.
const CLINGO_SEEDS: usize = 3;
const RAW: &str = "machines.jsonl";

/// One set of traces and one learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedMachine {
    /// The task.
    pub task: String,
    /// Where the traces come from.
    pub source: String,
    /// First-order or propositional.
    pub machine: String,
    /// The built-in learner or clingo.
    pub solver: String,
    /// The seed of the traces.
    pub seed: u64,
    /// The number of traces.
    pub traces: usize,
    /// Seconds of the learner.
    pub seconds: f64,
    /// The same of the processor, which other work on the computer does not change; none where the system does not tell.
    pub processor_seconds: Option<f64>,
    /// Whether the machine was found and proven smallest within the limit.
    pub proven: bool,
    /// Its states, terminal ones not counted; none if there is no machine.
    pub states: Option<usize>,
    /// Whether it does the same as the task's own, one atom at a time.
    pub equivalent: bool,
}

/// The experiment.
#[derive(Debug)]
pub struct Table3 {
    /// The number of seeds of walks, from 1.
    pub seeds: u64,
    /// The folder of runs that have kept their traces: `all-yellow/form-6/traces.jsonl`.
    pub runs: PathBuf,
    /// Stops the work when it is set.
    pub interrupt: Arc<AtomicBool>,
    /// Held while clingo runs.
    pub clingo: Mutex<()>,
}

/// Seconds of some work, elapsed and of the processor.
fn timed<T>(
    processor: impl Fn() -> Option<f64>,
    work: impl FnOnce() -> T,
) -> (T, f64, Option<f64>) {
    let (start, before) = (Instant::now(), processor());
    let done = work();
    let used = processor()
        .zip(before)
        .map(|(after, before)| after - before);
    (done, start.elapsed().as_secs_f64(), used)
}

/// Processor seconds of programs that were started here and have ended, where the system tells them (Linux, in hundredths).
fn of_programs() -> Option<f64> {
    let statistics = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may have spaces.
    let fields: Vec<&str> = statistics.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

struct Planned {
    task: &'static str,
    source: &'static str,
    machine: &'static str,
    solver: &'static str,
    seed: u64,
}

impl Planned {
    fn is(&self, made: &TimedMachine) -> bool {
        let own = [self.task, self.source, self.machine, self.solver];
        own == [&*made.task, &*made.source, &*made.machine, &*made.solver] && self.seed == made.seed
    }

    /// The traces of its run of the joint loop.
    fn path(&self, runs: &Path) -> PathBuf {
        let method = match self.machine == MACHINES[0] {
            true => "form",
            false => "propositional",
        };
        let run = format!("{method}-{}", self.seed);
        runs.join(self.task).join(run).join("traces.jsonl")
    }

    fn options(&self) -> Options {
        let first_order = self.machine == MACHINES[0];
        Options {
            first_order,
            // As in the paper, a choice among objects takes two edges without quantifiers.
            max_disjuncts: if first_order { 1 } else { 2 },
            ..Options::default()
        }
    }
}

impl Table3 {
    /// Makes what the folder does not have, keeps it there, and writes the table when all is made. Returns it, and whether it is all.
    pub fn carry_out(
        &self,
        folder: &Path,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<(Vec<TimedMachine>, bool)> {
        let all = plan(self.seeds, &self.runs, has_clingo());
        let make = |planned: &Planned| {
            let made = self.make(planned);
            let made = made.with_context(|| format!("{}, seed {}", planned.task, planned.seed))?;
            if let Some(made) = &made {
                say(&format!(
                    "{}, {}, {}, {}, seed {}: {:.3} s",
                    made.task, made.source, made.machine, made.solver, made.seed, made.seconds
                ));
            }
            Ok(made)
        };
        let made = make_missing(&folder.join(RAW), &all, Planned::is, make)?;
        let complete = !self.interrupt.load(Ordering::Relaxed);
        if complete {
            let text = table_3(&made, self.seeds);
            write_atomically(&folder.join(TABLES), text.as_bytes())?;
        }
        Ok((made, complete))
    }

    fn make(&self, planned: &Planned) -> Result<Option<TimedMachine>> {
        let task = Arc::new(Task::builtin(planned.task)?);
        let (signature, traces) = match planned.source == SOURCES[0] {
            true => (task.signature().clone(), walks(&task, planned.seed)?),
            false => kept(&planned.path(&self.runs))?,
        };
        let limits = Limits {
            time: Some(Duration::from_secs(LIMIT)),
            interrupt: Some(self.interrupt.clone()),
            ..Limits::default()
        };
        let options = planned.options();
        let (outcome, seconds, processor_seconds) = match planned.solver == CLINGO {
            true => {
                // One after the other: the system tells the processor time of all programs together.
                let _alone = self.clingo.lock();
                timed(of_programs, || {
                    let program = Path::new(CLINGO);
                    learn_with_clingo(&signature, &traces, &options, &limits, program)
                })
            }
            false => timed(thread_seconds, || {
                let mut learner = Learner::new(&signature, &options);
                for trace in &traces {
                    learner.add(trace);
                }
                learner.learn(&limits)
            }),
        };
        let outcome = outcome?;
        if self.interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let machine = outcome.learnt().map(|learnt| &learnt.machine);
        let equivalent = machine.map(|machine| is_equivalent(machine, &task));
        Ok(Some(TimedMachine {
            task: planned.task.to_owned(),
            source: planned.source.to_owned(),
            machine: planned.machine.to_owned(),
            solver: planned.solver.to_owned(),
            seed: planned.seed,
            traces: traces.len(),
            seconds,
            processor_seconds,
            proven: matches!(outcome, LearnOutcome::Minimal(_)),
            states: machine.map(Machine::inner_states),
            equivalent: equivalent.transpose()?.unwrap_or(false),
        }))
    }
}

/// The traces of a run.
fn kept(path: &Path) -> Result<(Signature, Vec<Trace>)> {
    let signature = TraceFile::open(path)?.signature()?;
    let traces = TraceFile::open(path)?.traces(&signature)?;
    let traces = traces.into_iter().map(|(_, trace)| trace).collect();
    Ok((signature, traces))
}

fn walks(task: &Arc<Task>, seed: u64) -> Result<Vec<Trace>> {
    let walks = RandomWalks {
        each: EACH,
        seed,
        max_episodes: 100_000,
    };
    let recorded = walks.record(task, || false)?;
    Ok(recorded.traces.into_values().flatten().collect())
}

fn has_clingo() -> bool {
    let mut version = Command::new(CLINGO);
    version.arg("--version").stdout(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

/// All sets of traces and learners; of the joint loop, the runs that have kept their traces.
fn plan(seeds: u64, runs: &Path, clingo: bool) -> Vec<Planned> {
    let mut plan = Vec::new();
    for solver in [BUILT_IN, CLINGO].into_iter().take(1 + usize::from(clingo)) {
        for (task, _) in TASKS {
            for (source, machine) in SOURCES.into_iter().flat_map(|s| MACHINES.map(|m| (s, m))) {
                let own = (1..=seeds).map(|seed| Planned {
                    task,
                    source,
                    machine,
                    solver,
                    seed,
                });
                let made = own.filter(|one| source == SOURCES[0] || one.path(runs).is_file());
                plan.extend(made.take(match (solver, task) {
                    (CLINGO, "blue-all-yellow-7") => CLINGO_SEEDS,
                    _ => usize::MAX,
                }));
            }
        }
    }
    plan
}

/// The table made again from the raw data of a folder; `command` is what made it.
pub(crate) fn remake_tables(folder: &Path, command: &str) -> Result<String> {
    Ok(table_3(&read_lines(&folder.join(RAW))?, seeds_of(command)?))
}

/// The table: medians with the range in brackets.
pub fn table_3(made: &[TimedMachine], seeds: u64) -> String {
    let mut text = format!(
        "# Table 3: seconds of the learner\n\nMade by `form reproduce table-3 --runs results/runs --seeds {seeds}`. Median seconds over the seeds, the range in brackets; *walks*: {EACH} traces of random \
         walks of every kind in which an episode can end; *joint loop*: the traces that finished runs had for their last machine, where they are kept. \
         Processor seconds do not depend on what else the computer does, elapsed ones do. *Task's machine* counts the machines that do the same as the task's own. At most {LIMIT} seconds per machine. Propositional machines may have two edges between two states. Each is learnt by one thread. The \
         times of the paper are ILASP's, on its own traces and computer.\n\n\
         | task | machine | the paper | traces from | how many | learner | machines | processor seconds | elapsed | over the limit | task's machine |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
    );
    for (task, paper) in TASKS {
        for (machine, paper) in MACHINES.into_iter().zip(paper) {
            for (source, solver) in
                (SOURCES.into_iter()).flat_map(|source| [BUILT_IN, CLINGO].map(|s| (source, s)))
            {
                let of = |one: &&TimedMachine| {
                    [&*one.task, &*one.machine, &*one.source, &*one.solver]
                        == [task, machine, source, solver]
                };
                let made: Vec<&TimedMachine> = made.iter().filter(of).collect();
                if made.is_empty() {
                    continue;
                }
                let numbers = |value: fn(&TimedMachine) -> f64| -> Vec<f64> {
                    made.iter().map(|one| value(one)).collect()
                };
                let processor: Vec<f64> = (made.iter())
                    .filter_map(|one| one.processor_seconds)
                    .collect();
                let _ = writeln!(
                    text,
                    "| {task} | {machine} | {paper} | {source} | {} | {solver} | {} | {} | {} | {} | {} |",
                    median_and_range(&numbers(|one| one.traces as f64), 0),
                    made.len(),
                    median_and_range(&processor, 4),
                    median_and_range(&numbers(|one| one.seconds), 4),
                    made.iter().filter(|one| !one.proven).count(),
                    made.iter().filter(|one| one.equivalent).count(),
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kept data have every planned machine of the built-in learner.
    #[test]
    fn no_kept_machine_is_missing() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/table-3");
        let made: Vec<TimedMachine> = read_lines(&folder.join(RAW)).unwrap();
        let seeds = made.iter().map(|one| one.seed).max().unwrap();
        let missing = (plan(seeds, &folder.join("../runs"), false).iter())
            .filter(|planned| !made.iter().any(|one| planned.is(one)))
            .count();
        assert_eq!(missing, 0);
    }
}
