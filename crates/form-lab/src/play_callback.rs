//! The callback of long evaluations: it reports progress and can interrupt.

use std::sync::atomic::{AtomicBool, Ordering};

use form_rl::PlayProgress;

/// Reports progress while episodes are played, and can interrupt. Results do not depend on it.
#[derive(Clone, Copy, Default)]
pub struct PlayCallback<'a> {
    interrupt: Option<&'a AtomicBool>,
    progress: Option<&'a (dyn Fn(PlayProgress) + Sync)>,
}

impl<'a> PlayCallback<'a> {
    /// No callback: the work runs to its end.
    pub fn none() -> Self {
        Self::default()
    }

    /// Stops the work when this flag is set.
    #[must_use]
    pub fn interrupted_by(mut self, flag: &'a AtomicBool) -> Self {
        self.interrupt = Some(flag);
        self
    }

    /// Calls this function with the progress.
    #[must_use]
    pub fn reporting_to(mut self, progress: &'a (dyn Fn(PlayProgress) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Whether the work was interrupted.
    pub fn is_interrupted(&self) -> bool {
        (self.interrupt).is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Reports progress; returns whether the work continues.
    pub(crate) fn report(&self, progress: PlayProgress) -> bool {
        if let Some(report) = self.progress {
            report(progress);
        }
        !self.is_interrupted()
    }
}

impl std::fmt::Debug for PlayCallback<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("PlayCallback")
    }
}
