//! One policy for every sub-task: reach one of these cells, step on none of those.
//!
//! `value_iteration` is the network, `policy` what users call, with its file. `sub_tasks` draws sub-tasks, `distances` solves them exactly,
//! `imitation` learns from these solutions, and `progress` is its file to resume from. `evaluation` measures.
//! `navigator` and `course` carry out the plans of a machine.

pub(crate) mod course;
pub(crate) mod distances;
pub(crate) mod evaluation;
pub(crate) mod imitation;
pub(crate) mod navigator;
pub(crate) mod policy;
mod progress;
pub(crate) mod sub_tasks;
pub(crate) mod value_iteration;
