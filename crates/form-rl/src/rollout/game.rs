//! The Markov game (section 3.4 of the paper): worlds, one machine per world, and the agents that act in turn.
//!
//! All worlds step together. An agent's network evaluates all worlds whose machines are in its states as one batch, on all cores.
//! Trajectories are handed out when they are complete: see [`Credit`](crate::Credit).

use form_core::{Kind, Trace};
use form_env::Worlds;
use rand::{Rng, RngExt};

use super::env_slot::{EnvSlot, StepResult};
use super::game_config::{Choice, Episode, GameConfig};
use super::inference::Inference;
use super::label_noise::WrongLabels;
use crate::agents::agent_assignment::AgentAssignment;
use crate::error::size;
use crate::experience::{ClosedTrajectory, Experience};
use crate::reach_avoid::navigator::Navigator;
use crate::{Agent, Error, Network, PpoConfig, Result, greedy, sample};

/// The distribution that an action is drawn from.
pub(super) enum Draw<'a> {
    /// Uniform over this number of actions.
    Uniform(usize),
    /// A policy's.
    Logits(&'a [f32]),
}

impl Draw<'_> {
    pub(super) fn action(self, rng: &mut impl Rng) -> u8 {
        match self {
            Self::Uniform(count) => rng.random_range(0..count) as u8,
            Self::Logits(logits) => sample(logits, rng) as u8,
        }
    }
}

/// The result of a rollout.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// The episodes that ended.
    pub episodes: Vec<Episode>,
    /// One rollout buffer per agent.
    pub experience: Vec<Experience>,
}

/// The game.
///
/// ```
/// use std::sync::Arc;
/// use form_env::{GridWorlds, Maps, Split, Stream, Task, WorldOptions, Worlds, generator};
/// use form_rl::{Agent, AgentAssignment, Credit, Game, GameConfig, Architecture, PpoConfig, ProgressEncoding, AssignmentMode};
///
/// let task = Arc::new(Task::builtin("all-yellow")?);
/// let maps = Maps::Set(task.maps(7, Split::Training, 1)?);
/// let worlds = GridWorlds::new(task.clone(), maps, WorldOptions::default(), 4, 7)?;
///
/// // One agent per state of the task's own machine.
/// let assignment = AgentAssignment::new(task.truth().clone(), AssignmentMode::PerState, ProgressEncoding::Plane, worlds.spec());
/// let (architecture, training) = (Architecture::default(), PpoConfig { epochs: 1, ..PpoConfig::default() });
/// let mut random = generator(7, Stream::Other(0));
/// let mut agents = Vec::new();
/// for role in assignment.roles() {
///     let network = architecture.network(&role.encoder, worlds.actions().len());
///     agents.push(Agent::new(&role.name, &network, architecture.sequence, &training, &mut random)?);
/// }
/// let config = GameConfig { credit: Credit::Shared, shaping: true, gamma: training.gamma };
/// let mut game = Game::new(worlds, assignment, config, 0)?;
/// let collected = game.collect(&mut agents, 8, &training, &mut random)?;
/// for (agent, experience) in agents.iter_mut().zip(collected.experience) {
///     agent.learn(experience, &training, 1, &mut random)?;
/// }
/// # Ok::<(), form_rl::Error>(())
/// ```
#[derive(Debug)]
pub struct Game<W> {
    pub(crate) worlds: W,
    pub(crate) assignment: AgentAssignment,
    config: GameConfig,
    pub(crate) slots: Vec<EnvSlot>,
    inference: Vec<Inference>,
    /// The size of an agent's hidden state; 0 for feedforward networks.
    pub(crate) hidden_size: usize,
    /// The reach-avoid policy, if it acts in place of agents.
    navigator: Option<Navigator>,
    wrong_labels: WrongLabels,
}

impl<W: Worlds> Game<W> {
    /// A game at the start of the worlds' episodes, for agents whose hidden states have this size.
    pub fn new(
        worlds: W,
        assignment: AgentAssignment,
        config: GameConfig,
        hidden_size: usize,
    ) -> Result<Self> {
        config.check(&worlds, &assignment, hidden_size)?;
        let mut game = Self {
            slots: Vec::new(),
            worlds,
            inference: Vec::new(),
            assignment,
            config,
            hidden_size,
            navigator: None,
            wrong_labels: WrongLabels::default(),
        };
        game.begin_all();
        Ok(game)
    }

