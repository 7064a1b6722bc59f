//! The progress display of a run, on standard error: live lines on a terminal, otherwise one line every few seconds.
//!
//! Errors of the display never disturb the run.

mod play_display;

pub use self::play_display::PlayDisplay;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use console::{Term, truncate_str};
use form_rl::PlayProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

/// The time between two plain lines.
const EVERY: Duration = Duration::from_secs(5);
/// The maximum number of redraws per second.
const REDRAWS: u8 = 10;
/// The number of values in the sparkline.
const HISTORY: usize = 24;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The maximum width of a counterexample in a plain line.
const PLAIN_WIDTH: usize = 100;

/// The progress of a run after an iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The iteration.
    pub iteration: u64,
    /// Environment steps so far.
    pub steps: u64,
    /// Environment steps per second.
    pub steps_per_second: f64,
    /// The success rate of the last evaluation, if there was one.
    pub success: Option<f64>,
    /// Its number of episodes.
    pub episodes: u64,
    /// Whether it was made after this iteration.
    pub is_new: bool,
    /// The success rate of random play on the same episodes.
    pub random: Option<f64>,
    /// The size of the machine: `2 states + accept, 2 edges`.
    pub machine: String,
    /// The last counterexample: an earlier machine misjudged it, and the machine was learnt from it.
    pub counterexample: Option<String>,
    /// The losses of the policy updates.
    pub losses: Vec<PolicyLosses>,
}

/// The losses of one policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyLosses {
    /// The machine state whose policy it is.
    pub state: String,
    /// The policy loss.
    pub policy: f64,
    /// The value loss.
    pub value: f64,
}

/// Shows the progress of a run.
#[derive(Debug)]
pub struct Display {
    mode: Mode,
    /// The maximum number of iterations, if it is known.
    iterations: Option<u64>,
}

#[derive(Debug)]
enum Mode {
    Quiet,
    Plain(Plain),
    Live(Live),
}

impl Display {
    /// Shows nothing.
    pub fn quiet() -> Self {
        Self {
            mode: Mode::Quiet,
            iterations: None,
        }
    }

    /// On standard error: live lines if it is a terminal, otherwise plain lines.
    pub fn stderr(iterations: Option<u64>) -> Self {
        let terminal = Term::stderr();
        // A dumb terminal cannot move its cursor.
        let dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        if terminal.is_term() && !dumb {
            Self::on_terminal(terminal, iterations)
        } else {
            Self::plain(Box::new(io::stderr()), EVERY, iterations)
        }
    }

    /// Live lines on a terminal.
    pub(crate) fn on_terminal(terminal: Term, iterations: Option<u64>) -> Self {
        Self {
            mode: Mode::Live(Live::new(terminal, iterations)),
            iterations,
        }
    }

    /// Plain lines, at most one per `every`.
    pub fn plain(out: Box<dyn Write + Send>, every: Duration, iterations: Option<u64>) -> Self {
        Self {
            mode: Mode::Plain(Plain {
                out: Sink(out),
                every,
                written: None,
                waiting: None,
                counterexample: None,
            }),
            iterations,
        }
    }

    /// Shows the progress.
    pub(crate) fn show(&mut self, snapshot: &Snapshot) {
        match &mut self.mode {
            Mode::Quiet => {}
            Mode::Plain(plain) => plain.show(snapshot, self.iterations),
            Mode::Live(live) => live.show(snapshot),
        }
    }

    /// Shows the last evaluation; returns the function that shows its progress.
    pub(crate) fn evaluating(&mut self, episodes: u64) -> impl Fn(PlayProgress) + Sync + use<> {
        let bar = match &mut self.mode {
            Mode::Quiet => None,
            Mode::Plain(plain) => {
                plain.finish(self.iterations);
                let of = counted(episodes, "episode");
                plain.line(&format!("the last evaluation: {of}"));
                None
            }
            Mode::Live(live) => Some(live.bar.clone()),
        };
        move |progress: PlayProgress| {
            if let Some(bar) = &bar {
                bar.set_prefix(format!(
                    "the last evaluation: {} of {} episodes",
                    progress.episodes, progress.of
                ));
            }
        }
    }

