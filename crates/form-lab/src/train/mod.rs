//! The joint loop (Appendix B of the paper): collect experience, find counterexamples, relearn the machine or update the policies,
//! evaluate, stop.
//!
//! A run starts from a machine without edges, and agents act at random. Every episode that the machine misjudges is a
//! counterexample; after an iteration with new ones, the smallest machine consistent with all kept traces is learnt. `iterate` is
//! the loop's body; `policy_reuse` decides which policies survive a new machine; `evaluations` measures success while the run
//! trains, and `stop` decides whether it is over. `train_state` is what a checkpoint keeps. Nothing here touches a file.

mod evaluations;
mod iterate;
mod policy_reuse;
mod relearnt;
mod stop;
mod timers;
mod tolerance;
mod train_state;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use form_core::{Machine, StepMode, Trace};
use form_env::{Split, Stream, Worlds, generator};
use form_learn::{Learner, Options};
use form_rl::{Agent, AgentAssignment, Checkpoint, Game, LabelNoise, WrongLabels, nothing_known};

pub use self::iterate::Iteration;
pub(crate) use self::policy_reuse::column_maps;
pub use self::policy_reuse::{PolicyReuse, reuse_policies};
pub use self::relearnt::RelearntMachine;
pub use self::stop::Stalled;
pub(crate) use self::train_state::{CheckpointMetadata, MAP_ORDER};
pub use self::train_state::{StopCause, TrainState};

use self::evaluations::FixedEpisodes;
use crate::config::{Method, RunConfig};
use crate::env_factory::EnvFactory;
use crate::explore::{Exploration, ExplorationState, Labels};
use crate::game_setup::{assignment, game};

/// A run in memory.
pub struct Trainer<F: EnvFactory> {
    config: RunConfig,
    envs: F,
    game: Game<F::Worlds>,
    agents: Vec<Agent>,
    learner: Learner,
    /// The traces that were kept; with exploration, it keeps them.
    traces: Vec<Trace>,
    state: TrainState,
    interrupt: Arc<AtomicBool>,
    since: Instant,
    /// The seconds of training before the run was resumed.
    before: f64,
    /// The starts of the evaluation episodes and the success of random play on them, once they are needed.
    fixed: Option<FixedEpisodes>,
    /// The exploration of the method `reach-avoid`.
    exploration: Option<Exploration<F::Worlds>>,
}

/// What random numbers are used for; each purpose has its own streams.
#[derive(Clone, Copy)]
enum Purpose {
    Rollout = 1,
    Update = 2,
    NewAgent = 3,
}

fn stream(purpose: Purpose, number: u64) -> Stream {
    Stream::Other((purpose as u64) << 48 | number)
}

impl<F: EnvFactory> Trainer<F> {
    /// A new run.
    pub fn new(config: RunConfig, envs: F, interrupt: Arc<AtomicBool>) -> Result<Self> {
        config.check()?;
        let worlds = envs.worlds(config.worlds, config.seed, Split::Training)?;
        let machine = first_machine(&config, &envs, worlds.step_mode())?;
        let assignment = assignment(&config, &worlds, &machine)?;
        let learner = new_learner(&worlds, &config)?;
        let mut state = TrainState::default();
        let actions = worlds.actions().len();
        let (agents, _) = agents_for(&config, actions, &assignment, None, &mut state)?;
        let exploration = exploration(&config, &envs, &assignment, Vec::new(), None)?;
        Ok(Self {
            exploration,
            game: game(&config, worlds, assignment)?.with_wrong_labels(wrong_labels(&config)),
            learner,
            envs,
            agents,
            traces: Vec::new(),
            state,
            interrupt,
            since: Instant::now(),
            before: 0.0,
            fixed: None,
            config,
        })
    }

    /// Resumes a run from a checkpoint. `traces` are those that had been kept by then, `seconds` is the training time.
    pub(crate) fn resume(
        config: RunConfig,
        envs: F,
        interrupt: Arc<AtomicBool>,
        checkpoint: &Checkpoint,
        traces: Vec<Trace>,
        seconds: f64,
    ) -> Result<Self> {
        let metadata = CheckpointMetadata::of(checkpoint)?;
        let mut run = Self::new(config, envs, interrupt)?;
        let assignment = assignment(&run.config, run.game.worlds(), &checkpoint.machine)?;
        run.agents = checkpoint.agents(&run.config.ppo)?;
        run.game.reassign(assignment)?;
        // Version 0.1 assigned maps to worlds in another order: its worlds begin new episodes.
        if metadata.map_order == MAP_ORDER {
            checkpoint.restore(&mut run.game)?;
        }
        // With exploration, the learner gets traces as they refute machines; with a tolerance, it is a new one at every call.
        if run.exploration.is_none() {
            for trace in &traces {
                if run.config.learning.tolerance().is_none() {
                    run.learner.add(trace);
                }
            }
            run.traces.clone_from(&traces);
        }
        let explored = metadata.state.exploration.clone();
        run.exploration = exploration(
            &run.config,
            &run.envs,
            run.game.assignment(),
            traces,
            explored,
        )?;
        run.state = metadata.state;
        // Its success was that of ended episodes, which is too high: the run must not seem to have fallen.
        if metadata.map_order != MAP_ORDER {
            run.state.forget_success();
        }
        // The run has been given more iterations since.
        if run.state.stop_cause == Some(StopCause::OutOfIterations)
            && run.state.iteration < run.config.iterations
        {
            run.state.stop_cause = None;
        }
        run.before = seconds;
        Ok(run)
    }

