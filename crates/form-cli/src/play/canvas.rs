//! Text cells with styles, and the terminal that shows them: boxes, text with and without wrapping, and a redraw of the rows that
//! changed. A character takes one column.

use std::fmt;
use std::io::{Stdout, Write, stdout};
use std::ops::Range;

use anyhow::{Context, Result};
use crossterm::style::{Attribute, Color, Print, ResetColor, SetAttribute, SetColors};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute, queue};
use form_env::Rgb;

/// How a character looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    pub ink: Option<Color>,
    pub paper: Option<Color>,
    pub bold: bool,
    pub dim: bool,
    pub reversed: bool,
}

impl Style {
    pub fn bold() -> Self {
        Self {
            bold: true,
            ..Self::default()
        }
    }

    pub fn dim() -> Self {
        Self {
            dim: true,
            ..Self::default()
        }
    }

    pub fn ink(self, colour: Color) -> Self {
        Self {
            ink: Some(colour),
            ..self
        }
    }

    pub fn of_pixels(ink: Rgb, paper: Rgb) -> Self {
        let colour = |[r, g, b]: Rgb| Some(Color::Rgb { r, g, b });
        Self {
            ink: colour(ink),
            paper: colour(paper),
            ..Self::default()
        }
    }
}

/// A line of text: stretches of one style each.
pub type Line = Vec<(String, Style)>;

/// A rectangle of a canvas.
#[derive(Clone, Debug)]
pub struct Area {
    pub columns: Range<usize>,
    pub rows: Range<usize>,
}

impl Area {
    /// The part inside a border.
    pub fn inside(&self) -> Self {
        let shrink = |side: &Range<usize>| {
            let start = (side.start + 1).min(side.end);
            start..(side.end.saturating_sub(1)).max(start)
        };
        Self {
            columns: shrink(&self.columns),
            rows: shrink(&self.rows),
        }
    }
}

/// A screen of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    width: usize,
    rows: Vec<Vec<(char, Style)>>,
}

impl Canvas {
    pub fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            rows: vec![vec![(' ', Style::default()); width]; height],
        }
    }

    pub fn area(&self) -> Area {
        Area {
            columns: 0..self.width,
            rows: 0..self.rows.len(),
        }
    }

    /// Writes characters into a row of an area, as many as fit.
    fn write(&mut self, area: &Area, row: usize, cells: impl IntoIterator<Item = (char, Style)>) {
        if let Some(row) = self.rows.get_mut(area.rows.start + row)
            && let Some(places) = row.get_mut(area.columns.clone())
        {
            for (place, cell) in places.iter_mut().zip(cells) {
                *place = cell;
            }
        }
    }

    /// A border with a title; returns the area inside.
    pub fn bordered(&mut self, area: &Area, title: &str) -> Area {
        let (width, height) = (area.columns.len(), area.rows.len());
        let plain = |text: String| text.chars().map(|c| (c, Style::default())).collect();
        let line = |[left, fill, right]: [char; 3], title: &str| -> Vec<(char, Style)> {
            let title: String = title.chars().take(width.saturating_sub(2)).collect();
            let rest = width.saturating_sub(2 + title.chars().count());
            let fill: String = std::iter::repeat_n(fill, rest).collect();
            plain(format!("{left}{title}{fill}{right}"))
        };
        for row in 0..height {
            let cells = match row {
                0 => line(['┌', '─', '┐'], &format!(" {title} ")),
                last if last + 1 == height => line(['└', '─', '┘'], ""),
                _ => line(['│', ' ', '│'], ""),
            };
            self.write(area, row, cells);
        }
        area.inside()
    }

    /// Lines from the top of an area, cut off at its sides.
    pub fn lines(&mut self, area: &Area, lines: &[Line]) {
        for (row, line) in lines.iter().take(area.rows.len()).enumerate() {
            self.write(area, row, cells(line));
        }
    }

    /// The same with long lines wrapped at spaces.
    pub fn wrapped(&mut self, area: &Area, lines: &[Line]) {
        let rows = lines
            .iter()
            .flat_map(|line| wrap(&cells(line), area.columns.len()));
        for (row, cells) in rows.take(area.rows.len()).enumerate() {
            self.write(area, row, cells);
        }
    }
}

fn cells(line: &Line) -> Vec<(char, Style)> {
    let styled = |(text, style): &(String, Style)| {
        let style = *style;
        text.chars().map(move |c| (c, style)).collect::<Vec<_>>()
    };
    line.iter().flat_map(styled).collect()
}

