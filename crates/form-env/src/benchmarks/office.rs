//! Office world (Toro Icarte et al., ICML 2018, Figure 1): twelve rooms of 3 x 3 cells, with doors. There are coffee and mail to bring
//! to the office, four places to patrol, and plants that must not be stepped on.

use super::letter_grid::{LetterGrid, Names};
use crate::env::spec::Cell;

/// What the letters of the published machines mean.
pub(crate) const NAMES: &Names = &[
    ('a', "a"),
    ('b', "b"),
    ('c', "c"),
    ('d', "d"),
    ('e', "mail"),
    ('f', "coffee"),
    ('g', "office"),
    ('n', "plant"),
];

/// The objects. `A` is where the agent starts.
const MAP: &str = "\
............
.b..n..n..c.
...f........
............
.n..g..e..n.
............
........f...
.aA.n..n..d.
............";

const ROOM: usize = 3;

/// Whether there is a way between two cells side by side: within a room, or through a door.
fn open(from: Cell, to: Cell) -> bool {
    let (x, y) = (from.x.min(to.x), from.y.min(to.y));
    let same_room = from.x / ROOM == to.x / ROOM && from.y / ROOM == to.y / ROOM;
    let door = match from.y == to.y {
        // In the upper and the lower corridor all rooms have doors, at the height of their middle.
        true => y == 1 || y == 7,
        // The upper and the middle row of rooms are connected everywhere, the middle and the lower at both ends.
        false if y == 2 => x % ROOM == 1,
        false => x == 1 || x == 10,
    };
    same_room || door
}

/// The grid of Office world.
pub(crate) fn grid() -> LetterGrid {
    LetterGrid::connected(MAP, false, open).expect("the map is tested")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of moves from one cell to the nearest one with a letter, around the plants.
    fn distance(grid: &LetterGrid, from: usize, to: char) -> Option<usize> {
        let mut seen = vec![false; grid.cells()];
        let mut layer = vec![from];
        for steps in 0.. {
            if layer.is_empty() {
                return None;
            }
            if layer.iter().any(|cell| grid.letter(*cell) == Some(to)) {
                return Some(steps);
            }
            let mut next = Vec::new();
            for cell in layer {
                for step in 0..4 {
                    let after = grid.after(cell, step);
                    if grid.letter(after) != Some('n') && !std::mem::replace(&mut seen[after], true)
                    {
                        next.push(after);
                    }
                }
            }
            layer = next;
        }
        None
    }

    #[test]
    fn rooms_doors_and_objects_are_those_of_the_figure() {
        let grid = grid();
        assert_eq!((grid.width(), grid.height(), grid.cells()), (12, 9, 108));
        let ways: usize = (0..grid.cells())
            .map(|cell| {
                (0..4)
                    .filter(|step| grid.after(cell, *step) != cell)
                    .count()
            })
            .sum();
        // 12 ways within each of 12 rooms and 12 doors, each in both directions.
        assert_eq!(ways, 2 * (12 * 12 + 12));
        let count = |letter| {
            (0..grid.cells())
                .filter(|cell| grid.letter(*cell) == Some(letter))
                .count()
        };
        assert_eq!(
            ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'n'].map(count),
            [1, 1, 1, 1, 1, 2, 1, 6]
        );
        let place = grid.place(grid.start());
        assert_eq!((place.x, place.y), (2, 7));
        assert_eq!(distance(&grid, grid.start(), 'a'), Some(1));
    }

    #[test]
    fn a_way_is_open_in_both_directions() {
        let grid = grid();
        for cell in 0..grid.cells() {
            for step in 0..4 {
                let after = grid.after(cell, step);
                if after != cell {
                    assert_eq!(grid.after(after, (step + 2) % 4), cell);
                }
            }
        }
    }

    #[test]
    fn every_object_can_be_reached_without_breaking_a_plant() {
        let grid = grid();
        for letter in "abcdefg".chars() {
            assert!(distance(&grid, grid.start(), letter).is_some(), "{letter}");
        }
    }
}
