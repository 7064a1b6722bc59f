//! Where the time of an iteration goes: one timer per phase of the loop.

use std::time::{Duration, Instant};

use crate::metrics::TimingsRow;

/// The time that each phase of an iteration has taken so far.
pub(super) struct Timers {
    start: Instant,
    pub(super) rollout: Duration,
    pub(super) learning: Duration,
    pub(super) update: Duration,
    pub(super) evaluation: Duration,
}

impl Timers {
    /// Starts the clock of an iteration.
    pub(super) fn start() -> Self {
        Self {
            start: Instant::now(),
            rollout: Duration::ZERO,
            learning: Duration::ZERO,
            update: Duration::ZERO,
            evaluation: Duration::ZERO,
        }
    }

    /// The row of the iteration, which took `steps` environment steps; `seconds` is the age of the run.
    pub(super) fn row(&self, iteration: u64, seconds: f64, steps: usize) -> TimingsRow {
        let training = self.start.elapsed() - self.evaluation;
        TimingsRow {
            iteration,
            seconds,
            steps_per_second: steps as f64 / training.as_secs_f64(),
            rollout_seconds: self.rollout.as_secs_f64(),
            update_seconds: self.update.as_secs_f64(),
            learning_seconds: self.learning.as_secs_f64(),
            evaluation_seconds: self.evaluation.as_secs_f64(),
        }
    }
}

/// Does some work and adds its duration to a timer.
pub(super) fn timed<T>(timer: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *timer += start.elapsed();
    result
}
