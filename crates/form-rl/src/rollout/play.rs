//! Evaluation: playing whole episodes without learning.
//!
//! The actions of an episode are drawn from a random stream of its own: an episode depends on the seed, its world, its number and
//! the policies, and not on the other episodes. So two policies are compared on the same draws (common random numbers), and single
//! episodes of a large evaluation can be replayed.

use std::sync::Mutex;

use form_env::{Random, Stream, Worlds, generator};

use super::game::{Game, in_order};
use super::game_config::{Choice, Episode};
use super::part::Part;
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

    /// [`Game::play`], while `go_on` returns true, which is called before every step of each part of the worlds. The result includes
    /// episodes that are still [running](form_env::EpisodeOutcome::Running) when it returns false; they are no counterexamples.
    pub fn play_while(
        &mut self,
        agents: &mut [Agent],
        config: PlayConfig,
        go_on: impl FnMut(PlayProgress) -> bool + Send,
    ) -> Result<Vec<Episode>> {
        // Random play needs no agents.
        if config.choice != Choice::Uniform || !agents.is_empty() {
            self.check_agents(agents.iter().map(|agent| (agent.name(), agent.network())))?;
        }
        let episodes = usize::try_from(config.episodes).unwrap_or(usize::MAX);
        let shared = Mutex::new(SharedProgress {
            progress: PlayProgress {
                steps: 0,
                episodes: 0,
                of: self.slots.len().saturating_mul(episodes),
            },
            go_on,
            stopped: false,
        });
        let played = self.in_parts(agents, |part| play_part(part, config, &shared))?;
        Ok(in_order(played).collect())
    }
}

/// What the parts tell of their progress, and whether they go on.
struct SharedProgress<F> {
    progress: PlayProgress,
    go_on: F,
    stopped: bool,
}

impl<F: FnMut(PlayProgress) -> bool> SharedProgress<F> {
    /// Whether a part goes on with this number of steps, after it has ended some episodes.
    fn goes_on(shared: &Mutex<Self>, steps: usize, ended: usize) -> bool {
        // Only a panic in `go_on` poisons it, and that ends the program's work here, too.
        let Ok(mut shared) = shared.lock() else {
            return false;
        };
        shared.progress.episodes += ended;
        let progress = shared.progress;
        shared.stopped = shared.stopped || steps > 0 && !(shared.go_on)(progress);
        if !shared.stopped {
            shared.progress.steps += steps as u64;
        }
        !shared.stopped
    }
}

/// Plays the episodes of a part; with each of them, the step that it ended with.
fn play_part<W: Worlds, F: FnMut(PlayProgress) -> bool>(
    part: &mut Part<'_, W>,
    config: PlayConfig,
    shared: &Mutex<SharedProgress<F>>,
) -> Result<Vec<(usize, Episode)>> {
    let PlayConfig {
        episodes,
        choice,
        seed,
    } = config;
    for slot in part.slots.iter_mut() {
        slot.idle |= !slot.actions.is_empty();
    }
    part.next_episodes()?;
    let (mut played, first) = (Vec::new(), part.first);
    let mut left = vec![episodes; part.slots.len()];
    let no_agents = vec![None; part.slots.len()];
    let mut streams: Vec<Random> = (0..left.len())
        .map(|world| actions_of(seed, first + world, part.worlds.episode(world)))
        .collect();
    let mut running = if episodes > 0 { left.len() } else { 0 };
    let (mut step, mut ended) = (0, 0);
    while SharedProgress::goes_on(shared, running, ended) && running > 0 {
        let (actions, _) =
            part.choose_actions(choice, |world, draw| draw.action(&mut streams[world]))?;
        let from = played.len();
        part.step(&actions, &no_agents, |one| played.push((step, one)))?;
        for (_, episode) in &played[from..] {
            let world = episode.world - first;
            left[world] -= 1;
            match left[world] {
                0 => running -= 1,
                _ => {
                    part.begin(world, episode.number + 1)?;
                    streams[world] = actions_of(seed, episode.world, episode.number + 1);
                }
            }
        }
        (step, ended) = (step + 1, played.len() - from);
    }
    for (world, left) in left.iter().enumerate() {
        if *left > 0 && !part.slots[world].actions.is_empty() {
            played.push((usize::MAX, part.give_up(world)));
        }
    }
    part.next_episodes()?;
    Ok(played)
}
