//! The joint loop (Appendix B of the paper): act, find counterexamples, learn the machine anew, go on.
//!
//! From a machine of which nothing is known, agents act, at first at random. Every episode that the machine is wrong about is a
//! counterexample; after an iteration with new ones the smallest machine is learnt from all that were kept. Policies survive
//! wherever their sub-task does, see [`staff`](crate::staff). How good they are is measured meanwhile, see `success`. Nothing here
//! touches a file.

mod success;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use form_core::{Kind, Machine, Trace};
use form_env::{Split, Stream, Worlds, generator};
use form_learn::{LearnOutcome, Learner, Limits, Options, StopReason};
use form_rl::{
    Agent, AgentAssignment, AssignmentMode, Checkpoint, Episode, Game, GameConfig, PpoReport,
    nothing_known,
};

use self::success::Fixed;

use crate::arena::Arena;
use crate::config::{Method, RunConfig};
use crate::metrics::{MetricsRow, PoliciesRow, TimingsRow};
use crate::staff::{Staffing, staff};
use crate::tally::{Ending, Iteration, MAP_ORDER, Notes, Relearnt, Tally};

/// A run in memory.
pub struct Trainer<A: Arena> {
    config: RunConfig,
    arena: A,
    game: Game<A::Worlds>,
    agents: Vec<Agent>,
    learner: Learner,
    traces: Vec<Trace>,
    tally: Tally,
    interrupt: Arc<AtomicBool>,
    since: Instant,
    /// The seconds of earlier parts of the run.
    before: f64,
    /// What is known of the episodes of evaluations, once that was asked for: their starts, and the success of random play.
    fixed: Option<Fixed>,
}

/// What random numbers are for; each purpose has streams of its own.
#[derive(Clone, Copy)]
enum Purpose {
    Rollout = 1,
    Update = 2,
    Hire = 3,
}

fn stream(purpose: Purpose, number: u64) -> Stream {
    Stream::Other((purpose as u64) << 48 | number)
}

impl<A: Arena> Trainer<A> {
    /// A run at its beginning.
    pub fn new(config: RunConfig, arena: A, interrupt: Arc<AtomicBool>) -> Result<Self> {
        config.check()?;
        let worlds = arena.worlds(config.worlds, config.seed, Split::Training)?;
        let machine = first_machine(&config, &arena)?;
        let cast = cast(&config, &worlds, &machine)?;
        let learner = Learner::new(worlds.signature(), &options(&config));
        let mut tally = Tally::default();
        let actions = worlds.actions().len();
        let (agents, _) = hire(&config, actions, &cast, None, &mut tally)?;
        Ok(Self {
            game: game(&config, worlds, cast)?,
            learner,
            arena,
            agents,
            traces: Vec::new(),
            tally,
            interrupt,
            since: Instant::now(),
            before: 0.0,
            fixed: None,
            config,
        })
    }

    /// A run where a checkpoint left it. `traces` are those that were kept until then.
    pub fn resume(
        config: RunConfig,
        arena: A,
        interrupt: Arc<AtomicBool>,
        checkpoint: &Checkpoint,
        traces: Vec<Trace>,
        seconds: f64,
    ) -> Result<Self> {
        let notes = Notes::of(checkpoint)?;
        let mut run = Self::new(config, arena, interrupt)?;
        let cast = cast(&run.config, run.game.worlds(), &checkpoint.machine)?;
        run.agents = checkpoint.agents(&run.config.ppo)?;
        run.game.reassign(cast)?;
        // Worlds of version 0.1 were on other maps: they begin new episodes.
        if notes.map_order == MAP_ORDER {
            checkpoint.restore(&mut run.game)?;
        }
        for trace in &traces {
            run.learner.add(trace);
        }
        run.traces = traces;
        run.tally = notes.tally;
        // It has been given more of them since.
        if run.tally.ending == Some(Ending::OutOfIterations)
            && run.tally.iteration < run.config.iterations
        {
            run.tally.ending = None;
        }
        run.before = seconds;
        Ok(run)
    }