    /// The same game where labels may be wrong, at the start of its episodes.
    #[must_use]
    pub fn with_wrong_labels(mut self, wrong_labels: WrongLabels) -> Self {
        self.wrong_labels = wrong_labels;
        self.begin_all();
        self
    }

    fn begin_all(&mut self) {
        self.navigator = self
            .assignment
            .policy()
            .map(|policy| Navigator::new(policy));
        self.slots = vec![EnvSlot::new(&self.assignment, self.hidden_size); self.worlds.len()];
        for (world, slot) in self.slots.iter_mut().enumerate() {
            slot.begin(&self.assignment, &self.worlds, world, self.wrong_labels);
        }
        self.inference = self
            .assignment
            .roles()
            .iter()
            .map(|_| Inference::default())
            .collect();
    }

    /// The worlds.
    pub fn worlds(&self) -> &W {
        &self.worlds
    }

    /// The agents' roles.
    pub fn assignment(&self) -> &AgentAssignment {
        &self.assignment
    }

    /// What was observed so far in the episodes that still run.
    pub fn open_traces(&self) -> impl Iterator<Item = Trace> {
        let running = self.slots.iter().filter(|slot| !slot.idle);
        running.map(|slot| slot.recorder.clone().finish(Kind::Incomplete))
    }

    /// Continues with another machine, in new episodes of all worlds. Open trajectories are discarded.
    pub fn reassign(&mut self, assignment: AgentAssignment) -> Result<()> {
        self.config
            .check(&self.worlds, &assignment, self.hidden_size)?;
        self.assignment = assignment;
        for world in 0..self.worlds.len() {
            self.worlds.start(world, self.worlds.episode(world) + 1)?;
        }
        self.begin_all();
        Ok(())
    }

    /// Takes this number of random steps in every world, for the traces alone. Episodes are given up when they are longer than
    /// `longest`; they are incomplete then.
    pub fn explore(
        &mut self,
        steps: usize,
        longest: usize,
        rng: &mut impl Rng,
    ) -> Result<Vec<Episode>> {
        let mut episodes = Vec::new();
        let count = self.worlds.actions().len();
        let no_agents = vec![None; self.slots.len()];
        for _ in 0..steps {
            let actions: Vec<u8> = (0..self.slots.len())
                .map(|_| rng.random_range(0..count) as u8)
                .collect();
            self.step(&actions, &no_agents, &mut episodes)?;
            for world in 0..self.slots.len() {
                let slot = &self.slots[world];
                if !slot.idle && slot.actions.len() >= longest {
                    episodes.push(self.give_up(world));
                }
            }
            self.next_episodes()?;
        }
        Ok(episodes)
    }

    /// Ends the episode of a world where it is.
    pub(super) fn give_up(&mut self, world: usize) -> Episode {
        let (slot, outcome) = (&mut self.slots[world], self.worlds.outcome(world));
        slot.idle = true;
        Episode {
            world,
            number: self.worlds.episode(world),
            actions: std::mem::take(&mut slot.actions),
            outcome,
            state: slot.monitor.state(),
            total_reward: slot.total_reward,
            trace: Some(slot.recorder.finish(outcome.kind())),
            counterexample: None,
        }
    }

    /// Takes this number of steps in every world, with the agents' policies. Returns the trajectories that are complete, see
    /// [`Credit`](crate::Credit), with their advantages by GAE.
    pub fn collect(
        &mut self,
        agents: &mut [Agent],
        steps: usize,
        training: &PpoConfig,
        rng: &mut impl Rng,
    ) -> Result<Collected> {
        let mut collected = Collected::default();
        let closed = self.rollout(agents, steps, rng, &mut collected.episodes)?;
        for (agent, closed) in agents.iter_mut().zip(closed) {
            let experience = agent.estimate_advantages(closed, training)?;
            collected.experience.push(experience);
        }
        Ok(collected)
    }

