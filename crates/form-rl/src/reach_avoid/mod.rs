//! One policy for every sub-task: reach one of these cells, step on none of those.
//!
//! `value_iteration` is the network, `policy` what users call, with its file; `distances` are the exact solutions it is measured by and
//! learns from.

pub(crate) mod distances;
pub(crate) mod evaluation;
pub(crate) mod imitation;
pub(crate) mod navigator;
pub(crate) mod policy;
pub(crate) mod sub_tasks;
pub(crate) mod value_iteration;
