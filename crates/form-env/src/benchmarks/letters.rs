//! Letter world (Vaezipoor et al., ICML 2021): a torus with letters, each in two cells. Every letter can be reached without touching
//! another one first, so that tasks which forbid letters can be completed.

use rand::{Rng, RngExt};

use super::letter_grid::LetterGrid;
use crate::error::{Error, Result};

/// The number of maps that are drawn before giving up.
const DRAWS: usize = 10_000;

/// A random map: the agent in the upper left corner, `letters` elsewhere, each reachable through empty cells.
pub(crate) fn grid(size: usize, letters: &str, random: &mut dyn Rng) -> Result<LetterGrid> {
    let letters: Vec<char> = letters.chars().collect();
    if letters.len() + 1 > size * size {
        return Err(Error::Map(format!(
            "{} letters do not fit into {size} x {size} cells beside the agent",
            letters.len()
        )));
    }
    for _ in 0..DRAWS {
        let mut signs = vec![' '; size * size];
        signs[0] = 'A';
        for letter in &letters {
            let empty = (1..signs.len()).filter(|i| signs[*i] == ' ');
            let empty: Vec<usize> = empty.collect();
            signs[empty[random.random_range(0..empty.len())]] = *letter;
        }
        let rows: Vec<String> = signs.chunks(size).map(String::from_iter).collect();
        let grid = LetterGrid::connected(&rows.join("\n"), true, |_, _| true)?;
        if clear(&grid) {
            return Ok(grid);
        }
    }
    Err(Error::Map(format!(
        "in none of {DRAWS} maps drawn can every letter be reached without touching another one"
    )))
}

/// Whether every cell can be reached through empty cells.
fn clear(grid: &LetterGrid) -> bool {
    let mut seen = vec![false; grid.cells()];
    let mut open = vec![grid.start()];
    seen[grid.start()] = true;
    while let Some(cell) = open.pop() {
        if grid.letter(cell).is_some() {
            continue;
        }
        for step in 0..4 {
            let after = grid.after(cell, step);
            if !std::mem::replace(&mut seen[after], true) {
                open.push(after);
            }
        }
    }
    seen.into_iter().all(|seen| seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::random::{Stream, generator};

    #[test]
    fn every_letter_can_be_reached_without_touching_another() {
        for seed in 0..50 {
            let random = &mut generator(seed, Stream::Map(0));
            let grid = grid(7, "aabbccddeeffgghhiijjkkll", random).unwrap();
            assert!(clear(&grid));
            assert_eq!(grid.cells(), 49);
            let lettered = (0..49).filter(|cell| grid.letter(*cell).is_some()).count();
            assert_eq!((lettered, grid.start()), (24, 0));
        }
    }

    #[test]
    fn a_letter_behind_letters_is_noticed() {
        let walled = "A    \n  a  \n aba \n  a  \n     ";
        let grid = LetterGrid::connected(walled, true, |_, _| true).unwrap();
        assert!(!clear(&grid));
    }

    #[test]
    fn too_many_letters_are_refused() {
        let random = &mut generator(0, Stream::Map(0));
        let error = grid(2, "abcd", random).unwrap_err().to_string();
        assert!(error.contains("do not fit"), "{error}");
        let error = grid(3, "aaaaaaaa", random).unwrap_err().to_string();
        assert!(error.contains("in none of"), "{error}");
    }
}
