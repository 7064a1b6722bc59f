//! The screen of a game: the room on the left, the machine and its buffer on the right.

use crossterm::style::Color;
use form_core::{Notation, StateId};
use form_env::{Cell, Environment, EpisodeOutcome, Frame};

use super::canvas::{Area, Canvas, Line, Style};
use super::game::Game;

/// The columns per cell.
const CELL: usize = 3;
/// The minimum columns of the machine.
const MACHINE: usize = 36;
/// The rows of the episode panel, two of which can be long.
const EPISODE: usize = 11;
/// The number of recent observations shown.
const TRACE: usize = 6;

/// Draws everything.
pub fn draw(canvas: &mut Canvas, game: &Game) {
    let title = format!("{}, map {}", game.world().task().name(), game.map());
    let keys = " ← → turn  ↑ walk  p d t e pickup drop toggle done  r again  n next map  q quit";
    draw_with(canvas, game, &title, keys);
}

/// Draws everything, with a title and a line of keys.
pub fn draw_with(canvas: &mut Canvas, game: &Game, title: &str, help: &str) {
    let Area { columns, rows } = canvas.area();
    let room = game.world().task().room();
    let wanted = room.width() * CELL + 2;
    let keys = rows.len().saturating_sub(1);
    // A room that is too large is cropped around the agent.
    let middle = wanted.min(columns.len().saturating_sub(MACHINE));
    let beside = keys.saturating_sub(EPISODE);
    let area = |columns, rows| Area { columns, rows };
    draw_room(canvas, &area(0..middle, 0..keys), game, title);
    draw_machine(canvas, &area(middle..columns.end, 0..beside), game);
    draw_episode(canvas, &area(middle..columns.end, beside..keys), game);
    let help = [vec![(help.to_owned(), Style::dim())]];
    canvas.lines(&area(columns, keys..rows.end), &help);
}

fn draw_room(canvas: &mut Canvas, area: &Area, game: &Game, title: &str) {
    let world = game.world();
    let inside = canvas.bordered(area, title);
    let room = world.task().room();
    let agent = world.agent();
    let columns = visible(room.width(), inside.columns.len() / CELL, agent.x);
    let rows = visible(room.height(), inside.rows.len(), agent.y);
    let picture = Frame::of_world(world);
    let row = |y| -> Line {
        let glyphs = columns.clone().map(|x| picture.glyph(Cell { x, y }));
        let styled = glyphs.map(|glyph| (glyph.text, Style::of_pixels(glyph.ink, glyph.paper)));
        styled.collect()
    };
    let lines: Vec<Line> = rows.map(row).collect();
    canvas.lines(&inside, &lines);
}

/// The visible range of a side of the room, which contains the agent.
fn visible(size: usize, fits: usize, agent: usize) -> std::ops::Range<usize> {
    let fits = fits.min(size);
    let first = agent.saturating_sub(fits / 2).min(size - fits);
    first..first + fits
}

fn draw_machine(canvas: &mut Canvas, area: &Area, game: &Game) {
    let machine = game.machine();
    let mut lines = Vec::new();
    let mut current = 0;
    for state in machine.state_ids() {
        if state == game.monitor().state() {
            current = lines.len();
        }
        lines.extend(state_lines(game, state));
    }
    let inside = canvas.bordered(area, machine.name());
    // A long machine is cropped around the current state.
    let hidden = (lines.len().saturating_sub(inside.rows.len())).min(current);
    canvas.lines(&inside, &lines[hidden..]);
}

/// The observations and the outcome.
fn draw_episode(canvas: &mut Canvas, area: &Area, game: &Game) {
    let (world, signature) = (game.world(), game.signature());
    let bold = |colour| Style::bold().ink(colour);
    let (outcome, style) = match world.outcome() {
        EpisodeOutcome::Running => ("running", Style::default()),
        EpisodeOutcome::Goal => ("goal: the task is done", bold(Color::Green)),
        EpisodeOutcome::DeadEnd => ("dead end: the task has become impossible", bold(Color::Red)),
        EpisodeOutcome::OutOfTime => ("out of time", bold(Color::Yellow)),
    };
    let steps = game.trace().steps();
    let newest: Vec<String> = (steps.iter().rev().take(TRACE))
        .map(|step| signature.describe(step))
        .collect();
    let fact = |name: &str, value: String| -> Line {
        vec![(name.to_owned(), Style::dim()), (value, Style::default())]
    };
    let state = game.machine().state_name(game.monitor().state());
    let mut first = fact("episode   ", outcome.to_owned());
    first[1].1 = style;
    let lines = [
        first,
        fact(
            "steps     ",
            format!("{} of {}", world.steps(), world.task().steps()),
        ),
        fact("reward    ", game.reward().to_string()),
        fact("state     ", state.to_owned()),
        fact("observed  ", signature.describe(world.labels())),
        fact("buffer    ", signature.describe(game.monitor().seen())),
        fact("newest    ", newest.join(" ")),
    ];
    let inside = canvas.bordered(area, "episode");
    canvas.wrapped(&inside, &lines);
}

/// A state and its edges; the current state is highlighted.
fn state_lines(game: &Game, state: StateId) -> Vec<Line> {
    let machine = game.machine();
    let current = game.monitor().state() == state;
    let mark = match () {
        () if state == machine.accept() => '✓',
        () if Some(state) == machine.reject() => '✗',
        () if state == machine.initial() => '→',
        () => ' ',
    };
    let style = Style {
        bold: current,
        ..Style::default()
    };
    let highlighted = Style {
        reversed: current,
        ..style
    };
    let name = format!(" {mark} {} ", machine.state_name(state));
    let edges = (machine.edges_from(state)).map(|(_, edge)| {
        let formula = edge.formula.display(Notation::Unicode);
        let to = machine.state_name(edge.to);
        vec![(format!("     → {to}  {formula}"), style)]
    });
    std::iter::once(vec![(name, highlighted)])
        .chain(edges)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use form_env::{
        Action, GridWorld, Maps, Split, Stream, Task, WorldOptions, generator, solution,
    };

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

    fn screen(game: &Game, width: usize, height: usize) -> Canvas {
        let mut canvas = Canvas::new(width, height);
        draw(&mut canvas, game);
        canvas
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
