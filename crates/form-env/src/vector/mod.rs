//! Many worlds at once: the interface, copies of any environment, and the grid world stored array by array.

pub(crate) mod copies;
pub(crate) mod grid_worlds;
mod map_order;
pub(crate) mod random_walks;
pub(crate) mod worlds;
