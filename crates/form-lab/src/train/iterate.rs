//! One iteration of the joint loop, as the algorithm: collect, find counterexamples, relearn the machine or update the policies,
//! evaluate, stop?

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use form_core::{Kind, Machine, MachineStatus, Trace};
use form_env::{Worlds, generator};
use form_learn::{LearnOutcome, Limits, StopReason};
use form_rl::{AssignmentMode, Episode, Experience, PpoReport};
use rayon::prelude::*;

use super::relearnt::{RelearnOutcome, RelearntMachine};
use super::timers::{Timers, timed};
use super::{Purpose, Stalled, StopCause, Trainer, agents_for, new_learner, stream};
use crate::env_factory::EnvFactory;
use crate::explore::Exploration;
use crate::game_setup::assignment;
use crate::metrics::{MetricsRow, PoliciesRow, TimingsRow};
use crate::play_callback::PlayCallback;

/// What one iteration brought.
#[derive(Clone, Debug)]
pub struct Iteration {
    /// The row of `metrics.csv`.
    pub metrics: MetricsRow,
    /// The row of `timings.csv`.
    pub timings: TimingsRow,
    /// The rows of `policies.csv`.
    pub policies: Vec<PoliciesRow>,
    /// The machine that was learnt, if one was.
    pub relearnt: Option<RelearntMachine>,
    /// What is known of the reasons, if evaluations have stopped improving.
    pub stalled: Option<Stalled>,
    /// Why this was the last iteration, if it was.
    pub stop_cause: Option<StopCause>,
}

/// What an iteration collected.
struct Rollout {
    episodes: Vec<Episode>,
    /// One batch per agent; none while worlds are explored at random.
    experience: Option<Vec<Experience>>,
    /// Environment steps in all worlds together.
    steps: usize,
}

impl<F: EnvFactory> Trainer<F> {
    /// One iteration; nothing if it was interrupted. An interrupted run must be dropped: its last checkpoint counts.
    pub fn iterate(&mut self) -> Result<Option<Iteration>> {
        let mut timers = Timers::start();
        let number = self.state.iteration + 1;
        let learnt_to_act = self.has_policies();
        let rollout = timed(&mut timers.rollout, || self.collect(number))?;
        if self.exploration.is_some() && self.interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let relearning = timed(&mut timers.learning, || {
            match self.config.learning.tolerance() {
                // Exploration repeats its walks until there is no doubt.
                Some(tolerance) if self.exploration.is_none() => {
                    self.reconsider(tolerance, number, &rollout.episodes)
                }
                _ => self.refuted(&rollout.episodes),
            }
        })?;
        let refuted = relearning.is_some();

        let mut relearnt = None;
        let mut stop_cause = None;
        let mut policies = Vec::new();
        let mut experience = rollout.experience;
        if let Some(relearning) = relearning {
            match relearning {
                RelearnOutcome::NoGoalYet | RelearnOutcome::SameMachine => {}
                RelearnOutcome::Machine(machine) => {
                    // Only the learner, without new agents and episodes.
                    timers.learning = machine.time;
                    relearnt = Some(*machine);
                    // It was collected with a wrong machine: policies learn nothing from it.
                    experience = None;
                }
                RelearnOutcome::Stopped(StopReason::Interrupted) => return Ok(None),
                RelearnOutcome::Stopped(reason) => {
                    let queries = self.exploration.as_mut().map(Exploration::begin_queries);
                    if queries.transpose()? != Some(true) {
                        stop_cause = Some(StopCause::NoMachine(reason));
                    }
                }
            }
        }
        if !refuted && let Some(machine) = self.found_machine()? {
            relearnt = Some(self.follow(machine)?);
        } else if let Some(experience) = experience
            && stop_cause.is_none()
        {
            match timed(&mut timers.update, || self.update(number, experience))? {
                Some(rows) => policies = rows,
                None => return Ok(None),
            }
        }

        // Without open questions, exploration has done what it can: that is worth an evaluation.
        let settled = (self.exploration.as_ref()).is_some_and(|found| !found.has_open_questions());
        let trained = relearnt.is_some() || !policies.is_empty() || settled;
        self.state.exploration = self.exploration.as_ref().map(Exploration::state);
        self.count(number, &rollout.episodes, rollout.steps);
        self.state.evaluations.changed |= trained;
        if learnt_to_act {
            self.state.evaluations.training_steps += rollout.steps as u64;
        }
        if relearnt.is_some() {
            self.state.forget_success();
            self.state.steps_to_final_machine = Some(self.state.steps);
            self.state.machine_since = number;
        }
        let ended = rollout.episodes.len();
        let check = timed(&mut timers.evaluation, || {
            self.evaluate_and_check(rollout.steps, ended)
        });
        let Some(check) = check? else {
            return Ok(None);
        };
        stop_cause = stop_cause.or(check.stop_cause);
        if stop_cause.is_none() && number >= self.config.iterations {
            stop_cause = Some(StopCause::OutOfIterations);
        }
        self.state.stop_cause.clone_from(&stop_cause);
        Ok(Some(Iteration {
            metrics: self.metrics(&rollout.episodes),
            timings: timers.row(number, self.seconds(), rollout.steps),
            policies,
            relearnt,
            stalled: check.stalled,
            stop_cause,
        }))
    }

