//! The Markov game (section 3.4 of the paper): worlds, a machine beside each of them, and the agents that take turns.
//!
//! All worlds take a step together. Those whose machines are in states of the same agent are judged by its network in one
//! batch, on all cores. What agents went through is handed out when it is complete: see [`Credit`].

use form_core::Trace;
use form_env::{Outcome, Worlds};
use rand::{Rng, RngExt};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::experience::{Experience, Finished};
use super::player::{Player, Turn};
use crate::agents::cast::Cast;
use crate::{Agent, Batch, Error, Outputs, PpoConfig, Result, greedy, sample};

/// Who is rewarded for a step, and when a trajectory is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Credit {
    /// The paper's: equal shares for all agents whose states were visited in the episode. An agent that no longer acts gets its
    /// share added to the reward of its last action, so its trajectory is complete only when the episode is over.
    Shared,
    /// All of it to the agent that acts; its trajectory ends where another takes over. Nothing waits for the end of the
    /// episode. Rewards must be shaped, or only the last agent would ever earn any.
    HandOver,
}

/// The rules of the game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameConfig {
    /// Who is rewarded.
    pub credit: Credit,
    /// Whether γ Φ(u′) − Φ(u) is added to every reward.
    pub shaping: bool,
    /// The γ of the shaping: that of the training.
    pub gamma: f32,
}

/// How actions are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// With their probabilities.
    Sample,
    /// Always the most probable one.
    Greedy,
}

/// An episode that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Its world.
    pub world: usize,
    /// Its number in that world.
    pub number: u64,
    /// What was done.
    pub actions: Vec<u8>,
    /// Where the world says it stands.
    pub outcome: Outcome,
    /// All rewards, shaping included.
    pub earned: f64,
    /// What was observed, if the machine disagreed: a counterexample. The episode was cut off there.
    pub counterexample: Option<Trace>,
}

impl Episode {
    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.actions.len()
    }

    /// Whether the task was completed: the unshaped return is 1 then and 0 otherwise.
    pub fn is_success(&self) -> bool {
        self.outcome == Outcome::Goal
    }
}

/// What was collected.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// The episodes that ended.
    pub episodes: Vec<Episode>,
    /// What there is to learn from, by agent.
    pub experience: Vec<Experience>,
}

/// The worlds of one agent, and what it makes of them.
#[derive(Debug, Default)]
struct Desk {
    worlds: Vec<usize>,
    images: Vec<u8>,
    vectors: Vec<f32>,
    starts: Vec<bool>,
    memories: Vec<f32>,
    outputs: Outputs,
}

/// The game.
#[derive(Debug)]
pub struct Game<W> {
    pub(crate) worlds: W,
    pub(crate) cast: Cast,
    config: GameConfig,
    pub(crate) players: Vec<Player>,
    desks: Vec<Desk>,
    /// How many numbers the memory of an agent has.
    memory: usize,
}

impl<W: Worlds> Game<W> {
    /// A game at the start of the worlds' episodes, to be played by agents with so many numbers of memory.
    pub fn new(worlds: W, cast: Cast, config: GameConfig, memory: usize) -> Result<Self> {
        if config.credit == Credit::HandOver && !config.shaping && cast.parts().len() > 1 {
            return Err(Error::Setting {
                name: "credit",
                value: "hand-over".to_owned(),
                problem: "rewards must be shaped, or only the last agent would earn any",
            });
        }
        if memory > 0 && cast.parts().len() > 1 {
            return Err(Error::Setting {
                name: "memory",
                value: memory.to_string(),
                problem: "only a method with one agent can have one",
            });
        }
        let mut game = Self {
            players: vec![Player::new(&cast, memory); worlds.len()],
            worlds,
            desks: Vec::new(),
            cast,
            config,
            memory,
        };
        game.begin_all();
        Ok(game)
    }

    fn begin_all(&mut self) {
        for (world, player) in self.players.iter_mut().enumerate() {
            player.begin(&self.cast, &self.worlds, world);
        }
        self.desks = self.cast.parts().iter().map(|_| Desk::default()).collect();
    }

