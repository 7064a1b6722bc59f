//! The progress display of an evaluation, on standard error: a bar on a terminal, otherwise one line every few seconds.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use console::Term;
use form_rl::PlayProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::counted;

/// The time between two plain lines.
const EVERY: Duration = Duration::from_secs(5);

/// Shows the progress of an evaluation until it is dropped.
#[derive(Debug)]
pub struct PlayDisplay {
    /// The purpose of the episodes.
    label: String,
    bar: Option<ProgressBar>,
    /// When the last plain line was written.
    written: Mutex<Instant>,
}

impl PlayDisplay {
    /// On standard error; `label` is the purpose of the episodes.
    pub fn stderr(label: &str) -> Self {
        let terminal = Term::stderr();
        // A dumb terminal cannot move its cursor.
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

    /// Shows the progress; for [`PlayCallback::reporting_to`](crate::PlayCallback::reporting_to).
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
                // Standard error may be closed.
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
