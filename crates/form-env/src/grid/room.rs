//! A room: its size, its walls, the goal, and where checkpoints may lie.

use crate::env::spec::Cell;
use crate::error::{Error, Result};

/// The number of a cell: `x * height + y`.
pub(crate) type CellNumber = u16;

/// The longest side a room may have: its cells can then be numbered in 16 bits.
pub const MAX_SIDE: usize = 255;

/// A room, surrounded by walls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    width: usize,
    height: usize,
    /// By number of the cell.
    walls: Box<[bool]>,
    goal: Cell,
    area: Area,
}

/// A rectangle of cells, its corners included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// The corner at the top left.
    pub first: Cell,
    /// The corner at the bottom right.
    pub last: Cell,
}

impl Area {
    /// Whether the cell is in it.
    pub fn contains(&self, cell: Cell) -> bool {
        (self.first.x..=self.last.x).contains(&cell.x)
            && (self.first.y..=self.last.y).contains(&cell.y)
    }
}

/// Why a picture is not one of a room, and the row that is at fault, from 0.
pub(crate) type PictureFault = (usize, String);

impl Room {
    /// The room of the paper (Figure 1a): 13 × 13, two walls with two gaps each, the goal in the corner at the bottom right.
    /// Checkpoints lie at columns and rows 1 to 10.
    pub fn paper() -> Self {
        let rows = [
            "#############",
            "#.....#.....#",
            "#.....#.....#",
            "#...........#",
            "#.....#.....#",
            "#.....#.....#",
            "##.####.....#",
            "#.....###.###",
            "#.....#.....#",
            "#.....#.....#",
            "#...........#",
            "#.....#....G#",
            "#############",
        ];
        let corner = |i| Cell { x: i, y: i };
        let area = Area {
            first: corner(1),
            last: corner(10),
        };
        let room = Self::read(&rows).expect("the picture above is one of a room");
        room.with_area(area)
    }

    /// Reads a picture: `#` is a wall, `.` or a space a free cell, `G` the goal.
    pub fn from_rows<T: AsRef<str>>(rows: &[T]) -> Result<Self> {
        Self::read(rows).map_err(|(row, problem)| Error::Room(format!("row {row}: {problem}")))
    }

    /// An empty room with walls around it and the goal in the corner at the bottom right. Both sides are at least 4 and at most
    /// [`MAX_SIDE`] cells long.
    pub fn empty(width: usize, height: usize) -> Result<Self> {
        check_sides(width, height).map_err(Error::Room)?;
        let border = |x, y| x == 0 || y == 0 || x == width - 1 || y == height - 1;
        let walls = (0..width * height).map(|i| border(i / height, i % height));
        let area = interior(width, height);
        Ok(Self {
            width,
            height,
            walls: walls.collect(),
            goal: area.last,
            area,
        })
    }

    /// As [`from_rows`](Self::from_rows), with the row that is at fault.
    pub(crate) fn read<T: AsRef<str>>(rows: &[T]) -> Result<Self, PictureFault> {
        let rows: Vec<Vec<char>> = rows
            .iter()
            .map(|row| row.as_ref().chars().collect())
            .collect();
        let height = rows.len();
        let width = rows.first().map_or(0, Vec::len);
        check_sides(width, height).map_err(|problem| (0, problem))?;
        let mut walls = vec![false; width * height].into_boxed_slice();
        let mut goal = None;
        for (y, row) in rows.iter().enumerate() {
            if row.len() != width {
                let problem = format!("{} cells, but the rows above have {width}", row.len());
                return Err((y, problem));
            }
            for (x, symbol) in row.iter().enumerate() {
                match symbol {
                    '#' => walls[x * height + y] = true,
                    '.' | ' ' => {}
                    'G' if goal.is_some() => return Err((y, "a second goal `G`".to_owned())),
                    'G' => goal = Some(Cell { x, y }),
                    other => {
                        let problem =
                            format!("`{other}` at column {x}: expected `#`, `.`, a space or `G`");
                        return Err((y, problem));
                    }
                }
                let border = x == 0 || y == 0 || x == width - 1 || y == height - 1;
                if border && *symbol != '#' {
                    return Err((y, format!("a gap at column {x}: walls go all around")));
                }
            }
        }
        let Some(goal) = goal else {
            return Err((height - 1, "no row has the goal `G`".to_owned()));
        };
        Ok(Self {
            width,
            height,
            walls,
            goal,
            area: interior(width, height),
        })
    }