    /// Prints a line that stays, above the live lines.
    pub fn remark(&mut self, text: &str) {
        match &mut self.mode {
            Mode::Quiet => {}
            Mode::Plain(plain) => plain.line(text),
            Mode::Live(live) => live.bar.println(text),
        }
    }

    /// Shows the last snapshot if it has not been shown yet.
    pub(crate) fn finish(&mut self) {
        match &mut self.mode {
            Mode::Quiet => {}
            Mode::Plain(plain) => plain.finish(self.iterations),
            Mode::Live(live) => live.finish(),
        }
    }
}

/// The output of plain lines.
struct Sink(Box<dyn Write + Send>);

impl std::fmt::Debug for Sink {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Sink")
    }
}

#[derive(Debug)]
struct Plain {
    out: Sink,
    every: Duration,
    /// When the last line was written.
    written: Option<Instant>,
    /// A snapshot that came too soon after the last line.
    waiting: Option<Snapshot>,
    /// The last counterexample written: each is shown once.
    counterexample: Option<String>,
}

impl Plain {
    fn show(&mut self, snapshot: &Snapshot, iterations: Option<u64>) {
        let early = |written: Instant| written.elapsed() < self.every;
        if self.written.is_some_and(early) {
            self.waiting = Some(snapshot.clone());
            return;
        }
        self.write(snapshot, iterations);
        self.written = Some(Instant::now());
        self.waiting = None;
    }

    fn finish(&mut self, iterations: Option<u64>) {
        if let Some(snapshot) = self.waiting.take() {
            self.write(&snapshot, iterations);
        }
    }

    fn write(&mut self, snapshot: &Snapshot, iterations: Option<u64>) {
        let (steps, speed) = steps(snapshot);
        let mut line = format!(
            "{}: {steps} steps, {speed} per second, {}",
            iteration(snapshot, iterations),
            snapshot.machine
        );
        if snapshot.success.is_some() {
            let _ = write!(line, ", success {}", success(snapshot));
        }
        if !snapshot.losses.is_empty() {
            let _ = write!(line, ", losses {}", losses(snapshot));
        }
        if snapshot.counterexample != self.counterexample {
            self.counterexample.clone_from(&snapshot.counterexample);
            if let Some(trace) = &snapshot.counterexample {
                let trace = one_line(trace);
                let _ = write!(
                    line,
                    ", learnt from the counterexample {}",
                    truncate_str(&trace, PLAIN_WIDTH, "…")
                );
            }
        }
        self.line(&line);
    }

    fn line(&mut self, text: &str) {
        // Standard error may be closed.
        let _ = writeln!(self.out.0, "{text}").and_then(|()| self.out.0.flush());
    }
}

#[derive(Debug)]
struct Live {
    terminal: Term,
    bar: ProgressBar,
    /// The last success rates.
    history: VecDeque<f64>,
}

impl Live {
    fn new(terminal: Term, iterations: Option<u64>) -> Self {
        let target = ProgressDrawTarget::term(terminal.clone(), REDRAWS);
        let bar = ProgressBar::with_draw_target(iterations, target)
            .with_finish(ProgressFinish::Abandon)
            .with_style(style(iterations.is_some()));
        // Learning a machine may take long: the clock shows that the run is alive.
        bar.enable_steady_tick(Duration::from_millis(200));
        Self {
            terminal,
            bar,
            history: VecDeque::new(),
        }
    }

    fn show(&mut self, snapshot: &Snapshot) {
        if let Some(rate) = snapshot.success.filter(|_| snapshot.is_new) {
            self.history.push_back(rate);
            if self.history.len() > HISTORY {
                self.history.pop_front();
            }
        }
        let (_, width) = self.terminal.size();
        // Terminals differ in how they treat the last column.
        let width = usize::from(width).saturating_sub(1).max(1);
        let lines = live_lines(snapshot, self.history.make_contiguous());
        let lines = lines.iter().map(|line| truncate_str(line, width, "…"));
        self.bar.set_message(lines.collect::<Vec<_>>().join("\n"));
        self.bar.set_position(snapshot.iteration);
    }