    /// Evaluates the untrained policies of a new run, as the row of iteration 0; nothing if it was interrupted.
    pub fn first_evaluation(&mut self) -> Result<Option<Iteration>> {
        let start = Instant::now();
        let interrupt = self.interrupt.clone();
        let callback = PlayCallback::none().interrupted_by(&interrupt);
        if self.evaluate_fixed(callback)?.is_none() {
            return Ok(None);
        }
        let seconds = start.elapsed().as_secs_f64();
        Ok(Some(Iteration {
            metrics: self.metrics(&[]),
            timings: TimingsRow {
                iteration: self.state.iteration,
                seconds: self.seconds(),
                evaluation_seconds: seconds,
                ..TimingsRow::default()
            },
            policies: Vec::new(),
            relearnt: None,
            stalled: None,
            stop_cause: None,
        }))
    }

    /// Whether there is anything to act on: a machine that can accept, or a method that uses none.
    pub(super) fn has_policies(&self) -> bool {
        self.config.method.assignment_mode() == AssignmentMode::Unaided
            || self.game.assignment().can_accept()
    }

    /// Collects experience with the policies, or explores at random while no machine that can accept is known.
    fn collect(&mut self, number: u64) -> Result<Rollout> {
        let mut random = generator(self.config.seed, stream(Purpose::Rollout, number));
        if let Some(exploration) = &mut self.exploration {
            let go_on = || !self.interrupt.load(Ordering::Relaxed);
            let walks = exploration.walks(self.state.episodes, &mut random, go_on)?;
            let episodes: Vec<Episode> = walks.into_iter().map(|walked| walked.episode).collect();
            return Ok(Rollout {
                steps: episodes.iter().map(Episode::steps).sum(),
                episodes,
                experience: None,
            });
        }
        let (steps, episodes, experience) = if self.has_policies() {
            let steps = self.config.steps();
            let collected =
                (self.game).collect(&mut self.agents, steps, &self.config.ppo, &mut random)?;
            (steps, collected.episodes, Some(collected.experience))
        } else {
            let steps = self.config.learning.explore;
            let longest = self.longest_walk();
            (steps, self.game.explore(steps, longest, &mut random)?, None)
        };
        Ok(Rollout {
            episodes,
            experience,
            steps: steps * self.config.worlds,
        })
    }

    /// All that was seen since the last machine: the episodes of this iteration, and those that still run. Traces that its machine
    /// judges rightly may refute the next one, which saves it an iteration of its own.
    fn seen(&self, episodes: &[Episode]) -> Vec<Trace> {
        // Exploration keeps all its traces itself.
        if self.exploration.is_some() {
            return Vec::new();
        }
        let ended = episodes.iter().filter_map(|episode| episode.trace.clone());
        ended.chain(self.game.open_traces()).collect()
    }

    /// The shortest of the kept and the other traces that refutes a machine. Where it ends an episode too early, the trace up to there.
    fn refuting(&self, machine: &Machine, seen: &[Trace]) -> Result<Option<Trace>> {
        let machine = machine.bind(self.game.worlds().signature())?;
        let refuting = self.traces().iter().chain(seen).filter_map(|trace| {
            let found = trace.disagreement(&machine)?;
            let early = found.expected == MachineStatus::Running;
            Some((found.after, early, trace))
        });
        let shortest = refuting.min_by_key(|(after, ..)| *after);
        Ok(shortest.map(|(after, early, trace)| match early {
            true => trace.beginning(after),
            false => trace.clone(),
        }))
    }

