//! The limits of a call while it runs: time, memory and interrupts, for the built-in solver and for external programs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::options::Limits;
use crate::outcome::StopReason;

/// What ends a search early; checked again and again during the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budget {
    deadline: Option<Instant>,
    memory: Option<u64>,
    /// Any of these ends the search when set.
    interrupts: Vec<Arc<AtomicBool>>,
    /// The first reason seen: it stays the reason even if memory is freed in the meantime.
    seen: Arc<OnceLock<StopReason>>,
}

impl Budget {
    /// The budget of a call that begins now.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            // A deadline beyond the range of the clock is no limit.
            deadline: (limits.time).and_then(|time| Instant::now().checked_add(time)),
            memory: limits.memory,
            interrupts: limits.interrupt.iter().cloned().collect(),
            seen: Arc::default(),
        }
    }

    /// The same budget with a further interrupt.
    pub(crate) fn with_interrupt(&self, interrupt: &Arc<AtomicBool>) -> Self {
        let mut budget = self.clone();
        budget.seen = Arc::default();
        budget.interrupts.push(interrupt.clone());
        budget
    }

    /// Whether an interrupt may end the search.
    pub(crate) fn can_be_interrupted(&self) -> bool {
        !self.interrupts.is_empty()
    }

    /// Which limit has been reached, if one has.
    pub(crate) fn exhausted(&self) -> Option<StopReason> {
        if self.seen.get().is_none()
            && let Some(reason) = self.exhausted_now()
        {
            // If another thread was first, its reason stands.
            let _ = self.seen.set(reason);
        }
        self.seen.get().copied()
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
        let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        if self.interrupts.iter().any(is_set) {
            Some(StopReason::Interrupted)
        } else if (self.deadline).is_some_and(|deadline| Instant::now() >= deadline) {
            Some(StopReason::Time)
        } else if (self.memory)
            .is_some_and(|limit| resident_bytes().is_some_and(|used| used > limit))
        {
            Some(StopReason::Memory)
        } else {
            None
        }
    }
}

/// The resident memory of the process, where the system reports it (Linux).
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}
