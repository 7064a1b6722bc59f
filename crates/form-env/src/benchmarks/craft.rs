//! Craft world (Andreas et al., ICML 2017, as Toro Icarte et al. use it): a field of 39 x 39 cells with raw materials and places to
//! work them. Carrying and crafting is what the machines say; the world is only where things are.
//!
//! The published maps are random. Those here are drawn in the same way, from a seed: five cells with wood, grass and iron each, two
//! with each of the others, and the agent in the middle. [`LetterGrid::parse`] reads the published files.

use rand::RngExt;

use super::letter_grid::{LetterGrid, Names};
use crate::env::random::{Stream, generator};

/// What the letters of the published maps and machines mean.
pub(crate) const NAMES: &Names = &[
    ('a', "wood"),
    ('b', "toolshed"),
    ('c', "workbench"),
    ('d', "grass"),
    ('e', "factory"),
    ('f', "iron"),
    ('g', "gold"),
    ('h', "gem"),
];

/// How often each letter occurs.
const COUNTS: [(char, usize); 8] = [
    ('a', 5),
    ('b', 2),
    ('c', 2),
    ('d', 5),
    ('e', 2),
    ('f', 5),
    ('g', 2),
    ('h', 2),
];

const SIDE: usize = 39;

/// The random map of this seed.
pub(crate) fn grid(seed: u64) -> LetterGrid {
    let random = &mut generator(seed, Stream::Map(0));
    let mut rows = vec![vec![' '; SIDE]; SIDE];
    rows[SIDE / 2][SIDE / 2] = 'A';
    for (letter, count) in COUNTS {
        let mut left = count;
        while left > 0 {
            let place = &mut rows[random.random_range(0..SIDE)][random.random_range(0..SIDE)];
            if *place == ' ' {
                *place = letter;
                left -= 1;
            }
        }
    }
    let wall = "X".repeat(SIDE + 2);
    let inside = rows.into_iter().map(String::from_iter);
    let walled = inside.map(|row| format!("X{row}X")).collect::<Vec<_>>();
    let text = format!("{wall}\n{}\n{wall}\n", walled.join("\n"));
    LetterGrid::parse(&text).expect("it has one agent and known letters")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_have_the_counts_of_the_published_ones() {
        for seed in 0..20 {
            let grid = grid(seed);
            assert_eq!(grid.cells(), SIDE * SIDE);
            for (letter, count) in COUNTS {
                let cells = (0..grid.cells()).filter(|cell| grid.letter(*cell) == Some(letter));
                assert_eq!(cells.count(), count, "{letter}");
            }
            let place = grid.place(grid.start());
            assert_eq!((place.x, place.y), (20, 20));
        }
    }

    #[test]
    fn a_seed_gives_its_map() {
        assert_eq!(grid(3), grid(3));
        assert_ne!(grid(3), grid(4));
        assert_eq!(LetterGrid::parse(&grid(3).to_string()).unwrap(), grid(3));
    }
}