    /// Relearns the machine, if it has misjudged an episode.
    fn refuted(&mut self, episodes: &[Episode]) -> Result<Option<RelearnOutcome>> {
        let found = self.counterexamples(episodes);
        match found.is_empty() || !self.config.method.learns_machine() {
            true => Ok(None),
            false => {
                let seen = self.seen(episodes);
                self.relearn(found, &seen).map(Some)
            }
        }
    }

    /// The counterexamples of an iteration: the shortest ones of every kind, without duplicates.
    fn counterexamples(&mut self, episodes: &[Episode]) -> Vec<Trace> {
        let mut found: Vec<Trace> = (episodes.iter())
            .filter_map(|episode| episode.counterexample.clone())
            .collect();
        self.state.counterexamples += found.len() as u64;
        found.sort_by_key(|trace| trace.steps().len());
        let mut kept: Vec<Trace> = Vec::new();
        let of = |kept: &[Trace], kind: Kind| kept.iter().filter(|t| t.kind() == kind).count();
        for trace in found {
            let most = self.config.learning.keep.div_ceil(3).max(1);
            if of(&kept, trace.kind()) < most && !kept.contains(&trace) {
                kept.push(trace);
            }
        }
        kept
    }

    /// Learns the smallest machine consistent with all traces, once one of them reaches the goal or a given machine was wrong. Of what
    /// was seen besides, traces are kept as they refute machines.
    fn relearn(&mut self, found: Vec<Trace>, seen: &[Trace]) -> Result<RelearnOutcome> {
        let explores = self.exploration.is_some();
        if explores {
            // All that a run does follows from its traces, also after it was resumed: the learner keeps nothing of earlier calls.
            self.learner = new_learner(self.game.worlds(), &self.config)?;
        }
        let mut new = Vec::new();
        for trace in found {
            if self.learner.add(&trace).is_some() {
                // Exploration keeps all its traces itself.
                if !explores {
                    self.traces.push(trace.clone());
                }
                new.push(trace);
            }
        }
        // A machine that accepts too early hides the goals that would correct it: without a goal, no machine is better.
        let goal_known = self.traces().iter().any(|trace| trace.kind() == Kind::Goal);
        if !goal_known && !self.game.assignment().can_accept() {
            return Ok(RelearnOutcome::NoGoalYet);
        }
        let start = Instant::now();
        let time_limit = Duration::from_secs(self.config.learning.time_limit);
        let (learnt, minimal) = loop {
            let (time, work) = match &self.exploration {
                // What it does must not depend on the clock.
                Some(exploration) => (None, Some(exploration.work_left())),
                None => (Some(time_limit.saturating_sub(start.elapsed())), None),
            };
            let limits = Limits {
                max_states: self.config.learning.max_states,
                time,
                work,
                interrupt: Some(self.interrupt.clone()),
                ..Limits::default()
            };
            let before = self.learner.work();
            let outcome = self.learner.learn(&limits)?;
            if let Some(exploration) = &mut self.exploration {
                exploration.count_work(self.learner.work() - before);
            }
            let found = match outcome {
                LearnOutcome::Minimal(learnt) => (learnt, true),
                LearnOutcome::Stopped {
                    reason: StopReason::Time | StopReason::Memory,
                    best: Some(best),
                    ..
                } if !explores => (best, false),
                LearnOutcome::Stopped { reason, .. } => {
                    return Ok(RelearnOutcome::Stopped(reason));
                }
                LearnOutcome::Contradictory(pairs) => bail!(
                    "the labels of this world do not determine when the task is done: {} pairs of traces have the same observations and end differently; if labels may be wrong, `--set learning.tolerate=auto` lets a machine misjudge some",
                    pairs.len()
                ),
            };
            match self.refuting(&found.0.machine, seen)? {
                Some(trace) if self.learner.add(&trace).is_some() => {
                    if !explores {
                        self.traces.push(trace.clone());
                        new.push(trace);
                    }
                }
                _ => break found,
            }
        };
        let relearnt = RelearntMachine {
            minimal,
            by_queries: false,
            counterexamples: new,
            time: start.elapsed(),
            ..self.follow(learnt.machine)?
        };
        Ok(RelearnOutcome::Machine(Box::new(relearnt)))
    }

