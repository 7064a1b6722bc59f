//! The grid world: rooms, what lies in them, MiniGrid's rules of walking, and what an agent sees.
//!
//! Cells are numbered column by column, as MiniGrid's image has them: cell `(x, y)` is number `x * height + y`.

pub(crate) mod colour;
pub(crate) mod map;
pub(crate) mod pose;
pub(crate) mod reach_avoid;
pub(crate) mod room;
pub(crate) mod rules;
pub(crate) mod view;
