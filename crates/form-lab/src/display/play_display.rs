//! What a person sees while episodes are played: a bar on a terminal, elsewhere a line every few seconds. All of it goes to standard
//! error.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use console::Term;
use form_rl::PlayProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::counted;

/// Between two plain lines.
const EVERY: Duration = Duration::from_secs(5);

/// Shows how far the playing of episodes has come, until it is dropped.
#[derive(Debug)]
pub struct PlayDisplay {
    /// What the episodes are played for.
    label: String,
    bar: Option<ProgressBar>,
    /// When the last plain line was written, or when it all began.
    written: Mutex<Instant>,
}

impl PlayDisplay {
    /// On standard error; the label says what the episodes are for.
    pub fn stderr(label: &str) -> Self {
        let terminal = Term::stderr();
        // A terminal that calls itself dumb cannot move its cursor.
        let dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        let bar = (terminal.is_term() && !dumb).then(|| {
            let target = ProgressDrawTarget::term(terminal, 10);
            let template = "{spinner:.cyan} {prefix}  {bar:24.cyan/dim}  {msg}";
            let style = ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("━╸─");
            let bar = ProgressBar::with_draw_target(Some(1), target).with_style(style);
            bar.set_prefix(label.to_owned());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self {
            label: label.to_owned(),
            bar,
            written: Mutex::new(Instant::now()),
        }
    }

    /// Shows nothing.
    pub fn quiet() -> Self {
        Self {
            label: String::new(),
            bar: None,
            written: Mutex::new(Instant::now()),
        }
    }

    /// Shows how far it has come, for a [`PlayCallback`](crate::PlayCallback) to report to.
    pub fn update(&self, progress: PlayProgress) {
        let text = || {
            format!(
                "{} of {}, {}",
                progress.episodes,
                counted(progress.of as u64, "episode"),
                counted(progress.steps, "step")
            )
        };
        if let Some(bar) = &self.bar {
            bar.set_length(progress.of as u64);
            bar.set_position(progress.episodes as u64);
            bar.set_message(text());
        } else if !self.label.is_empty() {
            let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            if written.elapsed() >= EVERY {
                *written = Instant::now();
                // If standard error is closed, there is nobody to tell.
                let line = format!("{}: {}\n", self.label, text());
                let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
            }
        }
    }
}

impl Drop for PlayDisplay {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
