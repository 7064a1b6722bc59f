//! How far a search is: what a display shows while it runs.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::outcome::Learnt;

/// Where a search writes how far it is, for a display in another thread.
#[derive(Debug, Default)]
pub struct SearchProgress(Mutex<SearchStatus>);

/// How far a search is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchStatus {
    /// The number of states that is tried. It is the proven lower bound, too: no machine with fewer states is consistent. 0 before
    /// the search.
    pub states: usize,
    /// Since when it is tried.
    pub since: Option<Instant>,
    /// The best consistent machine so far.
    pub best: Option<Learnt>,
    /// The last number of states that was proven insufficient, and how long that took.
    pub refuted: Option<(usize, Duration)>,
}

impl SearchProgress {
    /// How far the search is now.
    pub fn status(&self) -> SearchStatus {
        self.lock().clone()
    }

    /// The search tries another number of states.
    pub(crate) fn tries(&self, states: usize) {
        let mut status = self.lock();
        status.states = states;
        status.since = Some(Instant::now());
    }

    /// A number of states is proven insufficient.
    pub(crate) fn refuted(&self, states: usize, time: Duration) {
        self.lock().refuted = Some((states, time));
    }

    /// A machine is consistent; kept if it is the best so far.
    pub(crate) fn found(&self, learnt: &Learnt) {
        let mut status = self.lock();
        let order = |learnt: &Learnt| (learnt.states, learnt.cost);
        if (status.best.as_ref()).is_none_or(|best| order(learnt) < order(best)) {
            status.best = Some(learnt.clone());
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, SearchStatus> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
