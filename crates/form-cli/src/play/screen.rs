//! The screen of a game: the room on the left, the machine and its buffer on the right.

use form_core::{Notation, StateId};
use form_env::{Cell, Environment, EpisodeOutcome, Frame, Rgb};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Wrap};

use super::game::Game;

/// The columns per cell.
const CELL: u16 = 3;
/// The minimum columns of the machine.
const MACHINE: u16 = 36;
/// The rows of the episode panel, two of which can be long.
const EPISODE: u16 = 11;
/// The number of recent observations shown.
const TRACE: usize = 6;

/// Draws everything.
pub fn draw(frame: &mut ratatui::Frame<'_>, game: &Game) {
    let title = format!("{}, map {}", game.world().task().name(), game.map());
    let keys = " ← → turn  ↑ walk  p d t e pickup drop toggle done  r again  n next map  q quit";
    draw_with(frame, game, &title, keys);
}

/// Draws everything, with a title and a line of keys.
pub fn draw_with(frame: &mut ratatui::Frame<'_>, game: &Game, title: &str, help: &str) {
    let room = game.world().task().room();
    let wanted = room.width() as u16 * CELL + 2;
    let [top, keys] =
        Layout::vertical([Constraint::Min(3), Constraint::Length(1)]).areas(frame.area());
    // A room that is too large is cropped around the agent.
    let width = wanted.min(top.width.saturating_sub(MACHINE));
    let [left, right] =
        Layout::horizontal([Constraint::Length(width), Constraint::Min(0)]).areas(top);
    draw_room(frame, left, game, title);
    let [machine, episode] =
        Layout::vertical([Constraint::Min(3), Constraint::Length(EPISODE)]).areas(right);
    draw_machine(frame, machine, game);
    draw_episode(frame, episode, game);
    frame.render_widget(Line::from(help).dim(), keys);
}

