//! The joint loop with wrong labels: whether the machine of the task is learnt, and the success then. Not in the paper.
//!
//! In every training step each true atom is missed with a probability, and with the same probability a wrong one is observed. Once with
//! a tolerance, once without: the machine learnt by exploring from object to object, one policy per state trained with that machine, and both
//! learnt together.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use form_env::{Split, Task};
use form_lab::{
    EvaluationPlan, GridEnvFactory, Method, Preset, RunConfig, Trainer, write_atomically,
};
use form_rl::Choice;
use serde::{Deserialize, Serialize};

use crate::raw_data::{TABLES, make_missing, read_lines, seeds_of};
use crate::unknown_tasks::{is_equivalent, median_and_largest};

/// How machine and policies are learnt, with the most steps of a run, and with values of `learning.tolerate`.
const WAYS: [(Way, u64, &[&str]); 3] = [
    (Way::Explore, 400_000, &["auto", "0"]),
    (Way::ExploreThenTrain, 4_000_000, &["auto"]),
    (Way::Together, 1_200_000, &["auto", "0"]),
];
const TASKS: [&str; 2] = ["all-yellow", "green-but-one"];
/// Percent of the steps in which an atom is missed, and in which one is added.
const RATES: [u32; 2] = [1, 2];
/// Maps per run.
const MAPS: usize = 10;
/// Episodes per evaluation.
const EPISODES: usize = 500;
const RAW: &str = "runs.jsonl";

/// How machine and policies are learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The machine by exploring, with the reach-avoid policy.
    Explore,
    /// The same, then one policy per state with that machine.
    ExploreThenTrain,
    /// One policy per state, and the machine from their episodes.
    Together,
}

