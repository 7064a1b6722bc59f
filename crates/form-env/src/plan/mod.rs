//! From machines to sub-tasks: which cells of a map to reach next, and which to avoid, so that the machine accepts.
//!
//! - `label_map`: where the labels are. `contacts`: which of them can be walked to without touching another.
//! - `symmetry`: labelled cells that neither the machine nor the walls tell apart.
//! - `relaxed`: a lower bound that ignores walls. `search`: the fewest observations to acceptance.
//! - `planner`: the sub-tasks.

mod contacts;
pub(crate) mod label_map;
pub(crate) mod planner;
mod relaxed;
mod search;
mod symmetry;