    /// The worlds.
    pub fn worlds(&self) -> &W {
        &self.worlds
    }

    /// Who plays.
    pub fn cast(&self) -> &Cast {
        &self.cast
    }

    /// Goes on with another machine, in new episodes of all worlds.
    pub fn recast(&mut self, cast: Cast) -> Result<()> {
        self.players = vec![Player::new(&cast, self.memory); self.worlds.len()];
        self.cast = cast;
        for world in 0..self.worlds.len() {
            self.worlds.start(world, self.worlds.episode(world) + 1)?;
        }
        self.begin_all();
        Ok(())
    }

    /// Takes so many random steps in every world, for what is to be observed on the way.
    pub fn explore(&mut self, steps: usize, rng: &mut impl Rng) -> Result<Vec<Episode>> {
        let mut episodes = Vec::new();
        let count = self.worlds.actions().len();
        for _ in 0..steps {
            let actions: Vec<u8> = (0..self.players.len())
                .map(|_| rng.random_range(0..count) as u8)
                .collect();
            let nobody = vec![None; actions.len()];
            self.advance(&actions, &nobody, &mut episodes)?;
            self.next_episodes()?;
        }
        Ok(episodes)
    }

    /// Lets the agents take so many steps in every world. What they went through is complete, see [`Credit`]; advantages are
    /// estimated with the γ and λ of the training.
    pub fn collect(
        &mut self,
        agents: &mut [Agent],
        steps: usize,
        training: &PpoConfig,
        rng: &mut impl Rng,
    ) -> Result<Collected> {
        self.expect(agents)?;
        let mut collected = Collected::default();
        let sequence = agents.first().map_or(1, Agent::sequence);
        for step in 0..steps {
            let (actions, acted) = self.decide(agents, Choice::Sample, rng)?;
            self.keep(&actions, step % sequence == 0);
            self.advance(&actions, &acted, &mut collected.episodes)?;
            self.next_episodes()?;
        }
        let mut finished: Vec<Vec<Finished>> = agents.iter().map(|_| Vec::new()).collect();
        for (world, player) in self.players.iter_mut().enumerate() {
            player.cut(&self.cast, &self.worlds, world);
            for (agent, trajectory) in player.finished.drain(..) {
                finished[agent].push(trajectory);
            }
        }
        for (agent, finished) in agents.iter_mut().zip(finished) {
            let experience = Experience::judge(agent, finished, training)?;
            collected.experience.push(experience);
        }
        Ok(collected)
    }

    /// Plays so many whole episodes in every world, to see how good the agents are. Nobody learns from them.
    pub fn play(
        &mut self,
        agents: &mut [Agent],
        episodes: u64,
        choice: Choice,
        rng: &mut impl Rng,
    ) -> Result<Vec<Episode>> {
        self.expect(agents)?;
        let mut played = Vec::new();
        let first: Vec<u64> = (0..self.worlds.len())
            .map(|world| self.worlds.episode(world))
            .collect();
        let mut running = self.worlds.len();
        while running > 0 {
            let (actions, acted) = self.decide(agents, choice, rng)?;
            let from = played.len();
            self.advance(&actions, &acted, &mut played)?;
            for episode in &played[from..] {
                let world = episode.world;
                if episode.number + 1 < first[world] + episodes {
                    self.worlds.start(world, episode.number + 1)?;
                    self.players[world].begin(&self.cast, &self.worlds, world);
                } else {
                    running -= 1;
                }
            }
        }
        Ok(played)
    }

