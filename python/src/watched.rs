//! Long work on a thread of its own, while Python goes on, listens for Ctrl-C and is told how far it has come.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use form_learn::Limits;
use pyo3::prelude::*;

use crate::errors;

/// The interval at which Python checks for Ctrl-C.
const PAUSE: Duration = Duration::from_millis(50);

/// Does the work on another thread, without Python's lock; meanwhile signals are served and `progress` is called with the number
/// of states being tried. An exception of either ends the work.
pub fn watched<T: Send>(
    py: Python<'_>,
    limits: &Limits,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let states = || {
        let states = limits.progress.as_ref();
        states.map_or(0, |progress| progress.status().states)
    };
    let interrupt = || {
        if let Some(interrupt) = &limits.interrupt {
            interrupt.store(true, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let (done, waiting) = channel();
        let worker = scope.spawn(move || {
            // The receiver may be gone after an interrupt.
            let _ = done.send(work());
        });
        // A receiver is not for several threads, and here only one has it at a time.
        let waiting = Mutex::new(waiting);
        let mut told = 0;
        let mut failure = None;
        loop {
            let answer = py.detach(|| {
                let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                waiting.recv_timeout(PAUSE)
            });
            let trying = states();
            let mut listen = || -> PyResult<()> {
                py.check_signals()?;
                if let (Some(progress), true) = (progress, trying != told) {
                    told = trying;
                    progress.call1((trying,))?;
                }
                Ok(())
            };
            if failure.is_none()
                && let Err(error) = listen()
            {
                interrupt();
                failure = Some(error);
            }
            match (answer, failure.take()) {
                (Ok(_), Some(error)) => return Err(error),
                (Ok(answer), None) => return Ok(answer),
                (Err(RecvTimeoutError::Timeout), still) => failure = still,
                (Err(RecvTimeoutError::Disconnected), error) => {
                    // Its panic ends here.
                    let _ = worker.join();
                    let lost = || {
                        let message = "the learner gave up: a defect, please report it";
                        errors::raise(errors::Class::Learn, message, None, None, None)
                    };
                    return Err(error.unwrap_or_else(lost));
                }
            }
        }
    })
}
