//! Traces of random walks in the worlds of a task: data to learn machines from, without a policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use form_core::{Kind, Recorder, Trace};
use rand::RngExt;

use super::grid_worlds::GridWorlds;
use super::worlds::Worlds;
use crate::env::random::{Stream, generator};
use crate::error::Result;
use crate::tasks::maps::{Maps, Split};
use crate::tasks::task::Task;
use crate::tasks::world::{Actions, WorldOptions};

/// Worlds that are walked at once.
const WORLDS: usize = 64;

/// Which random walks to record. Every episode has its own training map.
#[derive(Clone, Copy, Debug)]
pub struct RandomWalks {
    /// Traces of each kind: goal, incomplete, and dead-end where the task can fail.
    pub each: usize,
    /// The seed of maps and walks.
    pub seed: u64,
    /// The maximum number of episodes.
    pub max_episodes: u64,
}

/// The traces of random walks.
#[derive(Clone, Debug)]
pub struct RecordedWalks {
    /// The traces of each kind in the order in which their episodes ended, at most as many as were asked for.
    pub traces: BTreeMap<Kind, Vec<Trace>>,
    /// The number of episodes.
    pub episodes: u64,
}

impl RandomWalks {
    /// Walks until there are enough traces, the episodes are used up, or `stop` returns true.
    ///
    /// ```
    /// use form_env::{RandomWalks, Task};
    /// let task = std::sync::Arc::new(Task::builtin("all-yellow")?);
    /// let walks = RandomWalks { each: 5, seed: 7, max_episodes: 1000 };
    /// let recorded = walks.record(&task, || false)?;
    /// assert!(recorded.traces.values().all(|traces| traces.len() == 5));
    /// # Ok::<(), form_env::Error>(())
    /// ```
    pub fn record(&self, task: &Arc<Task>, stop: impl Fn() -> bool) -> Result<RecordedWalks> {
        self.record_until(task, &stop)
    }

    /// Not generic: it is compiled here, and so optimised as worlds are, not as the crate that calls it.
    fn record_until(&self, task: &Arc<Task>, stop: &dyn Fn() -> bool) -> Result<RecordedWalks> {
        let options = WorldOptions {
            actions: Actions::Moves,
            ..WorldOptions::default()
        };
        let maps = Maps::Fresh(Split::Training);
        let mut worlds = GridWorlds::new(task.clone(), maps, options, WORLDS, self.seed)?;
        let can_fail = task.truth().machine().reject().is_some();
        let mut recorded = RecordedWalks {
            traces: (Kind::ALL.into_iter())
                .filter(|kind| can_fail || *kind != Kind::DeadEnd)
                .map(|kind| (kind, Vec::new()))
                .collect(),
            episodes: 0,
        };
        let mut random = generator(self.seed, Stream::Other(0));
        let mut recorders = vec![Recorder::with_mode(task.step_mode()); WORLDS];
        let mut begins = [true; WORLDS];
        let mut actions = [0; WORLDS];
        while recorded.episodes < self.max_episodes && !recorded.has(self.each) && !stop() {
            // The observation at the start of an episode belongs to its trace.
            for (world, recorder) in recorders.iter_mut().enumerate() {
                if std::mem::take(&mut begins[world]) {
                    let own = worlds.own_signature(world).cloned();
                    *recorder = Recorder::with_mode(task.step_mode()).within(own);
                    recorder.observe(worlds.labels(world));
                }
            }
            for action in &mut actions {
                *action = random.random_range(0..worlds.actions().len() as u8);
            }
            worlds.step(&actions)?;
            for (world, recorder) in recorders.iter_mut().enumerate() {
                recorder.observe(worlds.labels(world));
                let outcome = worlds.outcome(world);
                if !outcome.is_over() || recorded.episodes == self.max_episodes {
                    continue;
                }
                recorded.episodes += 1;
                begins[world] = true;
                let trace = recorder.finish(outcome.kind());
                let traces = recorded.traces.entry(outcome.kind()).or_default();
                if traces.len() < self.each {
                    traces.push(trace);
                }
            }
            worlds.next_episodes()?;
        }
        Ok(recorded)
    }
}

impl RecordedWalks {
    /// Whether there are `each` traces of every kind.
    pub fn has(&self, each: usize) -> bool {
        self.traces.values().all(|traces| traces.len() >= each)
    }
}