fn draw_room(frame: &mut ratatui::Frame<'_>, area: Rect, game: &Game, title: &str) {
    let world = game.world();
    let block = Block::bordered().title(format!(" {title} "));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let room = world.task().room();
    let agent = world.agent();
    let columns = visible(room.width(), usize::from(inner.width / CELL), agent.x);
    let rows = visible(room.height(), usize::from(inner.height), agent.y);
    let picture = Frame::of_world(world);
    let lines: Vec<Line<'_>> = rows
        .map(|y| {
            let glyphs = columns.clone().map(|x| picture.glyph(Cell { x, y }));
            let spans = glyphs.map(|glyph| {
                Span::styled(
                    glyph.text,
                    Style::new().fg(colour(glyph.ink)).bg(colour(glyph.paper)),
                )
            });
            Line::from_iter(spans)
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

/// The visible range of a side of the room, which contains the agent.
fn visible(size: usize, fits: usize, agent: usize) -> std::ops::Range<usize> {
    let fits = fits.min(size);
    let first = agent.saturating_sub(fits / 2).min(size - fits);
    first..first + fits
}

fn draw_machine(frame: &mut ratatui::Frame<'_>, area: Rect, game: &Game) {
    let machine = game.machine();
    let mut lines = Vec::new();
    let mut current = 0;
    for state in machine.state_ids() {
        if state == game.monitor().state() {
            current = lines.len();
        }
        lines.extend(state_lines(game, state));
    }
    let block = Block::bordered().title(format!(" {} ", machine.name()));
    let fits = usize::from(block.inner(area).height);
    // A long machine is cropped around the current state.
    let hidden = lines.len().saturating_sub(fits).min(current);
    let text = Paragraph::new(lines).scroll((hidden as u16, 0));
    frame.render_widget(text.block(block), area);
}

/// The observations and the outcome.
fn draw_episode(frame: &mut ratatui::Frame<'_>, area: Rect, game: &Game) {
    let (world, signature) = (game.world(), game.signature());
    let outcome = match world.outcome() {
        EpisodeOutcome::Running => Span::raw("running"),
        EpisodeOutcome::Goal => "goal: the task is done".green().bold(),
        EpisodeOutcome::DeadEnd => "dead end: the task has become impossible".red().bold(),
        EpisodeOutcome::OutOfTime => "out of time".yellow().bold(),
    };
    let steps = game.trace().steps();
    let newest: Vec<String> = (steps.iter().rev().take(TRACE))
        .map(|step| signature.describe(step))
        .collect();
    let fact = |name: &'static str, value: Span<'static>| Line::from(vec![name.dim(), value]);
    let state = game.machine().state_name(game.monitor().state()).to_owned();
    let count = format!("{} of {}", world.steps(), world.task().steps());
    let lines = vec![
        fact("episode   ", outcome),
        fact("steps     ", Span::raw(count)),
        fact("reward    ", Span::raw(game.reward().to_string())),
        fact("state     ", Span::raw(state)),
        fact("observed  ", Span::raw(signature.describe(world.labels()))),
        fact(
            "buffer    ",
            Span::raw(signature.describe(game.monitor().seen())),
        ),
        fact("newest    ", Span::raw(newest.join(" "))),
    ];
    let text = Paragraph::new(lines).wrap(Wrap { trim: true });
    frame.render_widget(text.block(Block::bordered().title(" episode ")), area);
}

/// A state and its edges; the current state is highlighted.
fn state_lines(game: &Game, state: StateId) -> Vec<Line<'static>> {
    let machine = game.machine();
    let current = game.monitor().state() == state;
    let mark = match () {
        () if state == machine.accept() => '✓',
        () if Some(state) == machine.reject() => '✗',
        () if state == machine.initial() => '→',
        () => ' ',
    };
    let style = if current {
        Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
    } else {
        Style::new()
    };
    let name = format!(" {mark} {} ", machine.state_name(state));
    let edges = (machine.edges_from(state)).map(|(_, edge)| {
        let (to, formula) = (
            machine.state_name(edge.to),
            edge.formula.display(Notation::Unicode),
        );
        let line = Line::from(format!("     → {to}  {formula}"));
        if current { line.bold() } else { line }
    });
    std::iter::once(Line::from(Span::styled(name, style)))
        .chain(edges)
        .collect()
}

fn colour([red, green, blue]: Rgb) -> Color {
    Color::Rgb(red, green, blue)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use form_env::{
        Action, GridWorld, Maps, Split, Stream, Task, WorldOptions, generator, solution,
    };
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    /// A game on the first map of seed 7.
    fn game(name: &str) -> Game {
        let task = Arc::new(Task::builtin(name).unwrap());
        let maps = task.maps(7, Split::Training, 1).unwrap();
        let map = maps[0].clone();
        let mut world =
            GridWorld::new(task.clone(), Maps::Set(maps), WorldOptions::default()).unwrap();
        let start = &mut generator(7, Stream::Other(0));
        world.reset_on(map, start).unwrap();
        Game::new(world, task.truth().clone(), 0)
    }

    fn screen(game: &Game, width: u16, height: u16) -> TestBackend {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, game)).unwrap();
        terminal.backend().clone()
    }

    #[test]
    fn a_game_from_its_start_to_its_end() {
        let mut game = game("blue-all-yellow-7");
        insta::assert_snapshot!(screen(&game, 100, 24));
        let actions: Vec<Action> = solution(game.world(), 1_000_000).unwrap();
        for action in &actions[..actions.len() - 8] {
            game.act(*action).unwrap();
        }
        insta::assert_snapshot!(screen(&game, 100, 24));
        for action in &actions[actions.len() - 8..] {
            game.act(*action).unwrap();
        }
        assert_eq!(game.reward(), 1.0);
        insta::assert_snapshot!(screen(&game, 100, 24));
    }

    #[test]
    fn a_small_terminal_shows_what_is_around_the_agent() {
        insta::assert_snapshot!(screen(&game("green-but-one"), 60, 16));
    }

    #[test]
    fn no_terminal_is_too_small_to_draw_in() {
        let game = game("green-but-one");
        for (width, height) in [(1, 1), (2, 3), (10, 4), (37, 9), (300, 2), (5, 100)] {
            screen(&game, width, height);
        }
    }

    #[test]
    fn the_part_of_a_room_that_fits() {
        assert_eq!(visible(13, 20, 3), 0..13);
        assert_eq!(visible(13, 5, 1), 0..5);
        assert_eq!(visible(13, 5, 6), 4..9);
        assert_eq!(visible(13, 5, 11), 8..13);
        assert_eq!(visible(13, 0, 6), 6..6);
    }
}
