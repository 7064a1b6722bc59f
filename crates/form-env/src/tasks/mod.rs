//! Tasks: a room, what lies in it and the machine that says when the task is done; their files, their maps, and a world
//! in which one is played.

pub(crate) mod block;
pub(crate) mod builtin;
mod every_step;
pub(crate) mod file;
pub(crate) mod maps;
pub(crate) mod object_sets;
pub(crate) mod room_file;
pub(crate) mod situations;
pub(crate) mod solution;
pub(crate) mod solvable;
pub(crate) mod table;
pub(crate) mod task;
pub(crate) mod world;
