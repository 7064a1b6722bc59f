//! Evaluation: playing whole episodes without learning.
//!
//! The actions of an episode are drawn from a random stream of its own: an episode depends on the seed, its world, its number and
//! the policies, and not on the other episodes. So two policies are compared on the same draws (common random numbers), and single
//! episodes of a large evaluation can be replayed.

use form_env::{Random, Stream, Worlds, generator};

use super::game::Game;
use super::game_config::{Choice, Episode};
use crate::{Agent, Result};

/// The episodes to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayConfig {
    /// The number of episodes per world.
    pub episodes: u64,
    /// How actions are chosen.
    pub choice: Choice,
    /// The seed that they are drawn with.
    pub seed: u64,
}

/// The progress of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayProgress {
    /// Steps taken in all worlds together, in episodes that count.
    pub steps: u64,
    /// Episodes that have ended.
    pub episodes: usize,
    /// Episodes in total.
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
    /// Plays whole episodes in every world. Episodes that are running are abandoned, so training needs a game of its own; this one
    /// is left at the start of new episodes.
    pub fn play(&mut self, agents: &mut [Agent], config: PlayConfig) -> Result<Vec<Episode>> {
        self.play_while(agents, config, |_| true)
    }

    /// [`Game::play`], while `go_on` returns true, which is called before every step. The result includes episodes that are still
    /// [running](form_env::EpisodeOutcome::Running) when it returns false; they are no counterexamples.
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
            self.check_agents(agents.iter().map(|agent| (agent.name(), agent.network())))?;
        }
        for slot in &mut self.slots {
            slot.idle |= !slot.actions.is_empty();
        }
        self.next_episodes()?;
        let mut played = Vec::new();
        let mut left = vec![episodes; self.slots.len()];
        let no_agents = vec![None; self.slots.len()];
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
            let (actions, _) = self.choose_actions(agents, choice, |world, draw| {
                draw.action(&mut streams[world])
            })?;
            let from = played.len();
            self.step(&actions, &no_agents, &mut played)?;
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
        for (world, left) in left.iter().enumerate() {
            if *left > 0 && !self.slots[world].actions.is_empty() {
                played.push(self.give_up(world));
            }
        }
        self.next_episodes()?;
        Ok(played)
    }
}
