//! A grid with letters in some of its cells: the map of Office, Craft and Letter world, and the text files of maps that the published
//! code of Toro Icarte et al. reads (`X` is a wall, `A` the agent, a space an empty cell).

use std::fmt;

use form_core::{AtomSet, Signature};

use crate::env::labelled_mdp::{LabelledMdp, Outcome};
use crate::env::spec::Cell;
use crate::error::{Error, Result};

/// The moves, in the order of the actions.
pub const MOVES: [&str; 4] = ["up", "right", "down", "left"];

/// The largest number of rows, and of columns.
const MAX_SIDE: usize = 1000;

/// What the letters of a map stand for.
pub(crate) type Names = [(char, &'static str)];

/// A grid of cells, some of them with a letter. The free cells are numbered in reading order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetterGrid {
    width: usize,
    height: usize,
    /// The place of each free cell.
    places: Vec<Cell>,
    letters: Vec<Option<char>>,
    /// The cell after each move.
    after: Vec<[usize; 4]>,
    start: usize,
}

impl LetterGrid {
    /// Reads a map: `X` is a wall, `A` the agent, a space an empty cell, any other letter an object. Rows that are shorter than others
    /// end in empty cells. The agent cannot leave the grid.
    pub fn parse(text: &str) -> Result<Self> {
        Self::connected(text, false, |_, _| true)
    }

    /// As [`parse`](Self::parse); a move over an edge of a `torus` leads to the opposite edge, and `open` says whether there is
    /// a way between two cells side by side.
    pub(crate) fn connected(
        text: &str,
        torus: bool,
        open: impl Fn(Cell, Cell) -> bool,
    ) -> Result<Self> {
        let rows: Vec<Vec<char>> = text.lines().map(|row| row.chars().collect()).collect();
        let (width, height) = (rows.iter().map(Vec::len).max().unwrap_or(0), rows.len());
        if width > MAX_SIDE || height > MAX_SIDE {
            return Err(map_error(format!(
                "{width} x {height} cells: at most {MAX_SIDE} x {MAX_SIDE} are possible"
            )));
        }
        let mut numbers = vec![None; width * height];
        let (mut places, mut letters, mut start) = (Vec::new(), Vec::new(), None);
        for (y, row) in rows.iter().enumerate() {
            for x in 0..width {
                let sign = row.get(x).copied().unwrap_or(' ');
                let letter = match sign {
                    'X' => continue,
                    ' ' | '.' | 'A' => None,
                    letter if letter.is_ascii_lowercase() => Some(letter),
                    other => {
                        return Err(map_error(format!(
                            "line {}, column {}: `{other}` is neither a wall (X), the agent (A), an empty cell nor a small letter",
                            y + 1,
                            x + 1
                        )));
                    }
                };
                if sign == 'A' && start.replace(places.len()).is_some() {
                    return Err(map_error(format!(
                        "line {}, column {}: a second agent (A)",
                        y + 1,
                        x + 1
                    )));
                }
                numbers[y * width + x] = Some(places.len());
                places.push(Cell { x, y });
                letters.push(letter);
            }
        }
        let start = start.ok_or_else(|| map_error("there is no agent (A)".to_owned()))?;
        let neighbour = |cell: Cell, step: usize| -> Option<Cell> {
            let Cell { x, y } = cell;
            let (x, y) = match step {
                0 => (Some(x), before(y, height, torus)),
                1 => (behind(x, width, torus), Some(y)),
                2 => (Some(x), behind(y, height, torus)),
                _ => (before(x, width, torus), Some(y)),
            };
            x.zip(y).map(|(x, y)| Cell { x, y })
        };
        let after = (places.iter().enumerate())
            .map(|(cell, place)| {
                std::array::from_fn(|step| {
                    neighbour(*place, step)
                        .filter(|next| open(*place, *next))
                        .and_then(|next| numbers[next.y * width + next.x])
                        .unwrap_or(cell)
                })
            })
            .collect();
        Ok(Self {
            width,
            height,
            places,
            letters,
            after,
            start,
        })
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The number of free cells.
    pub fn cells(&self) -> usize {
        self.places.len()
    }

    /// The cell in which episodes start.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Column and row of a free cell.
    pub fn place(&self, cell: usize) -> Cell {
        self.places[cell]
    }

    /// The letter in a cell.
    pub fn letter(&self, cell: usize) -> Option<char> {
        self.letters[cell]
    }

    /// The cell after a move: the same one if there is a wall.
    pub fn after(&self, cell: usize, step: usize) -> usize {
        self.after[cell][step]
    }

    /// What each cell is labelled with.
    pub(crate) fn labels(&self, names: &Names, signature: &Signature) -> Result<Vec<AtomSet>> {
        (self.letters.iter())
            .map(|letter| {
                let Some(letter) = letter else {
                    return Ok(AtomSet::new());
                };
                let name = name_of(*letter, names);
                let id = signature.id_of_text(&name).ok_or_else(|| {
                    map_error(format!("the letter `{letter}` means nothing in this world"))
                })?;
                Ok([id].into_iter().collect())
            })
            .collect()
    }

    /// The grid as a table for tabular methods. An episode starts where the agent of the map is.
    pub(crate) fn model(&self, names: &Names, signature: &Signature) -> Result<LabelledMdp> {
        let outcome = |next: usize| {
            vec![Outcome {
                probability: 1.0,
                next,
                reward: 0.0,
                terminated: false,
            }]
        };
        let outcomes = (self.after.iter())
            .map(|after| after.iter().map(|next| outcome(*next)).collect())
            .collect();
        LabelledMdp::new(
            signature.clone(),
            self.labels(names, signature)?,
            outcomes,
            vec![(1.0, self.start)],
        )
    }
}

impl fmt::Display for LetterGrid {
    /// The map as [`LetterGrid::parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![vec!['X'; self.width]; self.height];
        for (cell, place) in self.places.iter().enumerate() {
            let sign = if cell == self.start { 'A' } else { ' ' };
            rows[place.y][place.x] = self.letters[cell].unwrap_or(sign);
        }
        for row in rows {
            writeln!(f, "{}", row.into_iter().collect::<String>())?;
        }
        Ok(())
    }
}

/// What a letter stands for: its name in the world, else itself.
pub(crate) fn name_of(letter: char, names: &Names) -> String {
    let known = names.iter().find(|(known, _)| *known == letter);
    known.map_or_else(|| letter.to_string(), |(_, name)| (*name).to_owned())
}

fn before(at: usize, size: usize, torus: bool) -> Option<usize> {
    at.checked_sub(1).or(torus.then_some(size - 1))
}

fn behind(at: usize, size: usize, torus: bool) -> Option<usize> {
    Some(at + 1)
        .filter(|next| *next < size)
        .or(torus.then_some(0))
}

fn map_error(problem: String) -> Error {
    Error::Map(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walls_and_edges_stop_the_agent() {
        let grid = LetterGrid::parse("A b\nX c").unwrap();
        assert_eq!(grid.cells(), 5);
        let after: Vec<usize> = (0..4).map(|step| grid.after(0, step)).collect();
        assert_eq!(after, [0, 1, 0, 0], "up, right, down, left");
        assert_eq!(grid.after(2, 2), 4, "from b down to c");
        assert_eq!(grid.letter(4), Some('c'));
    }

    #[test]
    fn a_torus_has_no_edge() {
        let grid = LetterGrid::connected("A b\n  c", true, |_, _| true).unwrap();
        assert_eq!([grid.after(0, 3), grid.after(0, 0)], [2, 3]);
        assert_eq!([grid.after(5, 1), grid.after(5, 2)], [3, 2]);
    }

    #[test]
    fn what_is_written_reads_back() {
        let text = "XXXXX\nX a X\nXAb X\nXXXXX\n";
        let grid = LetterGrid::parse(text).unwrap();
        assert_eq!(grid.to_string(), text);
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, problem) in [
            ("A\n ?", "line 2, column 2: `?`"),
            ("A\nA", "line 2, column 1: a second agent"),
            ("a", "there is no agent"),
            ("", "there is no agent"),
        ] {
            let error = LetterGrid::parse(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
