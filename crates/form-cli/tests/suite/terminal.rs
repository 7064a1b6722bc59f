//! `form play` in a real terminal: it draws, obeys keys, and gives the terminal back as it was.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

const ROWS: NonZeroU16 = NonZeroU16::new(24).unwrap();
const COLUMNS: NonZeroU16 = NonZeroU16::new(100).unwrap();

/// A terminal in which a command runs.
struct Terminal {
    /// The side of the person in front of it.
    keyboard: File,
    child: Child,
    /// What is on the screen.
    screen: vt100::Parser,
    /// All that was written to it.
    written: String,
}

impl Terminal {
    fn start(arguments: &[&str]) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let device = File::from(open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap());
        let size = Winsize {
            ws_row: ROWS.get(),
            ws_col: COLUMNS.get(),
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&device, size).unwrap();
        let end = || Stdio::from(device.try_clone().unwrap());
        let child = Command::new(env!("CARGO_BIN_EXE_form"))
            .args(arguments)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .env("TERM", "xterm-256color")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        Self {
            keyboard: File::from(keyboard),
            child,
            screen: vt100::Parser::new(ROWS, COLUMNS, 0),
            written: String::new(),
        }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads until the screen shows `expected`.
    fn expect(&mut self, expected: &str) {
        while !self.screen.screen().contents().contains(expected) {
            assert!(
                self.read(),
                "no `{expected}`: {}",
                self.screen.screen().contents()
            );
        }
    }

    /// Reads what was written since; `false` if the program is gone.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        // The side of the program is closed when it ends, which is an error here.
        let count = self.keyboard.read(&mut bytes).unwrap_or(0);
        self.screen.process(&bytes[..count]);
        self.written += &String::from_utf8_lossy(&bytes[..count]);
        count > 0
    }

    /// Reads to the end; the exit code.
    fn end(&mut self) -> Option<i32> {
        while self.read() {}
        self.child.wait().unwrap().code()
    }

    /// Whether keys are echoed and lines are edited, as in a shell.
    fn is_cooked(&self) -> bool {
        let modes = tcgetattr(&self.keyboard).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }
}

#[test]
fn a_game_is_played_and_the_terminal_given_back() {
    let mut terminal = Terminal::start(&["play", "all-yellow", "--seed", "7"]);
    terminal.expect("q quit");
    terminal.expect("all-yellow, map 0");
    terminal.expect("0 of 3000");
    assert!(terminal.screen.screen().alternate_screen() && !terminal.is_cooked());
    terminal.press("\x1b[D");
    terminal.expect("1 of 3000");
    terminal.press("\x1b[A\x1b[A");
    terminal.expect("3 of 3000");
    terminal.press("n");
    terminal.expect("all-yellow, map 1");
    terminal.expect("0 of 3000");
    terminal.press("q");
    assert_eq!(terminal.end(), Some(0));
    let screen = terminal.screen.screen();
    assert!(!screen.alternate_screen() && !screen.hide_cursor());
    assert!(terminal.is_cooked());
}

#[test]
fn ctrl_c_leaves_too() {
    let mut terminal = Terminal::start(&["play", "green-but-one"]);
    terminal.expect("q quit");
    terminal.press("\x03");
    assert_eq!(terminal.end(), Some(0));
    assert!(!terminal.screen.screen().alternate_screen() && terminal.is_cooked());
}

#[test]
fn a_mistake_is_told_before_the_terminal_is_touched() {
    let mut terminal = Terminal::start(&[
        "play",
        "all-yellow",
        "--machine",
        "examples/green_but_one.form",
    ]);
    assert_eq!(terminal.end(), Some(2));
    let said = &terminal.written;
    assert!(
        said.contains("examples/green_but_one.form") && said.contains("constant `o12`"),
        "{said}"
    );
    assert!(!said.contains('\x1b'), "{said}");
}

#[test]
fn a_machine_is_carried_out_live() {
    let mut terminal = Terminal::start(&["run", "forall X. yellow(X); goal", "--live"]);
    terminal.expect("paper-room, held-out map 0");
    terminal.press("n");
    terminal.expect("paper-room, held-out map 1");
    terminal.press("q");
    assert_eq!(terminal.end(), Some(0));
    assert!(!terminal.screen.screen().alternate_screen() && terminal.is_cooked());
}
