//! Watching policies: a recorded episode is replayed automatically or step by step.

use std::time::{Duration, Instant};

use anyhow::Result;
use crossterm::event::{self, Event, KeyCode};
use form_env::Action;
use form_lab::Recording;

use super::canvas::{Canvas, Screen};
use super::game::Game;
use super::{PAUSE, pressed, screen};

/// The available speeds in steps per second, and the initial one.
const SPEEDS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const FIRST_SPEED: usize = 3;

/// A replay in progress.
pub struct Watch {
    /// Plays an episode on the map of a number, or on one of its own choice.
    record: Box<dyn Fn(Option<u64>) -> Result<Recording>>,
    recording: Recording,
    game: Game,
    step: usize,
    plays: bool,
    speed: usize,
}

/// The command of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    PlayOrPause,
    Forward,
    Back,
    Faster,
    Slower,
    Again,
    NextMap,
    Leave,
}

impl Watch {
    /// A replay at its start, of an episode on a map of this number. Episodes on other maps are recorded when they are asked for.
    pub fn new(
        map: Option<u64>,
        record: impl Fn(Option<u64>) -> Result<Recording> + 'static,
    ) -> Result<Self> {
        let recording = record(map)?;
        Ok(Self {
            game: game_of(&recording),
            record: Box::new(record),
            recording,
            step: 0,
            plays: true,
            speed: FIRST_SPEED,
        })
    }

    /// Shows it until the user quits.
    pub fn run(&mut self, screen: &mut Screen, interrupted: &dyn Fn() -> bool) -> Result<()> {
        let mut since = Instant::now();
        loop {
            screen.draw(|canvas| self.draw(canvas))?;
            let tick = Duration::from_secs(1) / SPEEDS[self.speed];
            let wait = match self.plays && self.step < self.recording.steps() {
                true => tick.saturating_sub(since.elapsed()).min(PAUSE),
                false => PAUSE,
            };
            if event::poll(wait)? {
                match asked(&event::read()?) {
                    Some(Command::Leave) => return Ok(()),
                    Some(command) => self.obey(command)?,
                    None => {}
                }
            }
            if interrupted() {
                return Ok(());
            }
            if self.plays && since.elapsed() >= tick {
                since = Instant::now();
                self.forward()?;
            }
        }
    }

    fn obey(&mut self, command: Command) -> Result<()> {
        match command {
            Command::PlayOrPause => self.plays = !self.plays,
            Command::Forward => {
                self.plays = false;
                self.forward()?;
            }
            Command::Back => {
                self.plays = false;
                self.go(self.step.saturating_sub(1))?;
            }
            Command::Faster => self.speed = (self.speed + 1).min(SPEEDS.len() - 1),
            Command::Slower => self.speed = self.speed.saturating_sub(1),
            Command::Again => {
                self.go(0)?;
                self.plays = true;
            }
            Command::NextMap => self.next_map()?,
            Command::Leave => {}
        }
        Ok(())
    }

    /// One step forward, if there is one.
    fn forward(&mut self) -> Result<()> {
        let next = self.recording.actions().nth(self.step);
        if let Some(action) = next {
            self.game.act(action)?;
            self.step += 1;
        }
        Ok(())
    }

    /// To a step, replayed from the start: worlds cannot step back.
    fn go(&mut self, step: usize) -> Result<()> {
        self.game = game_of(&self.recording);
        let actions: Vec<Action> = self.recording.actions().take(step).collect();
        for action in &actions {
            self.game.act(*action)?;
        }
        self.step = actions.len();
        Ok(())
    }

    /// The next map of the set; the first one after the last.
    fn next_map(&mut self) -> Result<()> {
        let next = (self.record)(Some(self.recording.map() + 1));
        self.recording = match next {
            Ok(recording) => recording,
            Err(_) => (self.record)(Some(0))?,
        };
        self.go(0)?;
        self.plays = true;
        Ok(())
    }

    fn draw(&self, canvas: &mut Canvas) {
        let ended = match self.step == self.recording.steps() {
            true => self.recording.outcome(),
            false => format!("step {} of {}", self.step, self.recording.steps()),
        };
        let keys = format!(
            " {ended}   space {}  ← → step  + - speed {}/s  r again  n next map  q quit",
            if self.plays { "pause" } else { "play" },
            SPEEDS[self.speed]
        );
        screen::draw_with(canvas, &self.game, &self.recording.title(), &keys);
    }
}

/// The world and the machine at the start of a recording.
fn game_of(recording: &Recording) -> Game {
    Game::new(
        recording.start().clone(),
        recording.machine().clone(),
        recording.map(),
    )
}

