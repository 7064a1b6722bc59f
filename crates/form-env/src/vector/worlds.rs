//! The interface of many worlds that are stepped together.

use std::sync::Arc;

use form_core::{AtomId, AtomSet, Signature, StepMode};
use rayon::prelude::*;

use crate::env::spec::{Cell, EpisodeOutcome, Spec};
use crate::error::{Error, Result};
use crate::grid::pose::Direction;
use crate::plan::label_map::LabelMap;

/// Many worlds of one environment, stepped together on all threads.
///
/// The state of a world depends only on the seed, the number of the world, the number of the episode and the actions: not on
/// threads or on other worlds. So a world is restored by [starting](Self::start) its episode and replaying its actions.
///
/// A world whose episode is over keeps its last observation until [`next_episodes`](Self::next_episodes) or [`start`](Self::start)
/// begins another episode.
#[allow(clippy::len_without_is_empty, reason = "there is at least one world")]
pub trait Worlds: Send + Sync {
    /// The number of worlds, at least one.
    fn len(&self) -> usize;

    /// All atoms that can ever be among the labels.
    fn signature(&self) -> &Signature;

    /// The atoms that can be among the labels of a world's episode, if these are not all of the signature: see
    /// [`Environment::own_signature`](crate::Environment::own_signature).
    fn own_signature(&self, world: usize) -> Option<&Arc<AtomSet>> {
        let _ = world;
        None
    }

    /// The atoms that can be among the labels of every episode, if episodes have different objects.
    fn shared_signature(&self) -> Option<&Arc<AtomSet>> {
        None
    }

    /// The shape of observations.
    fn spec(&self) -> &Spec;

    /// The names of the actions; an action is a position in this list.
    fn actions(&self) -> &[String];

    /// Takes one action in every world. A wrong number of actions, or one that does not exist, changes nothing.
    fn step(&mut self, actions: &[u8]) -> Result<()>;

    /// The outcome of a world's episode.
    fn outcome(&self, world: usize) -> EpisodeOutcome;

    /// The atoms that the last step of a world, or the start of its episode, made true.
    fn labels(&self, world: usize) -> &AtomSet;

    /// Which steps machines and traces of the worlds have: every change of the labels, or every step.
    fn step_mode(&self) -> StepMode {
        StepMode::Changes
    }

    /// Writes the observation of one world: [`Spec::planes_len`] bytes and [`Spec::vector_len`] numbers.
    fn observe(&self, world: usize, planes: &mut [u8], vector: &mut [f32]);

    /// The cell of the planes that shows the object of an atom in a world, if the environment knows it.
    fn cell_of(&self, world: usize, atom: AtomId) -> Option<Cell>;

    /// Where the labels of a world are, if it is a room that can place its atoms.
    fn label_map(&self, world: usize) -> Option<LabelMap> {
        let _ = world;
        None
    }

    /// Where the agent of a world stands and looks, if the world is such a room.
    fn pose(&self, world: usize) -> Option<(Cell, Direction)> {
        let _ = world;
        None
    }

    /// The number of the episode that a world is in, from 0.
    fn episode(&self, world: usize) -> u64;

    /// Starts this episode of a world, and abandons the current one.
    fn start(&mut self, world: usize, episode: u64) -> Result<()>;

    /// Starts these episodes of these worlds, as [`start`](Self::start) does one.
    fn start_all(&mut self, episodes: Vec<(usize, u64)>) -> Result<()> {
        (episodes.into_iter()).try_for_each(|(world, episode)| self.start(world, episode))
    }

    /// Starts the next episode in every world whose episode is over; returns the number of these worlds.
    fn next_episodes(&mut self) -> Result<usize> {
        let over: Vec<(usize, u64)> = (0..self.len())
            .filter(|world| self.outcome(*world).is_over())
            .map(|world| (world, self.episode(world) + 1))
            .collect();
        let count = over.len();
        self.start_all(over)?;
        Ok(count)
    }

    /// Takes the worlds apart into at most this many groups of consecutive worlds, in order, each of which steps on its own, with
    /// the same results. Until they are [joined](Self::join) again, none is left here. Nothing if they cannot be taken apart.
    fn split(&mut self, most: usize) -> Vec<Self>
    where
        Self: Sized,
    {
        let _ = most;
        Vec::new()
    }

    /// Takes back the groups that [`split`](Self::split) returned, in the same order.
    fn join(&mut self, groups: Vec<Self>)
    where
        Self: Sized,
    {
        let _ = groups;
    }

    /// Writes the observations of all worlds, one after the other.
    fn observe_all(&self, planes: &mut [u8], vectors: &mut [f32]) -> Result<()> {
        let (bytes, numbers) = (self.spec().planes_len(), self.spec().vector_len());
        expect("bytes of planes", self.len() * bytes, planes.len())?;
        expect("numbers of vectors", self.len() * numbers, vectors.len())?;
        // An empty array cannot be cut into chunks.
        if bytes == 0 {
            let vectors = vectors.par_chunks_exact_mut(numbers.max(1)).enumerate();
            let vectors = vectors.with_min_len(AT_ONCE);
            vectors.for_each(|(world, vector)| self.observe(world, &mut [], vector));
        } else if numbers == 0 {
            let planes = planes.par_chunks_exact_mut(bytes).enumerate();
            let planes = planes.with_min_len(AT_ONCE);
            planes.for_each(|(world, planes)| self.observe(world, planes, &mut []));
        } else {
            let vectors = vectors.par_chunks_exact_mut(numbers);
            let both = planes.par_chunks_exact_mut(bytes).zip(vectors).enumerate();
            let both = both.with_min_len(AT_ONCE);
            both.for_each(|(world, (planes, vector))| self.observe(world, planes, vector));
        }
        Ok(())
    }
}

/// The minimum number of worlds per task of the thread pool.
pub(crate) const AT_ONCE: usize = 256;

/// The sizes of at most this many groups of a number of things, as even as possible and none of them empty.
pub(crate) fn shares(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let groups = most.min(count);
    (0..groups).map(move |group| (group + 1) * count / groups - group * count / groups)
}

/// Checks the actions of one step.
pub(crate) fn check_actions(actions: &[u8], worlds: usize, count: usize) -> Result<()> {
    expect("actions, one per world", worlds, actions.len())?;
    // Without an early exit, which the compiler vectorises.
    let largest = actions
        .iter()
        .fold(0, |largest, action| largest.max(*action));
    if usize::from(largest) >= count {
        return Err(Error::NoSuchAction {
            action: usize::from(largest),
            actions: count,
        });
    }
    Ok(())
}

pub(crate) fn expect(what: &'static str, expected: usize, given: usize) -> Result<()> {
    if expected == given {
        Ok(())
    } else {
        Err(Error::WrongNumber {
            what,
            expected,
            given,
        })
    }
}