    /// What it was made from.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// Where it takes place.
    pub fn arena(&self) -> &A {
        &self.arena
    }

    /// The machine at present.
    pub fn machine(&self) -> &Machine {
        self.game.assignment().machine()
    }

    /// The game.
    pub fn game(&self) -> &Game<A::Worlds> {
        &self.game
    }

    /// The agents.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// The agents, to be given other policies or frozen.
    pub fn agents_mut(&mut self) -> &mut [Agent] {
        &mut self.agents
    }

    /// The traces that were kept.
    pub fn traces(&self) -> &[Trace] {
        &self.traces
    }

    /// What it has come to.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Writes where it stands.
    pub fn save(&self, path: &std::path::Path) -> Result<()> {
        let notes = Notes::new(&self.tally, &self.config, self.arena.task_file())?;
        let notes = serde_json::to_string(&notes)?;
        let next = stream(Purpose::Rollout, self.tally.iteration + 1);
        let random = generator(self.config.seed, next);
        Ok(Checkpoint::save(
            path,
            &self.game,
            &self.agents,
            &random,
            &notes,
        )?)
    }

    /// One iteration; nothing if it was interrupted on the way. Then the run is to be thrown away: its last checkpoint counts.
    pub fn iterate(&mut self) -> Result<Option<Iteration>> {
        let start = Instant::now();
        let number = self.tally.iteration + 1;
        let known = self.config.method.roles() == AssignmentMode::Unaided
            || self.game.assignment().can_accept();
        let mut random = generator(self.config.seed, stream(Purpose::Rollout, number));
        let steps = match known {
            true => self.config.steps(),
            false => self.config.learning.explore,
        };
        let (episodes, experience) = if known {
            let collected =
                (self.game).collect(&mut self.agents, steps, &self.config.ppo, &mut random)?;
            (collected.episodes, Some(collected.experience))
        } else {
            (self.game.explore(steps, &mut random)?, None)
        };
        let steps = steps * self.config.worlds;
        let rollout = start.elapsed();
        let found = self.counterexamples(&episodes);
        let refuted = !found.is_empty() && self.config.method.learns_machine();
        let mut relearnt = None;
        let mut ending = None;
        let learning = Instant::now();
        if refuted {
            match self.relearn(found)? {
                Lesson::Nothing => {}
                Lesson::Machine(lesson) => relearnt = Some(lesson),
                Lesson::Stopped(StopReason::Interrupted) => return Ok(None),
                Lesson::Stopped(reason) => ending = Some(Ending::NoMachine(reason)),
            }
        }
        let learning = learning.elapsed();
        let updating = Instant::now();
        let mut policies = Vec::new();
        // What was collected with a machine that is wrong is nothing to learn from.
        if let Some(experience) = experience.filter(|_| !refuted) {
            for (place, (agent, experience)) in self.agents.iter_mut().zip(experience).enumerate() {
                if self.interrupt.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let update = stream(Purpose::Update, number << 12 | place as u64);
                let mut random = generator(self.config.seed, update);
                let least = self.config.least_samples;
                let learnt = agent.learn(experience, &self.config.ppo, least, &mut random);
                let learnt =
                    learnt.with_context(|| format!("the policy of state {}", agent.name()))?;
                if let Some((samples, report)) = learnt {
                    policies.push(policy_row(number, agent.name(), samples, &report));
                }
            }
        }
        let updating = updating.elapsed();
        self.tally.iteration = number;
        self.tally.steps += steps as u64;
        self.tally.episodes += episodes.len() as u64;
        self.tally.traces = self.traces.len() as u64;
        let measured = &mut self.tally.measured;
        measured.changed |= relearnt.is_some() || !policies.is_empty();
        if known {
            measured.training_steps += steps as u64;
        }
        if relearnt.is_some() {
            self.tally.start_over();
        }
        let evaluating = Instant::now();
        let Some(judged) = self.judge(steps, episodes.len())? else {
            return Ok(None);
        };
        let evaluating = evaluating.elapsed();
        ending = ending.or(judged.ending);
        if ending.is_none() && number >= self.config.iterations {
            ending = Some(Ending::OutOfIterations);
        }
        self.tally.ending.clone_from(&ending);
        Ok(Some(Iteration {
            metrics: self.metrics(&episodes),
            timings: TimingsRow {
                iteration: number,
                seconds: self.seconds(),
                steps_per_second: steps as f64 / (start.elapsed() - evaluating).as_secs_f64(),
                rollout_seconds: rollout.as_secs_f64(),
                update_seconds: updating.as_secs_f64(),
                // Of the learning alone, if it came to an end: agents and worlds begin anew after it.
                learning_seconds: (relearnt.as_ref())
                    .map_or(learning, |lesson| lesson.time)
                    .as_secs_f64(),
                evaluation_seconds: evaluating.as_secs_f64(),
            },
            policies,
            relearnt,
            stalled: judged.stalled,
            ending,
        }))
    }

