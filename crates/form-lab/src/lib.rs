//! Experiments with first-order reward machines.

mod arena;
mod atomic;
mod config;
mod events;
mod metrics;
mod run_folder;
mod staff;
mod statistics;
mod train;

pub use arena::{Arena, CopiesArena, GridArena, task};
pub use atomic::{remove_unfinished, write_atomically, write_atomically_with};
pub use config::{
    ActionsName, LearningConfig, Method, Preset, RunConfig, StartsName, StopConfig, ViewName,
};
pub use events::EventFile;
pub use metrics::{MetricsRow, PoliciesRow, Row, Table, TimingsRow, read_rows};
pub use run_folder::{RunFolder, TrainingLock};
pub use staff::{Staffing, staff};
pub use statistics::{
    CONFIDENCE, Interval, deviation, mean, mean_interval, median, proportion_interval, quantile,
};
pub use train::{Ending, Iteration, Relearnt, Tally, Trainer};
