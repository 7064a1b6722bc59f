//! The native half of the Python package `formrl`: what the crates of this workspace can do, one file for each of their
//! rooms that Python sees. What can be said in Python itself stands in the folder `formrl` beside this one.

mod arrays;
mod batch;
mod benchmarks;
mod bound;
mod cli;
mod errors;
mod files;
mod learn;
mod logic;
mod machine;
mod monitor;
mod placed;
mod player;
mod policy;
mod pure_step;
mod reach_avoid;
mod seen;
mod stepping;
mod sub_tasks;
mod tabular;
mod task;
mod trace;
mod trace_file;
mod trace_input;
mod trace_output;
mod trace_run;
mod watched;
mod worlds;

use pyo3::prelude::*;

#[pymodule(name = "_native")]
mod native {
    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "what Python calls it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::batch::Monitors;
    #[pymodule_export]
    use crate::benchmarks::BenchmarkWorld;
    #[pymodule_export]
    use crate::bound::BoundMachine;
    #[pymodule_export]
    use crate::cli::run_command;
    #[pymodule_export]
    use crate::learn::{Learner, learn};
    #[pymodule_export]
    use crate::logic::Signature;
    #[pymodule_export]
    use crate::machine::Machine;
    #[pymodule_export]
    use crate::monitor::{Monitor, Step};
    #[pymodule_export]
    use crate::player::{Player, play_episode};
    #[pymodule_export]
    use crate::policy::Policy;
    #[pymodule_export]
    use crate::reach_avoid::ReachAvoidPolicy;
    #[pymodule_export]
    use crate::sub_tasks::SubTasks;
    #[pymodule_export]
    use crate::tabular::{LabelledMdp, QLearner, learning_curve, optimum};
    #[pymodule_export]
    use crate::task::Task;
    #[pymodule_export]
    use crate::trace::{Recorder, Trace};
    #[pymodule_export]
    use crate::trace_file::{TraceReader, read_signature, read_traces};
    #[pymodule_export]
    use crate::trace_output::write_traces;
    #[pymodule_export]
    use crate::worlds::Worlds;
}