    /// The counterexamples of an iteration that were not known, the shortest of every kind.
    fn counterexamples(&mut self, episodes: &[Episode]) -> Vec<Trace> {
        let mut found: Vec<Trace> = (episodes.iter())
            .filter_map(|episode| episode.counterexample.clone())
            .collect();
        self.tally.counterexamples += found.len() as u64;
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

    /// Learns the smallest machine that agrees with all traces, once there is a goal among them, or a given machine was wrong.
    fn relearn(&mut self, found: Vec<Trace>) -> Result<Lesson> {
        let mut new = Vec::new();
        for trace in found {
            if self.learner.add(&trace).is_some() {
                self.traces.push(trace.clone());
                new.push(trace);
            }
        }
        // A machine that accepts too early hides the goals that would correct it: then it is better to know nothing.
        let goal_known = self.traces.iter().any(|trace| trace.kind() == Kind::Goal);
        if !goal_known && !self.game.assignment().can_accept() {
            return Ok(Lesson::Nothing);
        }
        let limits = Limits {
            max_states: self.config.learning.max_states,
            time: Some(Duration::from_secs(self.config.learning.time_limit)),
            interrupt: Some(self.interrupt.clone()),
            ..Limits::default()
        };
        let start = Instant::now();
        let (learnt, minimal) = match self.learner.learn(&limits)? {
            LearnOutcome::Minimal(learnt) => (learnt, true),
            LearnOutcome::Stopped {
                reason: StopReason::Time | StopReason::Memory,
                best: Some(best),
                ..
            } => (best, false),
            LearnOutcome::Stopped { reason, .. } => return Ok(Lesson::Stopped(reason)),
            LearnOutcome::Contradictory(pairs) => bail!(
                "the world contradicts itself: {} pairs of traces observe the same and end differently, so its labels do not tell when the task is done",
                pairs.len()
            ),
        };
        let time = start.elapsed();
        let next = cast(&self.config, self.game.worlds(), &learnt.machine)?;
        let actions = self.game.worlds().actions().len();
        let old = (std::mem::take(&mut self.agents), self.game.assignment());
        let (agents, staffing) = hire(&self.config, actions, &next, Some(old), &mut self.tally)?;
        self.agents = agents;
        self.game.reassign(next)?;
        self.tally.relearnings += 1;
        Ok(Lesson::Machine(Relearnt {
            machine: learnt.machine,
            minimal,
            counterexamples: new,
            time,
            staffing,
        }))
    }

    /// The row of the iteration that has just been made.
    fn metrics(&self, episodes: &[Episode]) -> MetricsRow {
        let count = episodes.len() as f64;
        let mean = |value: &dyn Fn(&Episode) -> f64| {
            (count > 0.0).then(|| episodes.iter().map(value).sum::<f64>() / count)
        };
        let (machine, tally) = (self.machine(), &self.tally);
        let mut row = MetricsRow {
            iteration: tally.iteration,
            steps: tally.steps,
            episodes: episodes.len() as u64,
            ended_success: mean(&|episode| f64::from(u8::from(episode.is_success()))),
            ended_length: mean(&|episode| episode.steps() as f64),
            shaped_return: mean(&|episode| episode.total_reward),
            states: machine.states().len() as u64,
            edges: machine.edges().len() as u64,
            relearnings: tally.relearnings,
            counterexamples: tally.counterexamples,
            traces: self.traces.len() as u64,
            ..MetricsRow::default()
        };
        row.evaluated_by(tally.present());
        row
    }

    /// Seconds since the beginning of the run, those before it was resumed included.
    fn seconds(&self) -> f64 {
        self.before + self.since.elapsed().as_secs_f64()
    }
}

/// What came of learning.
enum Lesson {
    /// There is nothing to learn from yet.
    Nothing,
    Machine(Relearnt),
    Stopped(StopReason),
}

/// The machine a run starts with.
fn first_machine<A: Arena>(config: &RunConfig, arena: &A) -> Result<Machine> {
    if let Some(text) = &config.machine {
        return text
            .parse()
            .context("the machine of the configuration (--machine, or `machine` in config.toml)");
    }
    match config.method {
        Method::Handcrafted => (arena.truth().cloned()).context(
            "the method `handcrafted` needs a machine, and this world has none: name one with --machine",
        ),
        _ => Ok(nothing_known()?),
    }
}

pub(crate) fn cast<W: Worlds>(
    config: &RunConfig,
    worlds: &W,
    machine: &Machine,
) -> Result<AgentAssignment> {
    let roles = config.method.roles();
    if roles == AssignmentMode::Unaided {
        return Ok(AgentAssignment::unaided(worlds.signature(), worlds.spec())?);
    }
    let bound = machine.bind(worlds.signature()).with_context(|| {
        format!(
            "the machine {} does not fit what can be observed in the task {}",
            machine.name(),
            config.task
        )
    })?;
    Ok(AgentAssignment::new(
        bound,
        roles,
        config.progress,
        worlds.spec(),
    ))
}

pub(crate) fn game<W: Worlds>(
    config: &RunConfig,
    worlds: W,
    cast: AgentAssignment,
) -> Result<Game<W>> {
    // An LSTM remembers its cell and its output.
    let memory = 2 * config.network.memory;
    Ok(Game::new(worlds, cast, rules(config), memory)?)
}

/// The rules of the game of a run.
pub(crate) fn rules(config: &RunConfig) -> GameConfig {
    GameConfig {
        credit: config.credit,
        shaping: config.shaping,
        gamma: config.ppo.gamma,
    }
}

fn options(config: &RunConfig) -> Options {
    Options {
        first_order: config.method != Method::Propositional,
        max_disjuncts: config.learning.max_disjuncts,
        cyclic: config.learning.cyclic,
        ..Options::default()
    }
}

/// The agents of a cast: those of the old one whose sub-tasks survive, and fresh ones.
fn hire(
    config: &RunConfig,
    actions: usize,
    cast: &AgentAssignment,
    old: Option<(Vec<Agent>, &AgentAssignment)>,
    tally: &mut Tally,
) -> Result<(Vec<Agent>, Vec<Staffing>)> {
    staff(cast, old, |part| {
        let number = tally.hired;
        tally.hired += 1;
        let mut random = generator(config.seed, stream(Purpose::Hire, number));
        let network = config.network.network(&part.encoder, actions);
        let sequence = config.network.sequence;
        let agent = Agent::new(&part.name, &network, sequence, &config.ppo, &mut random);
        agent.with_context(|| {
            format!(
                "these worlds and the settings of `network` do not go together; a small room wants fewer `network.filters` than {:?}",
                config.network.filters
            )
        })
    })
}

fn policy_row(iteration: u64, state: &str, samples: usize, report: &PpoReport) -> PoliciesRow {
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
