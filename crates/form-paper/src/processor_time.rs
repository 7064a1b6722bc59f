//! The time that the processor works for a thread, which other work on the computer does not change.

/// Processor seconds of this thread, where the system tells them. A learner in a worker of a thread pool starts no other thread, so they are
/// all of its time.
pub fn thread_seconds() -> Option<f64> {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Some(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
    }
    #[cfg(not(unix))]
    None
}
