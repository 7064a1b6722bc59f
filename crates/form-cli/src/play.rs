//! `form play`: play a world with the keyboard, or watch the policies of a run, with the machine beside it.

mod canvas;
mod game;
mod screen;
mod watch;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Result, bail};
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use form_lab::{EpisodeRequest, Recording};

use crate::{Answer, input, world};
use canvas::Screen;
use game::Game;

/// Play a task with the keyboard, or watch the policies of a run, with the machine beside it
///
/// Shows the state of the machine and its buffer. In a task, the arrows (or h, l and k) turn and walk; p, d, t and e are pick up, drop,
/// toggle and done, as in MiniGrid; r restarts, n goes to the next map, q quits. In a run, space pauses and plays, the arrows step, +
/// and - change the speed, r restarts, n goes to the next map, q quits.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form play all-yellow\n  form play green-but-one --seed 7 --held-out\n  form play all-yellow-4 --machine examples/all_yellow.form\n  form play runs/all-yellow-form-1\n  form play runs/all-yellow-form-1 --held-out --map 3 --greedy"
)]
pub struct Args {
    #[command(flatten)]
    world: world::WorldArgs,
    /// For a task: show this machine instead of the task's own
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Answer> {
    if let Some(run) = args.world.run()? {
        if args.machine.is_some() {
            bail!("--machine: a run has its own machine: remove this option");
        }
        let request = args.world.episode();
        let record = move |map| Recording::of(&run, &EpisodeRequest { map, ..request });
        return watch(args.world.map, record, "form draw RUN -o episode.gif");
    }
    let task = args.world.task()?;
    let machine = match &args.machine {
        None => task.truth().clone(),
        Some(path) => {
            let machine = input::machine(path)?;
            let bound = machine.bind(task.signature());
            bound.map_err(|error| error.in_file(&input::name(path)))?
        }
    };
    let map = args.world.map.unwrap_or(0);
    let mut game = Game::new(args.world.start(&task, map)?, machine, map);
    expect_terminal("`form draw` prints a world anywhere")?;
    on_terminal(|screen, interrupted| {
        loop {
            screen.draw(|canvas| screen::draw(canvas, &game))?;
            while !event::poll(PAUSE)? {
                if interrupted() {
                    return Ok(());
                }
            }
            match asked(&event::read()?) {
                Some(Command::Act(action)) => game.act(action)?,
                Some(Command::Again) => {
                    game.begin(args.world.start(&task, game.map())?, game.map());
                }
                Some(Command::NextMap) => {
                    let next = game.map() + 1;
                    game.begin(args.world.start(&task, next)?, next);
                }
                Some(Command::Leave) => return Ok(()),
                None => {}
            }
        }
    })
}

/// Shows recorded episodes on the terminal; `instead` is a command that needs none.
pub fn watch(
    map: Option<u64>,
    record: impl Fn(Option<u64>) -> Result<Recording> + 'static,
    instead: &str,
) -> Result<Answer> {
    let mut watch = watch::Watch::new(map, record)?;
    expect_terminal(&format!("{instead} draws an episode anywhere"))?;
    on_terminal(|screen, interrupted| watch.run(screen, interrupted))
}

fn expect_terminal(instead: &str) -> Result<()> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        bail!("playing needs a terminal; {instead}");
    }
    Ok(())
}

/// Plays on the terminal, which is restored on every exit; `interrupted` is the flag of Ctrl-C.
fn on_terminal(play: impl FnOnce(&mut Screen, &dyn Fn() -> bool) -> Result<()>) -> Result<Answer> {
    let flag = input::interrupt()?;
    let mut screen = Screen::open()?;
    play(&mut screen, &|| flag.load(Ordering::Relaxed))?;
    Ok(Answer::Yes)
}

/// The time between two checks for Ctrl-C.
const PAUSE: Duration = Duration::from_millis(100);

/// The command of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Act(form_env::Action),
    Again,
    NextMap,
    Leave,
}

/// The key that was pressed, if one was. Ctrl-C and Ctrl-Q are Esc; other keys with Ctrl are none.
fn pressed(event: &Event) -> Option<KeyCode> {
    let Event::Key(KeyEvent {
        code,
        modifiers,
        kind: KeyEventKind::Press | KeyEventKind::Repeat,
        ..
    }) = event
    else {
        return None;
    };
    match code {
        KeyCode::Char('c' | 'q') if modifiers.contains(KeyModifiers::CONTROL) => Some(KeyCode::Esc),
        _ if modifiers.contains(KeyModifiers::CONTROL) => None,
        code => Some(*code),
    }
}

fn asked(event: &Event) -> Option<Command> {
    use form_env::Action;
    Some(match pressed(event)? {
        KeyCode::Left | KeyCode::Char('h') => Command::Act(Action::Left),
        KeyCode::Right | KeyCode::Char('l') => Command::Act(Action::Right),
        KeyCode::Up | KeyCode::Char('k') => Command::Act(Action::Forward),
        KeyCode::Char('p') => Command::Act(Action::PickUp),
        KeyCode::Char('d') => Command::Act(Action::Drop),
        KeyCode::Char('t') => Command::Act(Action::Toggle),
        KeyCode::Char('e') => Command::Act(Action::Done),
        KeyCode::Char('r') => Command::Again,
        KeyCode::Char('n') => Command::NextMap,
        KeyCode::Char('q') | KeyCode::Esc => Command::Leave,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use form_env::Action;

    #[test]
    fn keys() {
        let key = |code| asked(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        let actions = [KeyCode::Left, KeyCode::Right, KeyCode::Up]
            .into_iter()
            .chain("pdte".chars().map(KeyCode::Char));
        for (code, action) in actions.zip(Action::ALL) {
            assert_eq!(key(code), Some(Command::Act(action)));
        }
        assert_eq!(key(KeyCode::Char('q')), Some(Command::Leave));
        assert_eq!(key(KeyCode::Char('c')), None);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(asked(&Event::Key(interrupt)), Some(Command::Leave));
        assert_eq!(asked(&Event::Resize(10, 10)), None);
    }
}
