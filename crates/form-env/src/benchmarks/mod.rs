//! The benchmarks of the field, written from the rules in the papers: Office, Craft and Water world (Toro Icarte et al., ICML 2018
//! and JAIR 2022; Craft after Andreas et al., ICML 2017) and Letter world (Vaezipoor et al., ICML 2021).
//!
//! A [`LetterGrid`](letter_grid::LetterGrid) is what the first two and the last have in common: cells, moves, and a letter in some
//! of the cells. Its states are few: it is a table ([`LabelledMdp`](crate::LabelledMdp)) for tabular methods, and a
//! [`LetterWorld`](letter_world::LetterWorld) for all others.

pub(crate) mod craft;
pub(crate) mod letter_grid;
pub(crate) mod letter_world;
pub(crate) mod letters;
pub(crate) mod office;
pub(crate) mod tasks;
pub(crate) mod water;
pub(crate) mod world;
