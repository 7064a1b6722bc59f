//! Experiments with first-order reward machines.

mod atomic;
mod curves;
mod display;
mod events;
mod metrics;
mod run_folder;
mod statistics;
mod summary;

pub use atomic::{remove_unfinished, write_atomically, write_atomically_with};
pub use curves::{Average, Axis, Curve, Figure, Panel, Scale, Spread, averages};
pub use display::{Display, PolicyLosses, Snapshot};
pub use events::EventFile;
pub use metrics::{MetricsRow, PoliciesRow, Row, Table, TimingsRow, read_rows};
pub use run_folder::{RunFolder, TrainingLock};
pub use statistics::{
    CONFIDENCE, Interval, deviation, mean, mean_interval, median, proportion_interval, quantile,
};
pub use summary::{
    Outcome, SOLVED, markdown_table, outcomes, replace_marked, run_folders, update_marked,
};
