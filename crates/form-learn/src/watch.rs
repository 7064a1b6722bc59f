//! Limits in force: what ends a search early, with the built-in solver or another program.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::outcome::StopReason;
use crate::problem::Limits;

/// What ends a search early; asked again and again while the work goes on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    pub(crate) deadline: Option<Instant>,
    pub(crate) memory: Option<u64>,
    /// Any of these ends it when set.
    pub(crate) interrupts: Vec<Arc<AtomicBool>>,
    /// The first reason seen, so that memory given back in the meantime does not make it another one.
    seen: Arc<OnceLock<StopReason>>,
}

impl Watch {
    /// The limits of a call that begins now.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            // A time too long to be told is no limit.
            deadline: (limits.time).and_then(|time| Instant::now().checked_add(time)),
            memory: limits.memory,
            interrupts: limits.interrupt.iter().cloned().collect(),
            seen: Arc::default(),
        }
    }

    /// The same, and one more that ends it when set.
    pub(crate) fn and(&self, interrupt: &Arc<AtomicBool>) -> Self {
        let mut watch = self.clone();
        watch.seen = Arc::default();
        watch.interrupts.push(interrupt.clone());
        watch
    }

    /// Whether somebody may want to end it.
    pub(crate) fn can_be_interrupted(&self) -> bool {
        !self.interrupts.is_empty()
    }

    /// Why the search should end now, if it should.
    pub(crate) fn reason(&self) -> Option<StopReason> {
        if self.seen.get().is_none()
            && let Some(reason) = self.reason_now()
        {
            // Another thread's reason may have come first, and is as good.
            let _ = self.seen.set(reason);
        }
        self.seen.get().copied()
    }

    /// Something while the search need not end, so that `?` leaves what takes long.
    pub(crate) fn goes_on(&self) -> Option<()> {
        self.reason().is_none().then_some(())
    }

    fn reason_now(&self) -> Option<StopReason> {
        if self
            .interrupts
            .iter()
            .any(|flag| flag.load(Ordering::Relaxed))
        {
            Some(StopReason::Interrupted)
        } else if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            Some(StopReason::Time)
        } else if self
            .memory
            .is_some_and(|limit| resident_bytes().is_some_and(|used| used > limit))
        {
            Some(StopReason::Memory)
        } else {
            None
        }
    }
}

/// The memory the process uses, where the system tells.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}