fn asked(event: &Event) -> Option<Command> {
    Some(match pressed(event)? {
        KeyCode::Char(' ') => Command::PlayOrPause,
        KeyCode::Right | KeyCode::Char('l') => Command::Forward,
        KeyCode::Left | KeyCode::Char('h') => Command::Back,
        KeyCode::Char('+' | '=') => Command::Faster,
        KeyCode::Char('-') => Command::Slower,
        KeyCode::Char('r') => Command::Again,
        KeyCode::Char('n') => Command::NextMap,
        KeyCode::Char('q') | KeyCode::Esc => Command::Leave,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crossterm::event::{KeyEvent, KeyModifiers};
    use form_env::Split;
    use form_lab::{
        Display, EpisodeRequest, GridEnvFactory, Method, Preset, RunConfig, SavedRun, Session,
    };
    use form_rl::Choice;

    use super::*;

    fn watch(map: Option<u64>) -> Watch {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let mut config = RunConfig::new("all-yellow", Method::Handcrafted, Preset::Fast);
        for (key, value) in [
            ("iterations", "1"),
            ("layouts", "3"),
            ("worlds", "4"),
            ("ppo.train_batch", "64"),
            ("ppo.minibatch", "64"),
            ("network.filters", "[2]"),
            ("network.hidden", "[4]"),
            ("evaluation.episodes", "1"),
            ("evaluation.final_episodes", "1"),
        ] {
            config.set(key, value).unwrap();
        }
        let envs = GridEnvFactory::new(&config).unwrap();
        let mut session = Session::begin(config, envs, &path, Arc::default()).unwrap();
        session.run(&mut Display::quiet()).unwrap();
        let request = EpisodeRequest {
            split: Split::Training,
            map,
            seed: 5,
            choice: Choice::Sample,
        };
        let run = SavedRun::open(&path).unwrap();
        Watch::new(map, move |map| {
            Recording::of(&run, &EpisodeRequest { map, ..request })
        })
        .unwrap()
    }

    fn screen(watch: &Watch) -> String {
        let mut canvas = Canvas::new(110, 24);
        watch.draw(&mut canvas);
        canvas.to_string()
    }

    #[test]
    fn an_episode_goes_forward_and_back() {
        let mut watch = watch(Some(1));
        let first = screen(&watch);
        assert!(first.contains("all-yellow, training map 1"), "{first}");
        assert!(first.contains("step 0 of "), "{first}");
        watch.obey(Command::Forward).unwrap();
        watch.obey(Command::Forward).unwrap();
        let third = screen(&watch);
        assert!(third.contains("step 2 of ") && third.contains("space play"));
        watch.obey(Command::Back).unwrap();
        watch.obey(Command::Back).unwrap();
        // Nothing is before the start.
        watch.obey(Command::Back).unwrap();
        let words = |screen: &str| {
            screen
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let paused = first.replace("space pause", "space play");
        assert_eq!(words(&screen(&watch)), words(&paused));
        // To the end, and it stays there.
        let steps = watch.recording.steps();
        for _ in 0..steps + 3 {
            watch.obey(Command::Forward).unwrap();
        }
        let last = screen(&watch);
        assert!(last.contains(&watch.recording.outcome()), "{last}");
        assert_eq!(watch.game.world().steps() as usize, steps);
    }

    #[test]
    fn maps_come_one_after_the_other_and_begin_again() {
        let mut watch = watch(Some(1));
        for map in [2, 0, 1] {
            watch.obey(Command::NextMap).unwrap();
            assert_eq!((watch.recording.map(), watch.step), (map, 0));
        }
        watch.obey(Command::Forward).unwrap();
        watch.obey(Command::Again).unwrap();
        assert!(watch.step == 0 && watch.plays);
        for _ in 0..20 {
            watch.obey(Command::Faster).unwrap();
        }
        assert_eq!(SPEEDS[watch.speed], 64);
        for _ in 0..20 {
            watch.obey(Command::Slower).unwrap();
        }
        assert_eq!(SPEEDS[watch.speed], 1);
    }

    #[test]
    fn keys() {
        let key = |code| asked(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        assert_eq!(key(KeyCode::Char(' ')), Some(Command::PlayOrPause));
        assert_eq!(key(KeyCode::Right), Some(Command::Forward));
        assert_eq!(key(KeyCode::Esc), Some(Command::Leave));
        assert_eq!(key(KeyCode::Char('x')), None);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(asked(&Event::Key(interrupt)), Some(Command::Leave));
    }
}
