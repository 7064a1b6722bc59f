//! What `form learn` shows while it works, on standard error: a live line on a terminal, otherwise a line every few seconds.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use console::Term;
use form_learn::{Limits, SearchProgress, SearchStatus};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{count, remark};

/// The time before the first plain line, and between two of them.
const FIRST: Duration = Duration::from_secs(1);
const PLAIN: Duration = Duration::from_secs(5);
/// The time between two updates of a live line.
const LIVE: Duration = Duration::from_millis(200);

/// Runs a search and shows how far it is.
pub fn with_progress<T>(limits: &Limits, work: impl FnOnce(&Limits) -> T) -> T {
    let progress = Arc::new(SearchProgress::default());
    let limits = Limits {
        progress: Some(progress.clone()),
        ..limits.clone()
    };
    let start = Instant::now();
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut bar = None;
            let live = is_live();
            let mut pause = if live { LIVE } else { FIRST };
            // Ends when the other end of the channel is dropped.
            while waiting.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let line = line(&progress.status(), start.elapsed());
                match live {
                    true => bar.get_or_insert_with(live_line).set_message(line),
                    false => {
                        remark(&line);
                        pause = PLAIN;
                    }
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        let result = work(&limits);
        drop(done);
        result
    })
}

/// Whether standard error can rewrite a line. A dumb terminal cannot move its cursor.
fn is_live() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    Term::stderr().is_term() && !dumb
}

fn live_line() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner:.cyan} {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let target = ProgressDrawTarget::term(Term::stderr(), 10);
    let bar = ProgressBar::with_draw_target(None, target).with_style(style);
    bar.enable_steady_tick(LIVE);
    bar
}

/// `12 s: trying 7 states for 8 s; proven: at least 7 states (6 refuted in 3.9 s); best so far: 8 states + accept, 16 edges and literals`.
fn line(status: &SearchStatus, elapsed: Duration) -> String {
    if status.states == 0 {
        return format!("{} s: preparing", elapsed.as_secs());
    }
    let since = status.since.map_or(Duration::ZERO, |since| since.elapsed());
    let states = count(status.states, "state");
    let refuted = status.refuted.map_or_else(String::new, |(states, time)| {
        format!(" ({states} refuted in {})", seconds(time))
    });
    let best = status.best.as_ref().map_or_else(
        || "no machine yet".to_owned(),
        |best| format!("best so far: {}", best.describe_size()),
    );
    format!(
        "{} s: trying {states} for {}; proven: at least {states}{refuted}; {best}",
        elapsed.as_secs(),
        seconds(since),
    )
}

/// `3.9 s`, `12 s`.
fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds < 10.0 {
        true => format!("{seconds:.1} s"),
        false => format!("{seconds:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_what_is_tried_proven_and_found() {
        let mut status = SearchStatus::default();
        let of = |status: &SearchStatus| line(status, Duration::from_secs(12));
        assert_eq!(of(&status), "12 s: preparing");
        status.states = 1;
        assert_eq!(
            of(&status),
            "12 s: trying 1 state for 0.0 s; proven: at least 1 state; no machine yet"
        );
        status.states = 7;
        status.refuted = Some((6, Duration::from_millis(3_900)));
        status.best = Some(form_learn::Learnt {
            machine: "initial u0\naccept u_acc\nu0 -> u_acc : goal"
                .parse()
                .unwrap(),
            states: 1,
            cost: form_learn::Cost {
                size: 2,
                ..form_learn::Cost::default()
            },
        });
        assert_eq!(
            of(&status),
            "12 s: trying 7 states for 0.0 s; proven: at least 7 states (6 refuted in 3.9 s); \
             best so far: 1 state + accept, 2 edges and literals"
        );
    }
}