/// Rows of at most this width, broken at spaces, and within words that are longer than a row.
fn wrap(cells: &[(char, Style)], width: usize) -> Vec<Vec<(char, Style)>> {
    let mut rows = Vec::new();
    let mut rest = cells;
    while rest.len() > width && width > 0 {
        let is_space = |place: usize| rest[place].0 == ' ';
        let end = (1..=width).rev().find(|place| is_space(*place));
        let end = end.unwrap_or(width);
        rows.push(rest[..end].to_vec());
        let skipped = rest[end..].iter().take_while(|(c, _)| *c == ' ').count();
        rest = &rest[end + skipped..];
    }
    rows.push(rest.to_vec());
    rows
}

/// The characters, one quoted row per line.
impl fmt::Display for Canvas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            let text: String = row.iter().map(|(c, _)| c).collect();
            writeln!(f, "\"{text}\"")?;
        }
        Ok(())
    }
}

/// The terminal in raw mode on its alternate screen, until it is dropped.
pub struct Screen {
    out: Stdout,
    /// What it shows.
    shown: Option<Canvas>,
}

impl Screen {
    pub fn open() -> Result<Self> {
        terminal::enable_raw_mode().context("cannot set up the terminal")?;
        // What a panic says must not be lost with the screen that it is said on.
        let said_before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore(&mut stdout());
            said_before(panic);
        }));
        let mut screen = Self {
            out: stdout(),
            shown: None,
        };
        execute!(screen.out, EnterAlternateScreen, cursor::Hide)
            .context("cannot set up the terminal")?;
        Ok(screen)
    }

    /// Shows what is drawn on a canvas of the size of the terminal.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Canvas)) -> Result<()> {
        let (width, height) = terminal::size()?;
        let mut canvas = Canvas::new(width.into(), height.into());
        draw(&mut canvas);
        let same_size =
            |shown: &Canvas| shown.width == canvas.width && shown.rows.len() == canvas.rows.len();
        let before = self.shown.take().filter(same_size);
        if before.is_none() {
            queue!(self.out, Clear(ClearType::All))?;
        }
        for (number, row) in canvas.rows.iter().enumerate() {
            if before.as_ref().and_then(|before| before.rows.get(number)) != Some(row) {
                queue!(self.out, cursor::MoveTo(0, number as u16))?;
                self.print(row)?;
            }
        }
        self.out.flush()?;
        self.shown = Some(canvas);
        Ok(())
    }

    fn print(&mut self, row: &[(char, Style)]) -> Result<()> {
        for stretch in row.chunk_by(|a, b| a.1 == b.1) {
            let style = stretch[0].1;
            let text: String = stretch.iter().map(|(c, _)| c).collect();
            let colours = crossterm::style::Colors {
                foreground: style.ink,
                background: style.paper,
            };
            let attributes = [
                (style.bold, Attribute::Bold),
                (style.dim, Attribute::Dim),
                (style.reversed, Attribute::Reverse),
            ];
            for (_, attribute) in attributes.iter().filter(|(wanted, _)| *wanted) {
                queue!(self.out, SetAttribute(*attribute))?;
            }
            queue!(
                self.out,
                SetColors(colours),
                Print(text),
                SetAttribute(Attribute::Reset),
                ResetColor
            )?;
        }
        Ok(())
    }
}

/// However it ends, also by a panic, the terminal is as it was.
impl Drop for Screen {
    fn drop(&mut self) {
        restore(&mut self.out);
    }
}

fn restore(out: &mut Stdout) {
    // There is nothing left to do if the terminal is gone.
    let _ = execute!(out, LeaveAlternateScreen, cursor::Show);
    let _ = terminal::disable_raw_mode();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_at_spaces() {
        let wrapped = |text: &str, width| -> Vec<String> {
            let cells: Vec<_> = text.chars().map(|c| (c, Style::default())).collect();
            let text = |row: Vec<(char, Style)>| row.into_iter().map(|(c, _)| c).collect();
            wrap(&cells, width).into_iter().map(text).collect()
        };
        assert_eq!(wrapped("a few words", 20), ["a few words"]);
        assert_eq!(wrapped("a few words", 5), ["a few", "words"]);
        assert_eq!(wrapped("a few  words", 6), ["a few ", "words"]);
        assert_eq!(wrapped("words", 2), ["wo", "rd", "s"]);
        assert_eq!(wrapped("", 3), [""]);
    }
}