    /// The picture that [`from_rows`](Self::from_rows) reads.
    pub fn rows(&self) -> Vec<String> {
        let symbol = |cell: Cell| match () {
            () if cell == self.goal => 'G',
            () if self.is_wall(cell) => '#',
            () => '.',
        };
        (0..self.height)
            .map(|y| (0..self.width).map(|x| symbol(Cell { x, y })).collect())
            .collect()
    }

    /// The same room with checkpoints in this area only.
    #[must_use]
    pub fn with_area(mut self, area: Area) -> Self {
        self.area = area;
        self
    }

    /// The same room with the goal elsewhere.
    #[must_use]
    pub(crate) fn with_goal(mut self, goal: Cell) -> Self {
        self.goal = goal;
        self
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Where the goal is.
    pub fn goal(&self) -> Cell {
        self.goal
    }

    /// Where checkpoints may lie.
    pub fn area(&self) -> Area {
        self.area
    }

    /// Whether a wall stands there. Outside the room there is nothing but wall.
    pub fn is_wall(&self, cell: Cell) -> bool {
        cell.x >= self.width || cell.y >= self.height || self.walls[cell.x * self.height + cell.y]
    }

    /// The walls by number of the cell.
    pub(crate) fn walls(&self) -> &[bool] {
        &self.walls
    }

    /// The number of a cell of the room.
    pub(crate) fn number(&self, cell: Cell) -> CellNumber {
        (cell.x * self.height + cell.y) as CellNumber
    }

    /// The cell of this number.
    pub(crate) fn cell(&self, number: CellNumber) -> Cell {
        let number = usize::from(number);
        Cell {
            x: number / self.height,
            y: number % self.height,
        }
    }

    /// The cells that are neither wall nor goal.
    pub(crate) fn free(&self) -> impl Iterator<Item = CellNumber> {
        let goal = self.number(self.goal);
        (0..self.walls.len() as CellNumber)
            .filter(move |number| !self.walls[usize::from(*number)] && *number != goal)
    }
}

/// Whether a room can have these sides.
fn check_sides(width: usize, height: usize) -> Result<(), String> {
    let possible = 4..=MAX_SIDE;
    if possible.contains(&width) && possible.contains(&height) {
        return Ok(());
    }
    Err(format!(
        "a room of {width} × {height} cells: its sides are 4 to {MAX_SIDE} cells long, walls included"
    ))
}

/// All cells but the walls around.
fn interior(width: usize, height: usize) -> Area {
    Area {
        first: Cell { x: 1, y: 1 },
        last: Cell {
            x: width - 2,
            y: height - 2,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The walls as the paper's figure lists them.
    #[test]
    fn the_room_of_the_paper() {
        let room = Room::paper();
        let wall = |x: usize, y: usize| {
            x == 0
                || y == 0
                || x == 12
                || y == 12
                || x == 6 && matches!(y, 1..=2 | 4..=9 | 11)
                || y == 6 && matches!(x, 1 | 3..=5)
                || y == 7 && matches!(x, 7..=8 | 10..=11)
        };
        for (x, y) in (0..13).flat_map(|x| (0..13).map(move |y| (x, y))) {
            assert_eq!(room.is_wall(Cell { x, y }), wall(x, y), "({x}, {y})");
        }
        assert_eq!(room.goal(), Cell { x: 11, y: 11 });
        assert_eq!((room.width(), room.height()), (13, 13));
        assert_eq!(Room::from_rows(&room.rows()).unwrap().rows(), room.rows());
    }

    #[test]
    fn pictures_that_are_not_rooms() {
        let fault = |rows: &[&str]| Room::read(rows).unwrap_err();
        assert_eq!(fault(&[]).0, 0);
        assert_eq!(fault(&["####", "#.G#", "###", "####"]).0, 2);
        assert_eq!(fault(&["####", "#.G#", "#..#", "#.##"]).0, 3);
        assert_eq!(fault(&["####", "#.G#", "#.x#", "####"]).0, 2);
        assert_eq!(fault(&["####", "#.G#", "#.G#", "####"]).0, 2);
        let error = Room::from_rows(&["####", "#.G#", "###", "####"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "row 2: 3 cells, but the rows above have 4"
        );
        assert!(Room::empty(4, 256).is_err() && Room::empty(3, 9).is_err());
        assert_eq!(
            Room::empty(5, 4).unwrap().rows(),
            ["#####", "#...#", "#..G#", "#####"]
        );
        assert!(
            fault(&["####", "#..#", "#..#", "####"])
                .1
                .contains("no row")
        );
    }
}