    /// Brings all worlds back to where they stood, by taking their actions again. They arrive together.
    pub(crate) fn replay(&mut self, saved: &[(u64, Vec<u8>)]) -> Result<()> {
        let longest = saved.iter().map(|(_, actions)| actions.len()).max();
        let longest = longest.unwrap_or(0);
        for turn in 0..=longest {
            for (world, (episode, actions)) in saved.iter().enumerate() {
                if turn + actions.len() == longest {
                    self.worlds.start(world, *episode)?;
                    self.players[world].begin(&self.cast, &self.worlds, world);
                }
            }
            // A world whose turn has not come does anything: it will be started.
            let action = |actions: &Vec<u8>| {
                (turn + actions.len())
                    .checked_sub(longest)
                    .and_then(|at| actions.get(at).copied())
            };
            let actions: Vec<Option<u8>> = saved.iter().map(|(_, all)| action(all)).collect();
            if turn == longest {
                break;
            }
            let all: Vec<u8> = actions.iter().map(|action| action.unwrap_or(0)).collect();
            self.worlds.step(&all)?;
            for (world, player) in self.players.iter_mut().enumerate() {
                if let Some(action) = actions[world] {
                    player.actions.push(action);
                    player.advance(&self.cast, &self.config, &self.worlds, world, None);
                }
            }
        }
        Ok(())
    }

    fn expect(&self, agents: &[Agent]) -> Result<()> {
        let size = |what, found, expected| match found == expected {
            true => Ok(()),
            false => Err(Error::Size {
                what,
                found,
                expected,
            }),
        };
        size("agents", agents.len(), self.cast.parts().len())?;
        for (agent, part) in agents.iter().zip(self.cast.parts()) {
            let (network, sight) = (agent.network(), &part.sight);
            size(
                "bytes of the image that the agent expects",
                network.image_len(),
                sight.image_len(),
            )?;
            size(
                "numbers that the agent expects",
                network.vector_len(),
                sight.vector_len(),
            )?;
            size("actions", network.actions(), self.worlds.actions().len())?;
            size("numbers of memory", network.state(), self.memory)?;
        }
        Ok(())
    }

    /// The actions of all worlds, and who chose them. A world that stands still, or whose machine has come to its end while
    /// the world goes on, is nobody's: its action is drawn.
    fn decide(
        &mut self,
        agents: &mut [Agent],
        choice: Choice,
        rng: &mut impl Rng,
    ) -> Result<(Vec<u8>, Vec<Option<usize>>)> {
        let count = self.worlds.actions().len();
        let mut acted = vec![None; self.players.len()];
        self.desks.iter_mut().for_each(|desk| desk.worlds.clear());
        for (world, player) in self.players.iter().enumerate() {
            if let Some(agent) = player.agent(&self.cast).filter(|_| !player.idle) {
                acted[world] = Some(agent);
                self.desks[agent].worlds.push(world);
            }
        }
        for (number, agent) in agents.iter_mut().enumerate() {
            self.look(number);
            let desk = &mut self.desks[number];
            let batch = Batch {
                images: &desk.images,
                vectors: &desk.vectors,
                select: None,
                steps: 1,
                starts: &desk.starts,
                states: &desk.memories,
            };
            agent.evaluate(&batch, &mut desk.outputs)?;
            if self.memory > 0 {
                let memories = desk.outputs.states.chunks_exact(self.memory);
                for (world, memory) in desk.worlds.iter().zip(memories) {
                    self.players[*world].memory.copy_from_slice(memory);
                }
            }
        }
        // One generator, world after world: the same draws whatever the threads.
        let mut rows = vec![0; agents.len()];
        let actions = (acted.iter())
            .map(|acted| match *acted {
                None => rng.random_range(0..count) as u8,
                Some(agent) => {
                    let row = rows[agent];
                    rows[agent] += 1;
                    let logits = &self.desks[agent].outputs.logits[row * count..][..count];
                    match choice {
                        Choice::Sample => sample(logits, rng) as u8,
                        Choice::Greedy => greedy(logits) as u8,
                    }
                }
            })
            .collect();
        Ok((actions, acted))
    }