    /// The closed trajectories of [`Game::collect`], by agent.
    pub(super) fn rollout(
        &mut self,
        agents: &mut [Agent],
        steps: usize,
        rng: &mut impl Rng,
        episodes: &mut Vec<Episode>,
    ) -> Result<Vec<Vec<ClosedTrajectory>>> {
        self.check_agents(agents.iter().map(|agent| (agent.name(), agent.network())))?;
        let sequence = agents.first().map_or(1, Agent::sequence);
        size(
            "steps in whole sequences",
            steps,
            steps / sequence * sequence,
        )?;
        for step in 0..steps {
            let (actions, acted) =
                self.choose_actions(agents, Choice::Sample, |_, draw| draw.action(rng))?;
            for (agent, inference) in self.inference.iter().enumerate() {
                inference.record(agent, &mut self.slots, &actions, step % sequence == 0);
            }
            self.step(&actions, &acted, episodes)?;
            self.next_episodes()?;
        }
        let mut closed: Vec<Vec<ClosedTrajectory>> = agents.iter().map(|_| Vec::new()).collect();
        for (world, slot) in self.slots.iter_mut().enumerate() {
            slot.truncate(&self.assignment, &self.worlds, world);
            for (agent, trajectory) in slot.closed.drain(..) {
                closed[agent].push(trajectory);
            }
        }
        Ok(closed)
    }

    /// Restores all worlds by replaying their actions: the number of each world's episode, and its actions. All replays end at the
    /// same step.
    pub(crate) fn replay(&mut self, saved: &[(u64, Vec<u8>)]) -> Result<()> {
        let longest = saved.iter().map(|(_, actions)| actions.len()).max();
        let longest = longest.unwrap_or(0);
        for step in 0..=longest {
            for (world, (episode, actions)) in saved.iter().enumerate() {
                if step + actions.len() == longest {
                    self.begin(world, *episode)?;
                }
            }
            if step == longest {
                break;
            }
            // A world whose replay has not begun takes any action: its episode is started later.
            let action = |actions: &Vec<u8>| {
                (step + actions.len())
                    .checked_sub(longest)
                    .and_then(|at| actions.get(at).copied())
            };
            let actions: Vec<Option<u8>> = saved.iter().map(|(_, all)| action(all)).collect();
            let all: Vec<u8> = actions.iter().map(|action| action.unwrap_or(0)).collect();
            self.worlds.step(&all)?;
            for (world, slot) in self.slots.iter_mut().enumerate() {
                if let Some(action) = actions[world] {
                    slot.actions.push(action);
                    slot.advance(&self.assignment, &self.config, &self.worlds, world, None);
                }
            }
        }
        Ok(())
    }

