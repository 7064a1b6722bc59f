//! Long work as it is seen from outside: it can be told to stop, and it says how far it has come.

use std::sync::atomic::{AtomicBool, Ordering};

use form_rl::PlayProgress;

/// Who watches while episodes are played. Nothing that is measured depends on it.
#[derive(Clone, Copy, Default)]
pub struct PlayCallback<'a> {
    interrupt: Option<&'a AtomicBool>,
    progress: Option<&'a (dyn Fn(PlayProgress) + Sync)>,
}

impl<'a> PlayCallback<'a> {
    /// Nobody: the work goes on to its end.
    pub fn none() -> Self {
        Self::default()
    }

    /// Stops the work when this flag is set.
    #[must_use]
    pub fn interrupted_by(mut self, flag: &'a AtomicBool) -> Self {
        self.interrupt = Some(flag);
        self
    }

    /// Is told again and again how far the work has come.
    #[must_use]
    pub fn reporting_to(mut self, progress: &'a (dyn Fn(PlayProgress) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Whether the work is to stop.
    pub fn is_interrupted(&self) -> bool {
        (self.interrupt).is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Tells how far the work has come; whether it goes on.
    pub fn tell(&self, progress: PlayProgress) -> bool {
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