    fn finish(&self) {
        if !self.bar.is_finished() {
            self.bar.abandon();
            // The cursor is after the last letter.
            let _ = self.terminal.write_line("");
        }
    }
}

/// A run that ends with an error leaves its last lines on the screen.
impl Drop for Live {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The style of the live lines: with a bar if the number of iterations is known.
fn style(bounded: bool) -> ProgressStyle {
    let template = if bounded {
        "{spinner:.cyan} iteration {pos} of {len}  {bar:24.cyan/dim}  {elapsed_precise}  {prefix}\n{msg}"
    } else {
        "{spinner:.cyan} iteration {pos}  {elapsed_precise}  {prefix}\n{msg}"
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏•")
        .progress_chars("━╸─")
}

/// The lines below the bar.
fn live_lines(snapshot: &Snapshot, history: &[f64]) -> Vec<String> {
    let line = |name: &str, text: &str| format!("  {name:<14}  {text}");
    let (steps, speed) = steps(snapshot);
    let success = format!("{}  {}", success(snapshot), sparkline(history));
    let trace = snapshot.counterexample.as_deref().map(one_line);
    let mut lines = vec![
        line("steps", &format!("{steps}  ({speed} per second)")),
        line("success", success.trim_end()),
        line("machine", &snapshot.machine),
        line("learnt from", trace.as_deref().unwrap_or("–")),
    ];
    if !snapshot.losses.is_empty() {
        lines.push(line("losses", &losses(snapshot)));
    }
    lines
}

fn iteration(snapshot: &Snapshot, iterations: Option<u64>) -> String {
    match iterations {
        Some(all) => format!("iteration {} of {all}", snapshot.iteration),
        None => format!("iteration {}", snapshot.iteration),
    }
}

/// The steps so far and per second.
fn steps(snapshot: &Snapshot) -> (String, String) {
    let (steps, speed) = (snapshot.steps, snapshot.steps_per_second);
    let speed = if speed.is_finite() {
        speed.round() as u64
    } else {
        0
    };
    (grouped(steps), grouped(speed))
}

/// `u0 -0.012/0.310`: of the policy and of the value estimates.
fn losses(snapshot: &Snapshot) -> String {
    let of = |losses: &PolicyLosses| {
        let PolicyLosses {
            state,
            policy,
            value,
        } = losses;
        format!("{state} {policy:.3}/{value:.3}")
    };
    snapshot
        .losses
        .iter()
        .map(of)
        .collect::<Vec<_>>()
        .join("  ")
}

/// The success rate, the number of episodes, and the success of random play on them.
fn success(snapshot: &Snapshot) -> String {
    let Some(rate) = snapshot.success else {
        return "–".to_owned();
    };
    let of = counted(snapshot.episodes, "episode");
    let random = (snapshot.random).map_or_else(String::new, |random| {
        format!(" (random {:.1} %)", random * 100.0)
    });
    format!("{:.1} % of {of}{random}", rate * 100.0)
}

/// `1 state`, `2 states`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// One bar per value, from 0 to 1.
fn sparkline(values: &[f64]) -> String {
    let top = BARS.len() - 1;
    let bar = |value: &f64| BARS[((value * top as f64).round() as usize).min(top)];
    values.iter().map(bar).collect()
}

/// Without control characters, which would move the cursor.
fn one_line(text: &str) -> String {
    let shown = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.trim().chars().map(shown).collect()
}

/// `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod formatting_tests {
    use super::*;

    #[test]
    fn numbers_have_groups() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (12_345_678, "12,345,678"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn sparklines() {
        assert_eq!(sparkline(&[0.0, 0.07, 0.08, 0.5, 0.99, 1.0]), "▁▁▂▅██");
        // What cannot be is no reason to panic.
        assert_eq!(sparkline(&[-1.0, 2.0, f64::NAN]), "▁█▁");
        assert_eq!(sparkline(&[]), "");
    }

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(one_line("a\nb\x1b[2Jc\r\n"), "a b [2Jc");
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
