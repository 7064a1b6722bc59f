//! What a person sees while a run trains.
//!
//! On a terminal a few lines that are kept up to date; elsewhere single lines, at most one every few seconds. All of it goes to
//! standard error, and nothing that goes wrong there disturbs the run.

mod play_display;

pub use self::play_display::PlayDisplay;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use console::{Term, truncate_str};
use form_rl::PlayProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

/// Between two plain lines.
const EVERY: Duration = Duration::from_secs(5);
/// How often the live lines are redrawn, at most, in a second.
const REDRAWS: u8 = 10;
/// Values in the sparkline.
const HISTORY: usize = 24;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The longest counterexample in a plain line, in columns.
const PLAIN_WIDTH: usize = 100;

/// Where a run stands after an iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The number of the iteration.
    pub iteration: u64,
    /// Environment steps so far.
    pub steps: u64,
    /// Environment steps a second.
    pub steps_per_second: f64,
    /// The success rate of the last evaluation, if there was one.
    pub success: Option<f64>,
    /// How many episodes it had.
    pub episodes: u64,
    /// Whether it was made after this iteration.
    pub is_new: bool,
    /// The success rate of random play on the same episodes.
    pub random: Option<f64>,
    /// States of the machine.
    pub states: usize,
    /// Its edges.
    pub edges: usize,
    /// The last trace that the machine of its time disagreed with.
    pub counterexample: Option<String>,
    /// How the updates of the policies went.
    pub losses: Vec<PolicyLosses>,
}

/// The losses of one policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyLosses {
    /// The machine state whose policy it is.
    pub state: String,
    /// The loss of its choices.
    pub policy: f64,
    /// The loss of its value estimates.
    pub value: f64,
}

/// Shows snapshots.
#[derive(Debug)]
pub struct Display {
    form: Form,
    /// How many iterations there will be, if that is known.
    iterations: Option<u64>,
}

#[derive(Debug)]
enum Form {
    Quiet,
    Plain(Plain),
    Live(Live),
}

impl Display {
    /// Shows nothing.
    pub fn quiet() -> Self {
        Self {
            form: Form::Quiet,
            iterations: None,
        }
    }

    /// Shows a run of so many iterations on standard error: live if that is a terminal, else as plain lines.
    pub fn stderr(iterations: Option<u64>) -> Self {
        let terminal = Term::stderr();
        // A terminal that calls itself dumb cannot move its cursor.
        let dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        if terminal.is_term() && !dumb {
            Self::on_terminal(terminal, iterations)
        } else {
            Self::plain(Box::new(io::stderr()), EVERY, iterations)
        }
    }

    /// Keeps a few lines of a terminal up to date.
    pub fn on_terminal(terminal: Term, iterations: Option<u64>) -> Self {
        Self {
            form: Form::Live(Live::new(terminal, iterations)),
            iterations,
        }
    }

    /// Writes single lines, with so much time between them.
    pub fn plain(out: Box<dyn Write + Send>, every: Duration, iterations: Option<u64>) -> Self {
        Self {
            form: Form::Plain(Plain {
                out: Sink(out),
                every,
                written: None,
                waiting: None,
                counterexample: None,
            }),
            iterations,
        }
    }

    /// Shows where the run stands.
    pub fn show(&mut self, snapshot: &Snapshot) {
        match &mut self.form {
            Form::Quiet => {}
            Form::Plain(plain) => plain.show(snapshot, self.iterations),
            Form::Live(live) => live.show(snapshot),
        }
    }

    /// Shows how far the last evaluation, of so many episodes, has come, for a [`PlayCallback`](crate::PlayCallback) to report to.
    pub fn evaluating(&mut self, episodes: u64) -> impl Fn(PlayProgress) + Sync + use<> {
        let bar = match &mut self.form {
            Form::Quiet => None,
            Form::Plain(plain) => {
                plain.finish(self.iterations);
                let of = counted(episodes, "episode");
                plain.line(&format!("the last evaluation: {of}"));
                None
            }
            Form::Live(live) => Some(live.bar.clone()),
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

    /// Says something that stays on the screen, above the live lines.
    pub fn remark(&mut self, text: &str) {
        match &mut self.form {
            Form::Quiet => {}
            Form::Plain(plain) => plain.line(text),
            Form::Live(live) => live.bar.println(text),
        }
    }

    /// Shows the last snapshot if it was not shown yet, and leaves it there.
    pub fn finish(&mut self) {
        match &mut self.form {
            Form::Quiet => {}
            Form::Plain(plain) => plain.finish(self.iterations),
            Form::Live(live) => live.finish(),
        }
    }
}

/// Where plain lines go.
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
    /// What came too early to be written.
    waiting: Option<Snapshot>,
    /// The counterexample that was written last: each is shown once.
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
            "{}: {steps} steps, {speed} a second, {}",
            iteration(snapshot, iterations),
            machine(snapshot)
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
                    ", counterexample {}",
                    truncate_str(&trace, PLAIN_WIDTH, "…")
                );
            }
        }
        self.line(&line);
    }

    fn line(&mut self, text: &str) {
        // If standard error is closed, there is nobody to tell.
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
        // Learning a machine may take a while: the clock shows that something happens.
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
        // Terminals differ in what they do with a letter in the last column.
        let width = usize::from(width).saturating_sub(1).max(1);
        let lines = live_lines(snapshot, self.history.make_contiguous());
        let lines = lines.iter().map(|line| truncate_str(line, width, "…"));
        self.bar.set_message(lines.collect::<Vec<_>>().join("\n"));
        self.bar.set_position(snapshot.iteration);
    }

    fn finish(&self) {
        if !self.bar.is_finished() {
            self.bar.abandon();
            // The cursor stands behind the last letter.
            let _ = self.terminal.write_line("");
        }
    }
}

/// A run that ends with an error leaves what was to be seen last.
impl Drop for Live {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The look of the live lines: with a bar if it is known how many iterations there will be.
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

/// What stands below the bar.
fn live_lines(snapshot: &Snapshot, history: &[f64]) -> Vec<String> {
    let line = |name: &str, text: &str| format!("  {name:<14}  {text}");
    let (steps, speed) = steps(snapshot);
    let success = format!("{}  {}", success(snapshot), sparkline(history));
    let trace = snapshot.counterexample.as_deref().map(one_line);
    let mut lines = vec![
        line("steps", &format!("{steps}  ({speed} a second)")),
        line("success", success.trim_end()),
        line("machine", &machine(snapshot)),
        line("counterexample", trace.as_deref().unwrap_or("–")),
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

/// Steps so far and in a second.
fn steps(snapshot: &Snapshot) -> (String, String) {
    let (steps, speed) = (snapshot.steps, snapshot.steps_per_second);
    let speed = if speed.is_finite() {
        speed.round() as u64
    } else {
        0
    };
    (grouped(steps), grouped(speed))
}

fn machine(snapshot: &Snapshot) -> String {
    let count = |n: usize, noun: &str| counted(n as u64, noun);
    let (states, edges) = (
        count(snapshot.states, "state"),
        count(snapshot.edges, "edge"),
    );
    format!("{states}, {edges}")
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

/// The share, of how many episodes, and what random play comes to on them.
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

/// A bar a value, from 0 to 1.
fn sparkline(values: &[f64]) -> String {
    let top = BARS.len() - 1;
    let bar = |value: &f64| BARS[((value * top as f64).round() as usize).min(top)];
    values.iter().map(bar).collect()
}

/// Without line ends, or anything else that would move the cursor.
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

#[cfg(all(test, target_os = "linux"))]
mod tests;
