//! The limits of a call while it runs: time, work, memory and interrupts, for the built-in solver and for external programs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::options::Limits;
use crate::outcome::{Learnt, StopReason};
use crate::progress::SearchProgress;

/// What ends a search early; checked again and again during the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budget {
    deadline: Option<Instant>,
    work: Option<u64>,
    /// How often the limits were looked at, by all parts of the call.
    looks: Arc<AtomicU64>,
    memory: Option<u64>,
    interrupt: Option<Arc<AtomicBool>>,
    /// The first limit seen, shared with all parts of the call: it stays the reason even if memory is freed in the meantime.
    seen: Arc<OnceLock<StopReason>>,
    /// Any of these ends this part of the call when set, because its answer is not needed any more.
    cancelled: Vec<Arc<AtomicBool>>,
    progress: Option<Arc<SearchProgress>>,
}

impl Budget {
    /// The budget of a call that begins now.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            // A deadline beyond the range of the clock is no limit.
            deadline: (limits.time).and_then(|time| Instant::now().checked_add(time)),
            work: limits.work,
            looks: Arc::default(),
            memory: limits.memory,
            interrupt: limits.interrupt.clone(),
            seen: Arc::default(),
            cancelled: Vec::new(),
            progress: limits.progress.clone(),
        }
    }

    /// The budget of a part of the call, which a flag ends, too. A limit of the call that it reaches is reached for the whole call.
    pub(crate) fn with_cancellation(&self, cancelled: &Arc<AtomicBool>) -> Self {
        let mut budget = self.clone();
        budget.cancelled.push(cancelled.clone());
        budget
    }

    /// Whether a flag may end the search.
    pub(crate) fn can_be_interrupted(&self) -> bool {
        self.interrupt.is_some() || !self.cancelled.is_empty()
    }

    /// Whether the work is counted: then the search must go on in the same order every time.
    fn is_counted(&self) -> bool {
        self.work.is_some()
    }

    /// Whether the call must not start threads of its own: if it must do the same whenever it is made, and in a worker of a thread pool,
    /// which must not wait for a thread that itself waits for the pool.
    pub(crate) fn one_thread(&self) -> bool {
        self.is_counted()
            || rayon::current_num_threads() == 1
            || rayon::current_thread_index().is_some()
    }

    /// How often the limits were looked at.
    pub(crate) fn looks(&self) -> u64 {
        self.looks.load(Ordering::Relaxed)
    }

    /// Where the call writes how far it is.
    pub(crate) fn progress(&self) -> Option<&SearchProgress> {
        self.progress.as_deref()
    }

    /// Shows a consistent machine.
    pub(crate) fn found(&self, learnt: &Learnt) {
        if let Some(progress) = &self.progress {
            progress.found(learnt);
        }
    }

    /// Which limit has been reached, if one has.
    pub(crate) fn exhausted(&self) -> Option<StopReason> {
        if self.seen.get().is_none()
            && let Some(reason) = self.exhausted_now()
        {
            // If another thread was first, its reason stands.
            let _ = self.seen.set(reason);
        }
        let cancelled = || is_any_set(&self.cancelled).then_some(StopReason::Interrupted);
        self.seen.get().copied().or_else(cancelled)
    }

    /// The reason of a search that ended without an answer.
    pub(crate) fn stop_reason(&self) -> StopReason {
        self.exhausted().unwrap_or(StopReason::Interrupted)
    }

    /// `None` once a limit has been reached, so that `?` leaves long work.
    pub(crate) fn check(&self) -> Option<()> {
        self.exhausted().is_none().then_some(())
    }

    fn exhausted_now(&self) -> Option<StopReason> {
        if is_any_set(self.interrupt.as_slice()) {
            Some(StopReason::Interrupted)
        } else if (self.deadline).is_some_and(|deadline| Instant::now() >= deadline) {
            Some(StopReason::Time)
        } else if self.looks.fetch_add(1, Ordering::Relaxed) >= self.work.unwrap_or(u64::MAX) {
            Some(StopReason::Work)
        } else if (self.memory)
            .is_some_and(|limit| resident_bytes().is_some_and(|used| used > limit))
        {
            Some(StopReason::Memory)
        } else {
            None
        }
    }
}

/// Sets a flag when it is dropped, also by a panic.
pub(crate) struct SetOnDrop(pub(crate) Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn is_any_set(flags: &[Arc<AtomicBool>]) -> bool {
    flags.iter().any(|flag| flag.load(Ordering::Relaxed))
}

/// The resident memory of the process, where the system reports it (Linux).
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_limit_that_a_part_reaches_is_the_reason_of_the_call() {
        let call = Budget::new(&Limits {
            time: Some(Duration::ZERO),
            ..Limits::default()
        });
        let flag = Arc::new(AtomicBool::new(true));
        let part = call.with_cancellation(&flag);
        assert_eq!(part.exhausted(), Some(StopReason::Time));
        assert_eq!(call.exhausted(), Some(StopReason::Time));
    }

    #[test]
    fn a_part_that_is_cancelled_does_not_end_the_call() {
        let call = Budget::default();
        let flag = Arc::new(AtomicBool::new(true));
        let part = call.with_cancellation(&flag);
        assert_eq!(part.exhausted(), Some(StopReason::Interrupted));
        assert_eq!(call.exhausted(), None);
    }
}