    /// Rejects agents whose networks do not fit the roles.
    pub(crate) fn check_agents<'a>(
        &self,
        agents: impl ExactSizeIterator<Item = (&'a str, &'a Network)>,
    ) -> Result<()> {
        size("agents", agents.len(), self.assignment.roles().len())?;
        for ((name, network), role) in agents.zip(self.assignment.roles()) {
            let within = |error: Error| Error::Layer {
                layer: format!("agent `{name}`"),
                problem: error.to_string(),
            };
            let (image, vector) = (role.encoder.image_len(), role.encoder.vector_len());
            for (what, found, expected) in [
                ("bytes of images", network.image_len(), image),
                ("numbers of vectors", network.vector_len(), vector),
                ("actions", network.actions(), self.worlds.actions().len()),
                ("numbers of hidden state", network.state(), self.hidden_size),
            ] {
                size(what, found, expected).map_err(within)?;
            }
        }
        Ok(())
    }

    /// The actions of all worlds, and the agents that chose them. `draw` samples them from the worlds' distributions, in order: the
    /// draws do not depend on the number of threads. Where a machine is terminal but its world is not, the distribution is uniform.
    pub(super) fn choose_actions(
        &mut self,
        agents: &mut [Agent],
        choice: Choice,
        mut draw: impl FnMut(usize, Draw<'_>) -> u8,
    ) -> Result<(Vec<u8>, Vec<Option<usize>>)> {
        let count = self.worlds.actions().len();
        let mut acted = vec![None; self.slots.len()];
        self.inference
            .iter_mut()
            .for_each(|inference| inference.worlds.clear());
        for (world, slot) in self.slots.iter().enumerate() {
            let agent = slot.agent(&self.assignment).filter(|_| !slot.idle);
            if let Some(agent) = agent.filter(|_| choice != Choice::Uniform) {
                acted[world] = Some(agent);
                self.inference[agent].worlds.push(world);
            }
        }
        for (number, agent) in agents.iter_mut().enumerate() {
            let inference = &mut self.inference[number];
            if inference.worlds.is_empty() {
                continue;
            }
            inference.gather(number, &self.assignment, &self.worlds, &self.slots);
            inference.evaluate(agent, &mut self.slots)?;
        }
        let mut rows = vec![0; agents.len()];
        let mut actions = Vec::with_capacity(acted.len());
        let machine = self.assignment.bound_machine();
        for (world, (acted, slot)) in acted.iter().zip(&mut self.slots).enumerate() {
            actions.push(match *acted {
                // The world has ended and ignores its action.
                None if slot.idle => 0,
                None => {
                    let running = !machine.machine().is_terminal(slot.monitor.state());
                    let navigator =
                        (self.navigator.as_mut()).filter(|_| running && choice != Choice::Uniform);
                    let logits = navigator.and_then(|navigator| {
                        slot.reach_avoid_logits(navigator, machine, &self.worlds, world)
                    });
                    match (logits, choice) {
                        (None, _) => draw(world, Draw::Uniform(count)),
                        (Some(logits), Choice::Greedy) => greedy(&logits) as u8,
                        (Some(logits), _) => draw(world, Draw::Logits(&logits)),
                    }
                }
                Some(agent) => {
                    let row = rows[agent];
                    rows[agent] += 1;
                    let logits = &self.inference[agent].outputs.logits[row * count..][..count];
                    match choice {
                        Choice::Greedy => greedy(logits) as u8,
                        Choice::Sample | Choice::Uniform => draw(world, Draw::Logits(logits)),
                    }
                }
            });
        }
        Ok((actions, acted))
    }

    /// Steps all worlds, and appends the episodes that ended.
    pub(super) fn step(
        &mut self,
        actions: &[u8],
        acted: &[Option<usize>],
        episodes: &mut Vec<Episode>,
    ) -> Result<()> {
        self.worlds.step(actions)?;
        for (world, slot) in self.slots.iter_mut().enumerate() {
            if slot.idle {
                continue;
            }
            slot.actions.push(actions[world]);
            let state = slot.monitor.state();
            let (assignment, worlds) = (&self.assignment, &self.worlds);
            let result = slot.advance(assignment, &self.config, worlds, world, acted[world]);
            let (outcome, refuted) = match result {
                StepResult::Continues => continue,
                StepResult::Ended(outcome) => (outcome, false),
                StepResult::Refuted(outcome) => (outcome, true),
            };
            slot.idle = true;
            let trace = slot.recorder.finish(outcome.kind());
            episodes.push(Episode {
                world,
                number: worlds.episode(world),
                actions: std::mem::take(&mut slot.actions),
                outcome,
                state,
                total_reward: slot.total_reward,
                counterexample: refuted.then(|| trace.clone()),
                trace: Some(trace),
            });
        }
        Ok(())
    }

    /// Starts an episode of a world.
    pub(super) fn begin(&mut self, world: usize, episode: u64) -> Result<()> {
        self.worlds.start(world, episode)?;
        self.slots[world].begin(&self.assignment, &self.worlds, world, self.wrong_labels);
        Ok(())
    }

    /// Starts the next episode of every world whose episode ended or was truncated.
    pub(super) fn next_episodes(&mut self) -> Result<()> {
        if !self.slots.iter().any(|slot| slot.idle) {
            return Ok(());
        }
        for world in 0..self.slots.len() {
            if self.slots[world].idle && !self.worlds.outcome(world).is_over() {
                self.worlds.start(world, self.worlds.episode(world) + 1)?;
            }
        }
        self.worlds.next_episodes()?;
        for (world, slot) in self.slots.iter_mut().enumerate() {
            if slot.idle {
                slot.begin(&self.assignment, &self.worlds, world, self.wrong_labels);
            }
        }
        Ok(())
    }
}
