//! A picture as shapes, in the paper's look: black cells with grey lines, grey walls, a green goal, orange lava, coloured balls
//! with their numbers, keys, open doors as frames, and the agent as a red triangle. A cell is one unit wide.

use std::fmt::Write;

use super::digits;
use super::frame::Frame;
use super::palette::{self, Rgb};
use crate::env::spec::Cell;
use crate::grid::map::Object;
use crate::grid::pose::Direction;

/// A path in the notation of SVG, filled or drawn as a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    /// What it is: the class that a style sheet finds it by.
    pub(crate) class: String,
    pub(crate) path: String,
    pub(crate) colour: Rgb,
    /// The width of the line; a shape without one is filled.
    pub(crate) line: Option<f32>,
}

impl Shape {
    fn filled(class: &str, path: String, colour: Rgb) -> Self {
        let (class, line) = (class.to_owned(), None);
        Self {
            class,
            path,
            colour,
            line,
        }
    }
}

/// The radius of a ball.
const BALL: f32 = 0.36;
/// The height of the numbers of one and of more digits, and the width of their strokes.
const DIGIT: f32 = 0.34;
const SMALL_DIGIT: f32 = 0.3;
const STROKE: f32 = 0.055;
const GRID_LINE: f32 = 0.03;
const KEY_LINE: f32 = 0.09;
const DOOR_LINE: f32 = 0.1;

/// Everything but the agent.
pub(crate) fn room(frame: &Frame<'_>) -> Vec<Shape> {
    let room = frame.task.room();
    let (width, height) = (room.width(), room.height());
    let floor = rectangle(0, 0, width, height);
    let mut walls = String::new();
    let mut shapes = vec![Shape::filled("floor", floor, palette::BLACK)];
    let mut objects = Vec::new();
    for cell in frame.cells() {
        let square = rectangle(cell.x, cell.y, 1, 1);
        if room.is_wall(cell) {
            walls += &square;
        }
        match frame.object(cell) {
            None => {}
            Some(Object::Goal) => shapes.push(Shape::filled("goal", square, palette::GOAL)),
            Some(Object::Lava) => shapes.push(Shape::filled("lava", square, palette::LAVA)),
            Some(Object::Checkpoint { colour, number }) => {
                let (x, y) = (cell.x as f32 + 0.5, cell.y as f32 + 0.5);
                let class = format!("ball {colour}");
                objects.push(Shape::filled(&class, circle(x, y, BALL), colour.rgb()));
                let size = if number < 10 { DIGIT } else { SMALL_DIGIT };
                objects.push(Shape {
                    class: format!("number {colour}"),
                    path: digits::number(number, x, y, size),
                    colour: colour.ink(),
                    line: Some(STROKE),
                });
            }
            Some(Object::Key(colour)) => objects.push(Shape {
                class: format!("key {colour}"),
                path: key(cell),
                colour: colour.rgb(),
                line: Some(KEY_LINE),
            }),
            Some(Object::Door(colour)) => objects.push(Shape {
                class: format!("door {colour}"),
                path: door(cell),
                colour: colour.rgb(),
                line: Some(DOOR_LINE),
            }),
        }
    }
    shapes.push(Shape::filled("wall", walls, palette::WALL));
    shapes.push(Shape {
        class: "grid".to_owned(),
        path: lines(width, height),
        colour: palette::LINES,
        line: Some(GRID_LINE),
    });
    shapes.append(&mut objects);
    shapes
}

/// The agent in its cell.
pub(crate) fn agent(cell: Cell, direction: Direction) -> Vec<Shape> {
    // As it looks to the east, around the middle of the cell.
    let corners = [(0.4, 0.0), (-0.4, 0.3), (-0.4, -0.3)];
    let (middle_x, middle_y) = (cell.x as f32 + 0.5, cell.y as f32 + 0.5);
    let turned = corners.map(|(x, y)| match direction {
        Direction::East => (middle_x + x, middle_y + y),
        Direction::South => (middle_x - y, middle_y + x),
        Direction::West => (middle_x - x, middle_y - y),
        Direction::North => (middle_x + y, middle_y - x),
    });
    let mut path = String::new();
    for (letter, (x, y)) in "MLL".chars().zip(turned) {
        let _ = write!(path, "{letter}{x:.2} {y:.2}");
    }
    path.push('Z');
    let outline = Shape {
        class: "outline".to_owned(),
        path: path.clone(),
        colour: palette::BLACK,
        line: Some(STROKE),
    };
    vec![outline, Shape::filled("agent", path, palette::AGENT)]
}

fn rectangle(x: usize, y: usize, width: usize, height: usize) -> String {
    format!("M{x} {y}h{width}v{height}h-{width}z")
}

/// A ring, a shaft and two teeth.
fn key(cell: Cell) -> String {
    let (x, y) = (cell.x as f32, cell.y as f32);
    let ring = circle(x + 0.5, y + 0.3, 0.13);
    format!(
        "{ring}M{:.2} {:.2}v0.40h0.16m-0.16 -0.14h0.13",
        x + 0.5,
        y + 0.43
    )
}

/// A frame without a leaf: it is open.
fn door(cell: Cell) -> String {
    let (x, y) = (cell.x as f32 + 0.14, cell.y as f32 + 0.14);
    format!("M{x:.2} {y:.2}h0.72v0.72h-0.72z")
}

fn circle(x: f32, y: f32, radius: f32) -> String {
    let (left, across) = (x - radius, 2.0 * radius);
    format!(
        "M{left:.2} {y:.2}a{radius:.2} {radius:.2} 0 1 0 {across:.2} 0a{radius:.2} {radius:.2} 0 1 0 -{across:.2} 0z"
    )
}

/// The lines between the cells.
fn lines(width: usize, height: usize) -> String {
    let mut path = String::new();
    for x in 0..=width {
        let _ = write!(path, "M{x} 0v{height}");
    }
    for y in 0..=height {
        let _ = write!(path, "M0 {y}h{width}");
    }
    path
}
