//! Playing whole episodes, to see how good agents are. Nobody learns from them.
//!
//! The actions of an episode are drawn from a stream of its own: what happens in it depends on the seed, its world, its number and
//! the policies, and not on the other episodes that are played beside it. So two policies are compared on the same draws (common
//! random numbers), and a few episodes of a large evaluation can be played again by themselves.

use form_env::{Random, Stream, Worlds, generator};

use super::game::Game;
use super::rules::{Choice, Episode};
use crate::{Agent, Result};

/// Which episodes are played, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayConfig {
    /// How many in every world.
    pub episodes: u64,
    /// How actions are chosen.
    pub choice: Choice,
    /// What they are drawn from.
    pub seed: u64,
}

/// How far playing has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayProgress {
    /// Steps taken in all worlds together, in episodes that count.
    pub steps: u64,
    /// Episodes that are over.
    pub episodes: usize,
    /// Episodes in all.
    pub of: usize,
}

/// The stream of the actions of an episode; worlds and episodes have as many bits as in [`Stream::Episode`].
fn actions_of(seed: u64, world: usize, episode: u64) -> Random {
    generator(
        seed,
        Stream::Other((world as u64) << 40 | episode & ((1 << 40) - 1)),
    )
}

impl<W: Worlds> Game<W> {
    /// Plays whole episodes in every world. What was going on before is broken off, so training has a game of its own; this one is
    /// left at the start of new episodes.
    pub fn play(&mut self, agents: &mut [Agent], config: PlayConfig) -> Result<Vec<Episode>> {
        self.play_while(agents, config, |_| true)
    }

    /// The same, as long as `go_on` says so, which is asked before every step. Episodes that were still going on then are among those
    /// returned: they are [running](form_env::Outcome::Running) and no counterexamples.
    pub fn play_while(
        &mut self,
        agents: &mut [Agent],
        config: PlayConfig,
        mut go_on: impl FnMut(PlayProgress) -> bool,
    ) -> Result<Vec<Episode>> {
        let PlayConfig {
            episodes,
            choice,
            seed,
        } = config;
        // Random play needs no agents.
        if choice != Choice::Uniform || !agents.is_empty() {
            self.expect(agents.iter().map(|agent| (agent.name(), agent.network())))?;
        }
        for player in &mut self.players {
            player.idle |= !player.actions.is_empty();
        }
        self.next_episodes()?;
        let mut played = Vec::new();
        let mut left = vec![episodes; self.players.len()];
        let nobody = vec![None; self.players.len()];
        let mut streams: Vec<Random> = (0..left.len())
            .map(|world| actions_of(seed, world, self.worlds.episode(world)))
            .collect();
        let mut progress = PlayProgress {
            steps: 0,
            episodes: 0,
            of: left.len() * usize::try_from(episodes).unwrap_or(usize::MAX),
        };
        let mut running = if episodes > 0 { left.len() } else { 0 };
        while running > 0 && go_on(progress) {
            let (actions, _) = self.decide(agents, choice, |world, draw| {
                draw.action(&mut streams[world])
            })?;
            let from = played.len();
            self.advance(&actions, &nobody, &mut played)?;
            progress.steps += running as u64;
            for episode in &played[from..] {
                let world = episode.world;
                left[world] -= 1;
                match left[world] {
                    0 => running -= 1,
                    _ => {
                        self.begin(world, episode.number + 1)?;
                        streams[world] = actions_of(seed, world, episode.number + 1);
                    }
                }
            }
            progress.episodes = played.len();
        }
        for (world, player) in self.players.iter_mut().enumerate() {
            if left[world] > 0 && !player.actions.is_empty() {
                player.idle = true;
                played.push(Episode {
                    world,
                    number: self.worlds.episode(world),
                    actions: std::mem::take(&mut player.actions),
                    outcome: self.worlds.outcome(world),
                    state: player.monitor.state(),
                    earned: player.earned,
                    counterexample: None,
                });
            }
        }
        self.next_episodes()?;
        Ok(played)
    }
}
