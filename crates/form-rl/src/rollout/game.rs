//! The Markov game (section 3.4 of the paper): worlds, one machine per world, and the agents that act in turn.
//!
//! The worlds are divided among the cores, and each [part](Part) of them acts on its own until the batch is full. An agent's network
//! evaluates the worlds of a part whose machines are in its states as one batch. Trajectories are handed out when they are complete:
//! see [`Credit`](crate::Credit).

use form_core::{Kind, Trace};
use form_env::Worlds;
use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::env_slot::EnvSlot;
use super::game_config::{Choice, Episode, GameConfig};
use super::inference::Inference;
use super::label_noise::WrongLabels;
use super::part::{Part, Rules};
use crate::agents::agent_assignment::AgentAssignment;
use crate::error::size;
use crate::experience::{ClosedTrajectory, Experience};
use crate::net::SHARDS;
use crate::reach_avoid::navigator::Navigator;
use crate::{Agent, Error, Network, PpoConfig, Result};

/// The result of a rollout.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// The episodes that ended.
    pub episodes: Vec<Episode>,
    /// One rollout buffer per agent.
    pub experience: Vec<Experience>,
}

/// At most this many parts: one per workspace of an agent's network.
const MOST_PARTS: usize = SHARDS;

/// The game.
///
/// ```
/// use std::sync::Arc;
/// use form_env::{GridWorlds, Maps, Split, Stream, Task, WorldOptions, Worlds, generator};
/// use form_rl::{Agent, AgentAssignment, Credit, EndPotential, Game, GameConfig, Architecture, PpoConfig, ProgressEncoding, AssignmentMode};
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
/// let config = GameConfig { credit: Credit::Shared, shaping: true, gamma: training.gamma, end: EndPotential::Zero };
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
    /// One per agent, for every part.
    inference: Vec<Vec<Inference>>,
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
            slot.number = world;
            slot.begin(&self.assignment, &self.worlds, world, self.wrong_labels);
        }
        self.inference.clear();
    }

    /// Divides the worlds into parts, which work on all cores. Returns their results, in the order of their worlds.
    pub(super) fn in_parts<R: Send>(
        &mut self,
        agents: &mut [Agent],
        work: impl Fn(&mut Part<'_, W>) -> Result<R> + Sync + Send,
    ) -> Result<Vec<R>> {
        // Twice as many as threads: some parts take longer than others. A navigator has one memory of sub-tasks.
        let parts = match (rayon::current_num_threads(), &self.navigator) {
            (1, _) | (_, Some(_)) => 1,
            (threads, None) => (2 * threads).min(MOST_PARTS),
        };
        let mut groups = match parts {
            1 => Vec::new(),
            parts => self.worlds.split(parts),
        };
        if groups.len() > parts {
            let found = groups.len();
            self.worlds.join(groups);
            return Err(Error::Size {
                what: "groups of worlds",
                found,
                expected: parts,
            });
        }
        let all: Vec<&mut W> = match groups.is_empty() {
            true => vec![&mut self.worlds],
            false => groups.iter_mut().collect(),
        };
        let roles = self.assignment.roles().len();
        self.inference.resize_with(all.len(), || {
            (0..roles).map(|_| Inference::default()).collect()
        });
        let mut policies: Vec<_> = agents.iter_mut().map(Agent::evaluators).collect();
        let rules = Rules {
            assignment: &self.assignment,
            config: &self.config,
            wrong_labels: self.wrong_labels,
        };
        let (mut first, mut slots) = (0, &mut self.slots[..]);
        let mut navigator = self.navigator.as_mut();
        let mut parts = Vec::with_capacity(all.len());
        for (worlds, inference) in all.into_iter().zip(&mut self.inference) {
            let own = slots.split_off_mut(..worlds.len()).unwrap_or_default();
            let count = own.len();
            parts.push(Part {
                first,
                rules,
                worlds,
                slots: own,
                inference,
                policies: policies.iter_mut().filter_map(Iterator::next).collect(),
                navigator: navigator.take(),
            });
            first += count;
        }
        let results: Vec<Result<R>> = parts.par_iter_mut().with_max_len(1).map(work).collect();
        drop(parts);
        if !groups.is_empty() {
            self.worlds.join(groups);
        }
        results.into_iter().collect()
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
        let (count, width) = (self.worlds.actions().len(), self.slots.len());
        // In the order of steps and worlds.
        let actions: Vec<u8> = (0..steps * width)
            .map(|_| rng.random_range(0..count) as u8)
            .collect();
        let episodes = self.in_parts(&mut [], |part| {
            let (mut episodes, worlds) = (Vec::new(), part.slots.len());
            let no_agents = vec![None; worlds];
            for step in 0..steps {
                let actions = &actions[step * width + part.first..][..worlds];
                // Within a step, in all parts: those that ended, then those that are given up.
                part.step(actions, &no_agents, |one| episodes.push((2 * step, one)))?;
                for world in 0..worlds {
                    let slot = &part.slots[world];
                    if !slot.idle && slot.actions.len() >= longest {
                        episodes.push((2 * step + 1, part.give_up(world)));
                    }
                }
                part.next_episodes()?;
            }
            Ok(episodes)
        })?;
        Ok(in_order(episodes).collect())
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
        let experience: Vec<Result<Experience>> = (agents.par_iter_mut().zip(closed))
            .map(|(agent, closed)| agent.estimate_advantages(closed, training))
            .collect();
        collected.experience = experience.into_iter().collect::<Result<_>>()?;
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
        let width = self.slots.len();
        // One per step and world, in this order.
        let numbers: Vec<f32> = (0..steps * width).map(|_| rng.random()).collect();
        let ended = self.in_parts(agents, |part| {
            let mut ended = Vec::new();
            for step in 0..steps {
                let numbers = &numbers[step * width + part.first..];
                let (actions, acted) = part
                    .choose_actions(Choice::Sample, |world, draw| draw.action_at(numbers[world]))?;
                part.record(&actions, step % sequence == 0);
                part.step(&actions, &acted, |one| ended.push((step, one)))?;
                part.next_episodes()?;
            }
            for (world, slot) in part.slots.iter_mut().enumerate() {
                slot.truncate(part.rules.assignment, &*part.worlds, world);
            }
            Ok(ended)
        })?;
        episodes.extend(in_order(ended));
        let mut closed: Vec<Vec<ClosedTrajectory>> = agents.iter().map(|_| Vec::new()).collect();
        for slot in &mut self.slots {
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
                    self.worlds.start(world, *episode)?;
                    let slot = &mut self.slots[world];
                    slot.begin(&self.assignment, &self.worlds, world, self.wrong_labels);
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
}

/// The episodes of all parts in the order of the steps that they ended with (or of what they are numbered by), and of worlds.
pub(super) fn in_order(parts: Vec<Vec<(usize, Episode)>>) -> impl Iterator<Item = Episode> {
    let mut episodes: Vec<(usize, Episode)> = parts.into_iter().flatten().collect();
    // Stable: the episodes of a part, which are ordered, follow those of the part before it.
    episodes.sort_by_key(|(step, _)| *step);
    episodes.into_iter().map(|(_, episode)| episode)
}