    /// The configuration.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The factory of its worlds.
    pub fn envs(&self) -> &F {
        &self.envs
    }

    /// The current machine.
    pub fn machine(&self) -> &Machine {
        self.game.assignment().machine()
    }

    /// The game.
    pub fn game(&self) -> &Game<F::Worlds> {
        &self.game
    }

    /// The agents.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// The agents, to load policies into them or to freeze them.
    pub fn agents_mut(&mut self) -> &mut [Agent] {
        &mut self.agents
    }

    /// The traces that were kept.
    pub fn traces(&self) -> &[Trace] {
        match &self.exploration {
            Some(exploration) => exploration.traces(),
            None => &self.traces,
        }
    }

    /// How far the run has come.
    pub fn state(&self) -> &TrainState {
        &self.state
    }

    /// Writes a checkpoint.
    pub fn save(&self, path: &std::path::Path) -> Result<()> {
        let metadata = CheckpointMetadata::new(&self.state, &self.config, self.envs.task_file())?;
        let metadata = serde_json::to_string(&metadata)?;
        let next = stream(Purpose::Rollout, self.state.iteration + 1);
        let random = generator(self.config.seed, next);
        Ok(Checkpoint::save(
            path,
            &self.game,
            &self.agents,
            &random,
            &metadata,
        )?)
    }

    /// Seconds of training, including those before the run was resumed.
    fn seconds(&self) -> f64 {
        self.before + self.since.elapsed().as_secs_f64()
    }
}

/// The exploration of a run that learns its machine by it.
fn exploration<F: EnvFactory>(
    config: &RunConfig,
    envs: &F,
    assignment: &AgentAssignment,
    traces: Vec<Trace>,
    state: Option<ExplorationState>,
) -> Result<Option<Exploration<F::Worlds>>> {
    let (Some(section), Some(policy)) = (&config.exploration, assignment.policy()) else {
        return Ok(None);
    };
    let worlds = envs.worlds(1, config.seed, Split::Training)?;
    let machine = (assignment.bound_machine(), assignment.can_accept());
    let state = state.unwrap_or_default();
    let wrong = wrong_labels(config);
    let labels = Labels {
        noise: wrong.noise,
        repeats: wrong.restart,
    };
    Exploration::new((section, labels), policy, worlds, machine, traces, state).map(Some)
}

/// The machine that a run starts with.
fn first_machine<F: EnvFactory>(config: &RunConfig, envs: &F, mode: StepMode) -> Result<Machine> {
    if let Some(text) = &config.machine {
        return text
            .parse()
            .context("the machine of the configuration (--machine, or `machine` in config.toml)");
    }
    match config.method {
        Method::Handcrafted => (envs.truth().cloned()).context(
            "the method `handcrafted` needs a machine, and this world has none: name one with --machine",
        ),
        _ => Ok(nothing_known(mode)?),
    }
}

fn wrong_labels(config: &RunConfig) -> WrongLabels {
    let (rate, seed) = (config.label_noise, config.seed);
    WrongLabels {
        noise: (rate > 0.0).then_some(LabelNoise { rate, seed }),
        restart: config.learning.tolerance().is_some(),
    }
}

/// A learner without traces, for what can be observed in these worlds.
fn new_learner<W: Worlds>(worlds: &W, config: &RunConfig) -> Result<Learner> {
    let options = learner_options(config);
    let Some(shared) = worlds.shared_signature() else {
        return Ok(Learner::new(worlds.signature(), &options));
    };
    if config.method.learns_machine() && (options.once || options.joins || options.counts > 1) {
        bail!(
            "learning.once, learning.counts and learning.joins need the same objects in all episodes, and the maps of this task have different ones"
        );
    }
    Ok(Learner::with_own_signatures(
        worlds.signature(),
        shared,
        &options,
    )?)
}

fn learner_options(config: &RunConfig) -> Options {
    Options {
        first_order: config.method != Method::Propositional,
        max_disjuncts: config.learning.max_disjuncts,
        cyclic: config.learning.cyclic,
        once: config.learning.once,
        counts: config.learning.counts,
        joins: config.learning.joins,
        ..Options::default()
    }
}

/// The agents of a machine: those of the old one whose sub-task survives, and new ones.
fn agents_for(
    config: &RunConfig,
    actions: usize,
    assignment: &AgentAssignment,
    old: Option<(Vec<Agent>, &AgentAssignment)>,
    state: &mut TrainState,
) -> Result<(Vec<Agent>, Vec<PolicyReuse>)> {
    reuse_policies(assignment, old, |role| {
        let number = state.agents_created;
        state.agents_created += 1;
        let mut random = generator(config.seed, stream(Purpose::NewAgent, number));
        let network = config.network.network(&role.encoder, actions);
        let sequence = config.network.sequence;
        let agent = Agent::new(&role.name, &network, sequence, &config.ppo, &mut random);
        agent.with_context(|| {
            format!(
                "the settings of `network` do not fit these worlds; a small room needs fewer `network.filters` than {:?}",
                config.network.filters
            )
        })
    })
}
