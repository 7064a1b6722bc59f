//! The progress display: its plain lines to the letter, and its live ones on a real terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use console::Term;
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::{Display, PolicyLosses, Snapshot};

const ROWS: NonZeroU16 = NonZeroU16::new(12).unwrap();
const COLUMNS: NonZeroU16 = NonZeroU16::new(60).unwrap();

fn snapshot(iteration: u64) -> Snapshot {
    Snapshot {
        iteration,
        steps: iteration * 16_384,
        steps_per_second: 31_415.9,
        success: (iteration > 1).then_some(iteration as f64 / 8.0),
        episodes: (iteration - 1) * 1000,
        is_new: true,
        random: (iteration > 2).then_some(0.125),
        machine: format!("{iteration} states + accept, 1 edge"),
        counterexample: (iteration > 1).then(|| {
            format!(
                "goal: yellow(o{iteration})\n{}",
                "; yellow(o0); yellow(o1)".repeat(9)
            )
        }),
        losses: (0..iteration)
            .map(|state| PolicyLosses {
                state: format!("u{state}"),
                policy: -0.0123,
                value: 0.5,
            })
            .collect(),
    }
}

/// What was written, seen from outside.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Paper {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

#[test]
fn plain_lines() {
    let paper = Paper::default();
    let mut display = Display::plain(Box::new(paper.clone()), Duration::ZERO, Some(200));
    display.show(&snapshot(1));
    display.show(&snapshot(2));
    display.remark("a new machine: 3 states");
    let mut third = snapshot(3);
    third.counterexample = snapshot(2).counterexample;
    display.show(&third);
    display.finish();
    insta::assert_snapshot!(paper.text(), @r"
    iteration 1 of 200: 16,384 steps, 31,416 per second, 1 states + accept, 1 edge, losses u0 -0.012/0.500
    iteration 2 of 200: 32,768 steps, 31,416 per second, 2 states + accept, 1 edge, success 25.0 % of 1,000 episodes, losses u0 -0.012/0.500  u1 -0.012/0.500, learnt from the counterexample goal: yellow(o2) ; yellow(o0); yellow(o1); yellow(o0); yellow(o1); yellow(o0); yellow(o1); yellow(o…
    a new machine: 3 states
    iteration 3 of 200: 49,152 steps, 31,416 per second, 3 states + accept, 1 edge, success 37.5 % of 2,000 episodes (random 12.5 %), losses u0 -0.012/0.500  u1 -0.012/0.500  u2 -0.012/0.500
    ");
}

/// With all the time of the world between two lines, only the first and the last are written.
#[test]
fn plain_lines_are_few_and_the_last_is_among_them() {
    let paper = Paper::default();
    let mut display = Display::plain(Box::new(paper.clone()), Duration::MAX, None);
    for iteration in 1..=5 {
        display.show(&snapshot(iteration));
    }
    display.finish();
    display.finish();
    let text = paper.text();
    let starts: Vec<&str> = (text.lines())
        .map(|line| line.split(',').next().unwrap())
        .collect();
    assert_eq!(starts, ["iteration 1: 16", "iteration 5: 81"]);
}

#[test]
fn a_closed_standard_error_is_no_problem() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    }
    let mut display = Display::plain(Box::new(Closed), Duration::ZERO, None);
    display.show(&snapshot(1));
    display.finish();
}

/// A terminal: the side of the program, and that of the person before it.
struct Screen {
    person: File,
    parser: vt100::Parser,
}

impl Screen {
    fn new() -> (Self, Term) {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let device = File::from(open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap());
        let size = Winsize {
            ws_row: ROWS.get(),
            ws_col: COLUMNS.get(),
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&device, size).unwrap();
        let terminal = Term::read_write_pair(device.try_clone().unwrap(), device);
        let screen = Self {
            person: File::from(person),
            parser: vt100::Parser::new(ROWS, COLUMNS, 0),
        };
        (screen, terminal)
    }

    /// Reads until the display is dropped.
    fn read_to_end(&mut self) {
        let mut bytes = [0; 4096];
        // The side of the program is closed then, which is an error here.
        while let Ok(count @ 1..) = self.person.read(&mut bytes) {
            self.parser.process(&bytes[..count]);
        }
    }

    /// What is to be seen, with the clock at zero.
    fn contents(&self) -> String {
        let rows = self.parser.screen().rows(0, COLUMNS.get());
        let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        let text = rows.join("\n").trim_end().to_owned();
        let clock = text.find("00:00:").expect("there is a clock");
        format!("{}00:00:00{}", &text[..clock], &text[clock + 8..])
    }
}

#[test]
fn a_terminal_shows_the_newest_snapshot() {
    let (mut screen, terminal) = Screen::new();
    // In another thread: the buffer of the terminal is limited.
    let run = std::thread::spawn(move || {
        let mut display = Display::on_terminal(terminal, Some(8));
        for iteration in 1..=3 {
            display.show(&snapshot(iteration));
        }
        display.remark("a new machine: 3 states");
        for iteration in 4..=6 {
            display.show(&snapshot(iteration));
        }
        display.finish();
        display.finish();
    });
    screen.read_to_end();
    run.join().unwrap();
    insta::assert_snapshot!(screen.contents(), @r"
    a new machine: 3 states
    • iteration 6 of 8  ━━━━━━━━━━━━━━━━━━╸─────  00:00:00
      steps           98,304  (31,416 per second)
      success         75.0 % of 5,000 episodes (random 12.5 %)…
      machine         6 states + accept, 1 edge
      learnt from     goal: yellow(o6) ; yellow(o0); yellow(o1…
      losses          u0 -0.012/0.500  u1 -0.012/0.500  u2 -0.…
    ");
    let seen = screen.parser.screen();
    assert!(!seen.hide_cursor() && !seen.alternate_screen());
    // What comes next begins on a line of its own.
    assert_eq!(seen.cursor_position(), (7, 0));
}

/// A run that ends with an error leaves what was to be seen last.
#[test]
fn a_display_that_is_dropped_leaves_its_last_lines() {
    let (mut screen, terminal) = Screen::new();
    let run = std::thread::spawn(move || {
        let mut display = Display::on_terminal(terminal, None);
        display.show(&Snapshot::default());
    });
    screen.read_to_end();
    run.join().unwrap();
    insta::assert_snapshot!(screen.contents(), @r"
    • iteration 0  00:00:00
      steps           0  (0 per second)
      success         –
      machine
      learnt from     –
    ");
    assert_eq!(screen.parser.screen().cursor_position(), (5, 0));
}