    /// Writes down what an agent sees of its worlds.
    fn look(&mut self, agent: usize) {
        let (desk, sight) = (&mut self.desks[agent], &self.cast.parts()[agent].sight);
        let (bytes, numbers) = (sight.image_len(), sight.vector_len());
        desk.images.resize(desk.worlds.len() * bytes, 0);
        desk.vectors.resize(desk.worlds.len() * numbers, 0.0);
        let (players, worlds, machine) = (&self.players, &self.worlds, self.cast.machine());
        let look = |world: &usize, image: &mut [u8], vector: &mut [f32]| {
            let moment = players[*world].moment();
            sight.write(worlds, *world, machine, moment, image, vector);
        };
        // What has no length cannot be cut into pieces by it.
        let seats = desk.worlds.par_iter().with_min_len(32);
        match (bytes, numbers) {
            (_, 0) => seats
                .zip(desk.images.par_chunks_exact_mut(bytes.max(1)))
                .for_each(|(world, image)| look(world, image, &mut [])),
            (0, _) => seats
                .zip(desk.vectors.par_chunks_exact_mut(numbers))
                .for_each(|(world, vector)| look(world, &mut [], vector)),
            _ => seats
                .zip(desk.images.par_chunks_exact_mut(bytes))
                .zip(desk.vectors.par_chunks_exact_mut(numbers))
                .for_each(|((world, image), vector)| look(world, image, vector)),
        }
        if self.memory > 0 {
            desk.starts.clear();
            desk.memories.clear();
            for world in &desk.worlds {
                let player = &players[*world];
                desk.starts.push(player.actions.is_empty());
                desk.memories.extend_from_slice(&player.memory);
            }
        }
    }

    /// Puts the steps that are about to be taken into the parts of those who take them.
    fn keep(&mut self, actions: &[u8], sequence_begins: bool) {
        let (count, memory) = (self.worlds.actions().len(), self.memory);
        for (agent, desk) in self.desks.iter().enumerate() {
            let sight = &self.cast.parts()[agent].sight;
            let (bytes, numbers) = (sight.image_len(), sight.vector_len());
            for (row, world) in desk.worlds.iter().enumerate() {
                let player = &mut self.players[*world];
                let start = player.actions.is_empty();
                let part = &mut player.parts[agent];
                part.visited = true;
                part.after = None;
                let steps = &mut part.steps;
                (steps.images).extend_from_slice(&desk.images[row * bytes..][..bytes]);
                (steps.vectors).extend_from_slice(&desk.vectors[row * numbers..][..numbers]);
                steps.actions.push(actions[*world]);
                (steps.logits).extend_from_slice(&desk.outputs.logits[row * count..][..count]);
                steps.values.push(desk.outputs.values[row]);
                steps.rewards.push(0.0);
                steps.starts.push(start);
                if sequence_begins {
                    (steps.memories).extend_from_slice(&desk.memories[row * memory..][..memory]);
                }
            }
        }
    }

    /// One step in all worlds.
    fn advance(
        &mut self,
        actions: &[u8],
        acted: &[Option<usize>],
        episodes: &mut Vec<Episode>,
    ) -> Result<()> {
        self.worlds.step(actions)?;
        for (world, player) in self.players.iter_mut().enumerate() {
            if player.idle {
                continue;
            }
            player.actions.push(actions[world]);
            let (cast, worlds) = (&self.cast, &self.worlds);
            let turn = player.advance(cast, &self.config, worlds, world, acted[world]);
            let (outcome, refuted) = match turn {
                Turn::GoesOn => continue,
                Turn::Over(outcome) => (outcome, false),
                Turn::Refuted(outcome) => (outcome, true),
            };
            player.idle = true;
            let trace = player.recorder.finish(outcome.kind());
            episodes.push(Episode {
                world,
                number: worlds.episode(world),
                actions: std::mem::take(&mut player.actions),
                outcome,
                earned: player.earned,
                counterexample: refuted.then_some(trace),
            });
        }
        Ok(())
    }

    /// Starts the next episode wherever one is over, or was cut off.
    fn next_episodes(&mut self) -> Result<()> {
        let idle = |player: &Player| player.idle;
        if !self.players.iter().any(idle) {
            return Ok(());
        }
        for world in 0..self.players.len() {
            if self.players[world].idle && !self.worlds.outcome(world).is_over() {
                self.worlds.start(world, self.worlds.episode(world) + 1)?;
            }
        }
        self.worlds.next_episodes()?;
        for (world, player) in self.players.iter_mut().enumerate() {
            if player.idle {
                player.begin(&self.cast, &self.worlds, world);
            }
        }
        Ok(())
    }
}
