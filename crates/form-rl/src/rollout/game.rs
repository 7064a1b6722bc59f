//! The Markov game (section 3.4 of the paper): worlds, a machine beside each of them, and the agents that take turns.
//!
//! All worlds take a step together. Those whose machines are in states of the same agent are judged by its network in one
//! batch, on all cores. What agents went through is handed out when it is complete: see [`Credit`](crate::Credit).

use form_env::Worlds;
use rand::{Rng, RngExt};

use super::desk::Desk;
use super::experience::{Experience, Finished};
use super::player::{Player, Turn};
use super::rules::{Choice, Episode, GameConfig};
use crate::agents::cast::Cast;
use crate::error::size;
use crate::{Agent, Error, Network, PpoConfig, Result, greedy, sample};

/// What an action is drawn from.
pub(super) enum Draw<'a> {
    /// This many actions, all equally likely.
    Uniform(usize),
    /// What a policy says.
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

/// What was collected.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// The episodes that ended.
    pub episodes: Vec<Episode>,
    /// What there is to learn from, by agent.
    pub experience: Vec<Experience>,
}

/// The game.
///
/// ```
/// use std::sync::Arc;
/// use form_env::{GridWorlds, Maps, Split, Stream, Task, WorldOptions, Worlds, generator};
/// use form_rl::{Agent, Cast, Credit, Game, GameConfig, NetworkStyle, PpoConfig, Progress, Roles};
///
/// let task = Arc::new(Task::builtin("all-yellow")?);
/// let maps = Maps::Set(task.maps(7, Split::Training, 1)?);
/// let worlds = GridWorlds::new(task.clone(), maps, WorldOptions::default(), 4, 7)?;
///
/// // One agent for each state of the task's own machine.
/// let cast = Cast::new(task.truth().clone(), Roles::PerState, Progress::Plane, worlds.spec());
/// let (style, training) = (NetworkStyle::default(), PpoConfig { epochs: 1, ..PpoConfig::default() });
/// let mut random = generator(7, Stream::Other(0));
/// let mut agents = Vec::new();
/// for part in cast.parts() {
///     let network = style.network(&part.sight, worlds.actions().len());
///     agents.push(Agent::new(&part.name, &network, style.sequence, &training, &mut random)?);
/// }
/// let rules = GameConfig { credit: Credit::Shared, shaping: true, gamma: training.gamma };
/// let mut game = Game::new(worlds, cast, rules, 0)?;
/// let collected = game.collect(&mut agents, 8, &training, &mut random)?;
/// for (agent, experience) in agents.iter_mut().zip(collected.experience) {
///     agent.learn(experience, &training, 1, &mut random)?;
/// }
/// # Ok::<(), form_rl::Error>(())
/// ```
#[derive(Debug)]
pub struct Game<W> {
    pub(crate) worlds: W,
    pub(crate) cast: Cast,
    config: GameConfig,
    pub(crate) players: Vec<Player>,
    desks: Vec<Desk>,
    /// How many numbers the memory of an agent has.
    pub(crate) memory: usize,
}

