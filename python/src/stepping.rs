//! A step of many worlds: what Gymnasium's vector environments tell of it, and when episodes begin anew.

use form_core::AtomId;
use form_env::EpisodeOutcome;

use crate::seen::{Numbered, Seen};

/// How the episodes of the worlds stand after a step, an entry per world.
pub struct Ends<'a> {
    pub rewards: &'a mut [f64],
    pub terminated: &'a mut [bool],
    pub truncated: &'a mut [bool],
}

/// When the next episode of a world that is over begins: in place of the next action, at once, which leaves what was seen last in these
/// arrays, or never.
pub enum Begin<'a> {
    Next,
    Same(Seen<'a>, &'a mut [bool]),
    Never,
}

/// Takes an action in every world, and writes what came of it.
pub fn step(
    worlds: &mut impl Numbered,
    actions: &[u8],
    ids: &[AtomId],
    mut seen: Seen<'_>,
    ends: Ends<'_>,
    labels: &mut [bool],
    begin: Begin<'_>,
) -> form_env::Result<()> {
    let n = worlds.len();
    let over: Vec<usize> = (0..n).filter(|i| worlds.outcome(*i).is_over()).collect();
    worlds.step(actions)?;
    if matches!(begin, Begin::Next) && !over.is_empty() {
        start_next(worlds, &over)?;
    }
    for world in 0..n {
        let outcome = worlds.outcome(world);
        ends.rewards[world] = f64::from(u8::from(outcome == EpisodeOutcome::Goal));
        ends.terminated[world] = matches!(outcome, EpisodeOutcome::Goal | EpisodeOutcome::DeadEnd);
        ends.truncated[world] = outcome == EpisodeOutcome::OutOfTime;
    }
    // A world that stands still since its end has had its reward.
    for world in over {
        ends.rewards[world] = 0.0;
    }
    if let Begin::Same(mut last, last_labels) = begin {
        for world in (0..n).filter(|i| ends.terminated[*i] || ends.truncated[*i]) {
            last.write(worlds, world);
            write_labels(worlds, ids, world, last_labels);
        }
        worlds.next_episodes()?;
    }
    for world in 0..n {
        write_labels(worlds, ids, world, labels);
    }
    seen.write_all(worlds)
}

/// Starts the next episode in these worlds.
pub fn start_next(worlds: &mut impl Numbered, which: &[usize]) -> form_env::Result<()> {
    let episodes = (which.iter())
        .map(|world| (*world, worlds.episode(*world) + 1))
        .collect();
    worlds.start_all(episodes)
}

/// Writes the labels of a world: one boolean per atom.
pub fn write_labels(worlds: &impl Numbered, ids: &[AtomId], world: usize, labels: &mut [bool]) {
    let row = &mut labels[world * ids.len()..][..ids.len()];
    row.fill(false);
    let there = worlds.labels(world);
    if !there.is_empty() {
        for id in there.iter() {
            row[id.index()] = true;
        }
    }
}
