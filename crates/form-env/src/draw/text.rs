//! Drawing in text: three characters per cell, with terminal colours on request.

use std::fmt::Write;

use super::frame::Frame;
use super::palette::{self, Rgb};
use crate::env::spec::Cell;
use crate::grid::colour::Colour;
use crate::grid::map::Object;
use crate::grid::pose::Direction;

/// A cell as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glyph {
    /// Three characters.
    pub text: String,
    /// The colour of the characters.
    pub ink: Rgb,
    /// The colour behind them.
    pub paper: Rgb,
}

impl Frame<'_> {
    /// A cell as text: `###` a wall, `y0` a checkpoint (the first letter of its colour, `e` for grey, and its number), `kr` and `dr`
    /// the red key and door, `G` the goal, `~~~` lava, and the agent as `>`, `v`, `<` or `^`.
    pub fn glyph(&self, cell: Cell) -> Glyph {
        let (text, ink, paper) = match (self.agent, self.object(cell)) {
            _ if self.task.room().is_wall(cell) => ("###".to_owned(), palette::WALL, palette::WALL),
            (Some((at, direction)), object) if at == cell => {
                let paper = match object {
                    Some(Object::Goal) => palette::GOAL,
                    Some(Object::Lava) => palette::LAVA,
                    _ => palette::BLACK,
                };
                (format!(" {} ", arrow(direction)), palette::AGENT, paper)
            }
            (_, None) => (" . ".to_owned(), palette::LINES, palette::BLACK),
            (_, Some(Object::Goal)) => (" G ".to_owned(), palette::BLACK, palette::GOAL),
            (_, Some(Object::Lava)) => ("~~~".to_owned(), palette::BLACK, palette::LAVA),
            (_, Some(Object::Checkpoint { colour, number })) => {
                let text = format!("{}{number}", letter(colour));
                (format!("{text:^3}"), colour.rgb(), palette::BLACK)
            }
            (_, Some(Object::Key(colour))) => {
                let text = format!("k{} ", letter(colour));
                (text, colour.rgb(), palette::BLACK)
            }
            (_, Some(Object::Door(colour))) => {
                let text = format!("d{} ", letter(colour));
                (text, colour.rgb(), palette::BLACK)
            }
        };
        Glyph { text, ink, paper }
    }

    /// The whole picture, one line per row, with colours as terminal escape sequences on request.
    pub fn to_text(&self, colours: bool) -> String {
        let last = self.task.room().width() - 1;
        let mut text = String::new();
        for cell in self.cells() {
            let glyph = self.glyph(cell);
            if colours {
                let ([r, g, b], [pr, pg, pb]) = (glyph.ink, glyph.paper);
                let _ = write!(
                    text,
                    "\x1b[38;2;{r};{g};{b};48;2;{pr};{pg};{pb}m{}\x1b[0m",
                    glyph.text
                );
            } else {
                text += &glyph.text;
            }
            if cell.x == last {
                text.push('\n');
            }
        }
        text
    }
}

/// The letter of a colour.
fn letter(colour: Colour) -> char {
    match colour.as_str() {
        // Green has the first letter already.
        "grey" => 'e',
        name => name.chars().next().unwrap_or('?'),
    }
}

fn arrow(direction: Direction) -> char {
    match direction {
        Direction::East => '>',
        Direction::South => 'v',
        Direction::West => '<',
        Direction::North => '^',
    }
}