impl Way {
    fn as_str(self) -> &'static str {
        match self {
            Self::Explore => "reach-avoid",
            Self::ExploreThenTrain => "reach-avoid, then one policy per state",
            Self::Together => "form",
        }
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoisyRun {
    /// How machine and policies were learnt.
    pub way: String,
    /// The task.
    pub task: String,
    /// Percent of the steps in which an atom is missed, and in which one is added.
    pub percent: u32,
    /// The value of `learning.tolerate`.
    pub tolerate: String,
    /// The seed.
    pub seed: u64,
    /// Why the run was over.
    pub stopped: String,
    /// Steps until the last machine.
    pub steps_to_final_machine: Option<u64>,
    /// Steps in all.
    pub steps: u64,
    /// Machines learnt.
    pub machines: u64,
    /// The number of kept traces.
    pub traces: u64,
    /// Whether the last machine does the same as the task's own, one atom at a time.
    pub equivalent: bool,
    /// Success with true labels, on the maps of the training.
    pub success: f64,
    /// The same on maps that were held out.
    pub held_out: f64,
    /// That of random play on the maps of the training.
    pub random: f64,
    /// Seconds, with the other runs beside it.
    pub seconds: f64,
}

/// The experiment.
#[derive(Debug)]
pub struct NoisyRuns {
    /// The number of seeds, from 1.
    pub seeds: u64,
    /// Stops the work when it is set.
    pub interrupt: Arc<AtomicBool>,
}

/// One run to make.
#[derive(Clone, Copy)]
struct Planned {
    way: Way,
    most_steps: u64,
    task: &'static str,
    percent: u32,
    tolerate: &'static str,
    seed: u64,
}

impl Planned {
    fn is(&self, run: &NoisyRun) -> bool {
        (self.task, self.percent, self.tolerate) == (&run.task, run.percent, &run.tolerate)
            && (self.way.as_str(), self.seed) == (&run.way, run.seed)
    }
}

impl NoisyRuns {
    /// Makes all runs that the folder does not have, keeps each there, and writes the table of those that are made. Returns the
    /// runs, and whether they are all.
    pub fn carry_out(
        &self,
        folder: &Path,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<(Vec<NoisyRun>, bool)> {
        let all = plan(self.seeds);
        let make = |planned: &Planned| {
            let run = self.make(planned);
            let run = run.with_context(|| format!("{}, seed {}", planned.task, planned.seed))?;
            if let Some(run) = &run {
                say(&format!(
                    "{}, {}, {} %, tolerate {}, seed {}: {} after {} steps and {:.0} s, machine of the task: {}, success {:.1} %",
                    run.way,
                    run.task,
                    run.percent,
                    run.tolerate,
                    run.seed,
                    run.stopped,
                    run.steps,
                    run.seconds,
                    if run.equivalent { "yes" } else { "no" },
                    100.0 * run.success,
                ));
            }
            Ok(run)
        };
        let runs = make_missing(&folder.join(RAW), &all, Planned::is, make)?;
        let complete = !self.interrupt.load(Ordering::Relaxed);
        // More runs than were asked for now may be kept.
        if let Some(kept) = runs.iter().map(|run| run.seed).max() {
            let text = noisy_runs_table(&runs, self.seeds.max(kept));
            write_atomically(&folder.join(TABLES), text.as_bytes())?;
        }
        Ok((runs, complete))
    }

    /// One run; nothing if it was interrupted.
    fn make(&self, planned: &Planned) -> Result<Option<NoisyRun>> {
        let task = Arc::new(Task::builtin(planned.task)?);
        let start = Instant::now();
        let method = match planned.way {
            Way::Together => Method::Form,
            Way::Explore | Way::ExploreThenTrain => Method::ReachAvoid,
        };
        let Some((mut trainer, mut stopped)) = self.train(planned, &task, method, None)? else {
            return Ok(None);
        };
        let explored = (trainer.state()).steps_to_final_machine;
        let mut steps = trainer.state().steps;
        let machines = trainer.state().relearnings;
        let traces = trainer.state().traces;
        if planned.way == Way::ExploreThenTrain {
            let machine = Some(trainer.machine().to_string());
            let trained = self.train(planned, &task, Method::Handcrafted, machine)?;
            let Some(trained) = trained else {
                return Ok(None);
            };
            (trainer, stopped) = trained;
            steps += trainer.state().steps;
        }
        let seconds = start.elapsed().as_secs_f64();
        let mut success = |split| {
            let plan = EvaluationPlan {
                split,
                episodes: EPISODES,
                choice: Choice::Sample,
                seed: planned.seed,
            };
            trainer.evaluate(&plan).map(|found| found.success)
        };
        let (training, held_out) = (success(Split::Training)?, success(Split::HeldOut)?);
        let random = trainer.random_success()?;
        let state = trainer.state();
        let cause = state.stop_cause.as_ref().map(form_lab::StopCause::as_str);
        Ok(Some(NoisyRun {
            way: planned.way.as_str().to_owned(),
            task: planned.task.to_owned(),
            percent: planned.percent,
            tolerate: planned.tolerate.to_owned(),
            seed: planned.seed,
            stopped: stopped.unwrap_or_else(|| cause.unwrap_or("out of steps").to_owned()),
            steps_to_final_machine: explored,
            steps,
            machines,
            traces,
            equivalent: is_equivalent(trainer.machine(), &task)?,
            success: training,
            held_out,
            random,
            seconds,
        }))
    }

    /// Trains until the run stops or has taken all its steps, with a machine that is learnt or this one; with the mistake that ended it, if
    /// one did. Nothing if it was interrupted.
    fn train(
        &self,
        planned: &Planned,
        task: &Arc<Task>,
        method: Method,
        machine: Option<String>,
    ) -> Result<Option<(Trainer<GridEnvFactory>, Option<String>)>> {
        let mut config = RunConfig::new(planned.task, method, Preset::Fast);
        config.seed = planned.seed;
        config.layouts = MAPS;
        config.label_noise = f64::from(planned.percent) / 100.0;
        config.machine = machine;
        config.set("learning.tolerate", planned.tolerate)?;
        config.set("learning.time_limit", "10")?;
        let envs = GridEnvFactory::of(task.clone(), &config);
        let mut trainer = Trainer::new(config, envs, self.interrupt.clone())?;
        while trainer.state().stop_cause.is_none() && trainer.state().steps < planned.most_steps {
            match trainer.iterate() {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                // Without a tolerance: traces that contradict each other.
                Err(error) => return Ok(Some((trainer, Some(error.to_string())))),
            }
        }
        Ok(Some((trainer, None)))
    }
}

fn plan(seeds: u64) -> Vec<Planned> {
    let mut plan = Vec::new();
    for (way, most_steps, tolerances) in WAYS {
        for tolerate in tolerances {
            for task in TASKS {
                for percent in RATES {
                    plan.extend((1..=seeds).map(|seed| Planned {
                        way,
                        most_steps,
                        task,
                        percent,
                        tolerate,
                        seed,
                    }));
                }
            }
        }
    }
    plan
}

/// The table made again from the raw data of a folder; `command` is what made it.
pub(crate) fn remake_tables(folder: &Path, command: &str) -> Result<String> {
    let runs: Vec<NoisyRun> = read_lines(&folder.join(RAW))?;
    Ok(noisy_runs_table(&runs, seeds_of(command)?))
}

/// The table of all runs.
pub fn noisy_runs_table(runs: &[NoisyRun], seeds: u64) -> String {
    let mut text = format!(
        "# Training with wrong labels\n\nMade by `form reproduce label-noise --seeds {seeds}`: preset fast, {MAPS} maps per run.\n\n\
         | method | task | noise per step | learning.tolerate | runs | machine of the task | success, mean | lowest | held-out maps, mean | random | machines | steps until the last one | steps | seconds |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
    );
    for planned in plan(1) {
        let like = |run: &&NoisyRun| {
            Planned {
                seed: run.seed,
                ..planned
            }
            .is(run)
        };
        let of: Vec<&NoisyRun> = runs.iter().filter(like).collect();
        if of.is_empty() {
            continue;
        }
        let numbers = |value: &dyn Fn(&NoisyRun) -> Option<u64>| -> Vec<f64> {
            let found = of.iter().filter_map(|run| value(run));
            found.map(|value| value as f64).collect()
        };
        let mean = |value: &dyn Fn(&NoisyRun) -> f64| {
            100.0 * of.iter().map(|run| value(run)).sum::<f64>() / of.len().max(1) as f64
        };
        let lowest = of.iter().map(|run| run.success).reduce(f64::min);
        text += &format!(
            "| {} | {} | {} % | {} | {} | {} | {:.1} % | {:.1} % | {:.1} % | {:.1} % | {} | {} | {} | {} |\n",
            planned.way.as_str(),
            planned.task,
            planned.percent,
            planned.tolerate,
            of.len(),
            of.iter().filter(|run| run.equivalent).count(),
            mean(&|run| run.success),
            100.0 * lowest.unwrap_or(0.0),
            mean(&|run| run.held_out),
            mean(&|run| run.random),
            median_and_largest(numbers(&|run| Some(run.machines)), 0),
            median_and_largest(numbers(&|run| run.steps_to_final_machine), 0),
            median_and_largest(numbers(&|run| Some(run.steps)), 0),
            median_and_largest(of.iter().map(|run| run.seconds).collect(), 0),
        );
    }
    text += &format!(
        "\nIn every training step each true atom is missed with the probability of the third column, and with the same probability an atom \
         is added that need not be true. Success is measured with true labels, in {EPISODES} episodes per run on the maps of the training and \
         as many on held-out ones; the best possible is 100 %. Runs are over after {} steps (reach-avoid), {} (one policy per state with the machine that reach-avoid has learnt) \
         and {} (form). Reach-avoid is told where objects stand, and with a tolerance repeats every walk until its observations are agreed on. \
         Machines, steps and seconds are medians, with the largest in brackets. Without a tolerance (0) a run ends where traces contradict \
         each other, or where no machine within the limits is consistent with them. Rows with fewer than {seeds} runs are not complete.\n",
        WAYS[0].1, WAYS[1].1, WAYS[2].1,
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_runs_are_planned() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/label-noise");
        let runs: Vec<NoisyRun> = read_lines(&folder.join(RAW)).unwrap();
        let seeds = runs.iter().map(|run| run.seed).max().unwrap();
        for run in &runs {
            assert!(plan(seeds).iter().any(|planned| planned.is(run)), "{run:?}");
        }
    }
}