impl<W: Worlds> Game<W> {
    /// A game at the start of the worlds' episodes, to be played by agents with so many numbers of memory.
    pub fn new(worlds: W, cast: Cast, config: GameConfig, memory: usize) -> Result<Self> {
        config.check(&worlds, &cast, memory)?;
        let mut game = Self {
            players: Vec::new(),
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
        self.players = vec![Player::new(&self.cast, self.memory); self.worlds.len()];
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

    /// Goes on with another machine, in new episodes of all worlds. What was held back is forgotten.
    pub fn recast(&mut self, cast: Cast) -> Result<()> {
        self.config.check(&self.worlds, &cast, self.memory)?;
        self.cast = cast;
        for world in 0..self.worlds.len() {
            self.worlds.start(world, self.worlds.episode(world) + 1)?;
        }
        self.begin_all();
        Ok(())
    }

    /// Takes so many random steps in every world, for what is to be observed on the way. Nobody learns from them.
    pub fn explore(&mut self, steps: usize, rng: &mut impl Rng) -> Result<Vec<Episode>> {
        let mut episodes = Vec::new();
        let count = self.worlds.actions().len();
        let nobody = vec![None; self.players.len()];
        for _ in 0..steps {
            let actions: Vec<u8> = (0..self.players.len())
                .map(|_| rng.random_range(0..count) as u8)
                .collect();
            self.advance(&actions, &nobody, &mut episodes)?;
            self.next_episodes()?;
        }
        Ok(episodes)
    }

    /// Lets the agents take so many steps in every world. What they went through is complete, see [`Credit`](crate::Credit);
    /// advantages are estimated with the γ and λ of the training.
    pub fn collect(
        &mut self,
        agents: &mut [Agent],
        steps: usize,
        training: &PpoConfig,
        rng: &mut impl Rng,
    ) -> Result<Collected> {
        let mut collected = Collected::default();
        let finished = self.gather(agents, steps, rng, &mut collected.episodes)?;
        for (agent, finished) in agents.iter_mut().zip(finished) {
            let experience = Experience::judge(agent, finished, training)?;
            collected.experience.push(experience);
        }
        Ok(collected)
    }

    /// As [`Game::collect`], up to the trajectories that are over, by agent.
    pub(super) fn gather(
        &mut self,
        agents: &mut [Agent],
        steps: usize,
        rng: &mut impl Rng,
        episodes: &mut Vec<Episode>,
    ) -> Result<Vec<Vec<Finished>>> {
        self.expect(agents.iter().map(|agent| (agent.name(), agent.network())))?;
        let sequence = agents.first().map_or(1, Agent::sequence);
        size(
            "steps in whole sequences",
            steps,
            steps / sequence * sequence,
        )?;
        for step in 0..steps {
            let (actions, acted) =
                self.decide(agents, Choice::Sample, |_, draw| draw.action(rng))?;
            for (agent, desk) in self.desks.iter().enumerate() {
                desk.keep(agent, &mut self.players, &actions, step % sequence == 0);
            }
            self.advance(&actions, &acted, episodes)?;
            self.next_episodes()?;
        }
        let mut finished: Vec<Vec<Finished>> = agents.iter().map(|_| Vec::new()).collect();
        for (world, player) in self.players.iter_mut().enumerate() {
            player.cut(&self.cast, &self.worlds, world);
            for (agent, trajectory) in player.finished.drain(..) {
                finished[agent].push(trajectory);
            }
        }
        Ok(finished)
    }

    /// Brings all worlds back to where they stood, by taking their actions again. They arrive together.
    pub(crate) fn replay(&mut self, saved: &[(u64, Vec<u8>)]) -> Result<()> {
        let longest = saved.iter().map(|(_, actions)| actions.len()).max();
        let longest = longest.unwrap_or(0);
        for turn in 0..=longest {
            for (world, (episode, actions)) in saved.iter().enumerate() {
                if turn + actions.len() == longest {
                    self.begin(world, *episode)?;
                }
            }
            if turn == longest {
                break;
            }
            // A world whose turn has not come does anything: it will be started.
            let action = |actions: &Vec<u8>| {
                (turn + actions.len())
                    .checked_sub(longest)
                    .and_then(|at| actions.get(at).copied())
            };
            let actions: Vec<Option<u8>> = saved.iter().map(|(_, all)| action(all)).collect();
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

    /// Refuses agents of these names and networks if they cannot play the parts.
    pub(crate) fn expect<'a>(
        &self,
        agents: impl ExactSizeIterator<Item = (&'a str, &'a Network)>,
    ) -> Result<()> {
        size("agents", agents.len(), self.cast.parts().len())?;
        for ((name, network), part) in agents.zip(self.cast.parts()) {
            let within = |error: Error| Error::Layer {
                layer: format!("agent `{name}`"),
                problem: error.to_string(),
            };
            let (image, vector) = (part.sight.image_len(), part.sight.vector_len());
            for (what, found, expected) in [
                ("bytes of images", network.image_len(), image),
                ("numbers of vectors", network.vector_len(), vector),
                ("actions", network.actions(), self.worlds.actions().len()),
                ("numbers of memory", network.state(), self.memory),
            ] {
                size(what, found, expected).map_err(within)?;
            }
        }
        Ok(())
    }

    /// The actions of all worlds, and who chose them. `draw` takes them from the distribution of a world, world after world: the same
    /// draws whatever the threads. Where a machine has come to its end while its world goes on, every action is equally likely.
    pub(super) fn decide(
        &mut self,
        agents: &mut [Agent],
        choice: Choice,
        mut draw: impl FnMut(usize, Draw<'_>) -> u8,
    ) -> Result<(Vec<u8>, Vec<Option<usize>>)> {
        let count = self.worlds.actions().len();
        let mut acted = vec![None; self.players.len()];
        self.desks.iter_mut().for_each(|desk| desk.worlds.clear());
        for (world, player) in self.players.iter().enumerate() {
            let agent = player.agent(&self.cast).filter(|_| !player.idle);
            if let Some(agent) = agent.filter(|_| choice != Choice::Uniform) {
                acted[world] = Some(agent);
                self.desks[agent].worlds.push(world);
            }
        }
        for (number, agent) in agents.iter_mut().enumerate() {
            let desk = &mut self.desks[number];
            if desk.worlds.is_empty() {
                desk.clear();
                continue;
            }
            desk.look(number, &self.cast, &self.worlds, &self.players);
            desk.ask(agent, &mut self.players)?;
        }
        let mut rows = vec![0; agents.len()];
        let mut actions = Vec::with_capacity(acted.len());
        for (world, (acted, player)) in acted.iter().zip(&self.players).enumerate() {
            actions.push(match *acted {
                // It stands still, whatever is done.
                None if player.idle => 0,
                None => draw(world, Draw::Uniform(count)),
                Some(agent) => {
                    let row = rows[agent];
                    rows[agent] += 1;
                    let logits = &self.desks[agent].outputs.logits[row * count..][..count];
                    match choice {
                        Choice::Greedy => greedy(logits) as u8,
                        Choice::Sample | Choice::Uniform => draw(world, Draw::Logits(logits)),
                    }
                }
            });
        }
        Ok((actions, acted))
    }

    /// One step in all worlds.
    pub(super) fn advance(
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
            let state = player.monitor.state();
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
                state,
                earned: player.earned,
                counterexample: refuted.then_some(trace),
            });
        }
        Ok(())
    }

    /// Starts an episode of a world.
    pub(super) fn begin(&mut self, world: usize, episode: u64) -> Result<()> {
        self.worlds.start(world, episode)?;
        self.players[world].begin(&self.cast, &self.worlds, world);
        Ok(())
    }

    /// Starts the next episode wherever one is over, or was cut off.
    pub(super) fn next_episodes(&mut self) -> Result<()> {
        if !self.players.iter().any(|player| player.idle) {
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