    /// The machine that exploration has found by itself, if there is a new one.
    fn found_machine(&self) -> Result<Option<Machine>> {
        match &self.exploration {
            Some(exploration) => exploration.found_machine(),
            None => Ok(None),
        }
    }

    /// Goes on with a new machine, and with the policies whose sub-tasks survive.
    pub(super) fn follow(&mut self, machine: Machine) -> Result<RelearntMachine> {
        let next = assignment(&self.config, self.game.worlds(), &machine)?;
        let actions = self.game.worlds().actions().len();
        let old = (std::mem::take(&mut self.agents), self.game.assignment());
        let (agents, reused) =
            agents_for(&self.config, actions, &next, Some(old), &mut self.state)?;
        self.agents = agents;
        self.game.reassign(next)?;
        if let Some(exploration) = &mut self.exploration {
            let assignment = self.game.assignment();
            exploration.follow((assignment.bound_machine(), assignment.can_accept()));
        }
        self.state.relearnings += 1;
        Ok(RelearntMachine {
            machine,
            minimal: false,
            by_queries: true,
            counterexamples: Vec::new(),
            time: Duration::ZERO,
            reused,
        })
    }

    /// Updates every policy that has enough samples; nothing if it was interrupted.
    fn update(
        &mut self,
        number: u64,
        experience: Vec<Experience>,
    ) -> Result<Option<Vec<PoliciesRow>>> {
        let (config, interrupt) = (&self.config, &*self.interrupt);
        // Side by side: where one has only a little to do, such as a step of Adam, the cores work for another.
        let agents = self.agents.par_iter_mut().zip(experience).enumerate();
        let rows: Vec<Result<Option<PoliciesRow>>> = agents
            .map(|(place, (agent, experience))| {
                if interrupt.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let update = stream(Purpose::Update, number << 12 | place as u64);
                let mut random = generator(config.seed, update);
                let learnt =
                    agent.learn(experience, &config.ppo, config.least_samples, &mut random);
                let learnt =
                    learnt.with_context(|| format!("the policy of state {}", agent.name()))?;
                Ok(learnt
                    .map(|(samples, report)| policies_row(number, agent.name(), samples, &report)))
            })
            .collect();
        let rows: Vec<Option<PoliciesRow>> = rows.into_iter().collect::<Result<_>>()?;
        if interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        Ok(Some(rows.into_iter().flatten().collect()))
    }

    /// Counts an iteration that is complete but for its evaluation.
    fn count(&mut self, number: u64, episodes: &[Episode], steps: usize) {
        self.state.iteration = number;
        self.state.steps += steps as u64;
        self.state.episodes += episodes.len() as u64;
        self.state.traces = self.traces().len() as u64;
    }

    /// The row of the last iteration, in which these training episodes ended.
    pub(super) fn metrics(&self, episodes: &[Episode]) -> MetricsRow {
        let count = episodes.len() as f64;
        let mean = |value: &dyn Fn(&Episode) -> f64| {
            (count > 0.0).then(|| episodes.iter().map(value).sum::<f64>() / count)
        };
        let (machine, state) = (self.machine(), &self.state);
        let mut row = MetricsRow {
            iteration: state.iteration,
            steps: state.steps,
            episodes: episodes.len() as u64,
            ended_success: mean(&|episode| f64::from(u8::from(episode.is_success()))),
            ended_length: mean(&|episode| episode.steps() as f64),
            shaped_return: mean(&|episode| episode.total_reward),
            states: machine.states().len() as u64,
            edges: machine.edges().len() as u64,
            relearnings: state.relearnings,
            counterexamples: state.counterexamples,
            traces: self.traces().len() as u64,
            ..MetricsRow::default()
        };
        row.set_evaluation(state.evaluation_of_this_iteration());
        row
    }
}

fn policies_row(iteration: u64, state: &str, samples: usize, report: &PpoReport) -> PoliciesRow {
    let some = |value: f32| Some(f64::from(value));
    PoliciesRow {
        iteration,
        state: state.to_owned(),
        samples: samples as u64,
        policy_loss: some(report.policy_loss),
        value_loss: some(report.value_loss),
        entropy: some(report.entropy),
        kl: some(report.kl),
        clipped: some(report.clipped),
        gradient: some(report.gradient),
    }
}
