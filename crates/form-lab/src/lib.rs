//! Experiments with first-order reward machines.
//!
//! A [`RunConfig`] is a run completely. A [`Trainer`] is the joint loop in memory: act, find counterexamples, learn the machine
//! anew, train. A [`Session`] is the same in a folder, from which a stopped run goes on. An [`Experiment`] is many of them.
//!
//! A [`RunFolder`] is where a run lives; whoever trains holds its [`TrainingLock`]. A [`Table`] takes a row an iteration
//! ([`MetricsRow`], [`TimingsRow`], [`PoliciesRow`]), an [`EventFile`] the same for TensorBoard, and a [`Display`] shows a
//! [`Snapshot`] to whoever watches. A killed run goes on where it was: files are replaced at once
//! ([`write_atomically`]) or cut back to the last checkpoint ([`Table::resume`]).
//!
//! A [`TrainedRun`] is a run as its users see it: [`evaluate`] says how good its policies are, [`begin_transfer`] takes them to
//! another task. Worlds of any sort are an [`Arena`]; `examples/own_world.rs` has one.
//!
//! Afterwards a [`Figure`] draws learning curves, and [`write_report`] makes the page of runs. A small run, and its table:
//!
//! ```
//! use form_lab::{Display, GridArena, Method, MetricsRow, Preset, RunConfig, RunFolder, Session, read_rows};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("first");
//! let mut config = RunConfig::new("all-yellow", Method::Handcrafted, Preset::Fast);
//! for (key, value) in [("iterations", "2"), ("worlds", "8"), ("ppo.train_batch", "256"), ("ppo.minibatch", "64")] {
//!     config.set(key, value)?;
//! }
//! let arena = GridArena::new(&config)?;
//! let mut session = Session::begin(config, arena, &path, Default::default())?;
//! session.run(&mut Display::quiet())?;
//!
//! let rows: Vec<MetricsRow> = read_rows(&RunFolder::open(&path)?.metrics())?;
//! assert_eq!(rows.last().map(|row| (row.iteration, row.steps, row.states)), Some((2, 512, 3)));
//! # Ok::<(), anyhow::Error>(())
//! ```

mod arena;
mod atomic;
mod blind_spots;
mod config;
mod curves;
mod display;
mod evaluation;
mod events;
mod marked;
mod metrics;
mod progress;
mod recording;
mod report;
mod reproduce;
mod run_folder;
mod session;
mod staff;
mod statistics;
mod tally;
mod train;
mod trained;
mod transfer;
mod watcher;

pub use arena::{Arena, CopiesArena, GridArena, task};
pub use atomic::{cannot, remove_unfinished, write_atomically, write_atomically_with};
pub use blind_spots::BlindSpot;
pub use config::{
    ActionsName, EvaluationConfig, LearningConfig, Method, Preset, RunConfig, StartsName,
    StopConfig, TransferConfig, ViewName,
};
pub use curves::{Average, Axis, Curve, Figure, Panel, Scale, Spread, averages};
pub use display::{Display, PolicyLosses, Snapshot};
pub use evaluation::{
    Evaluation, EvaluationPlan, Failures, MapFailures, StateFailures, evaluate, evaluate_watched,
    play,
};
pub use events::EventFile;
pub use marked::{replace_marked, update_marked};
pub use metrics::{MetricsRow, PoliciesRow, Row, Table, TimingsRow, read_rows};
pub use progress::PlayDisplay;
pub use recording::{EpisodeRequest, Recording};
pub use report::{LivePage, LivePort, Showing, write_report, write_report_watched};
pub use reproduce::{
    Conditions, Delivery, Evidence, Experiment, Finding, Order, Results, Trial, Workshop,
    all_orders, findings_table, recorded_runs, results_table, write_results,
};
pub use run_folder::{RunFolder, TrainingLock};
pub use session::{FINAL, Finish, LATEST, Resumed, RunResult, Session};
pub use staff::{Staffing, staff};
pub use statistics::{
    CONFIDENCE, Interval, bootstrap_interval, deviation, interquartile_mean, mean, mean_interval,
    median, proportion_interval, quantile,
};
pub use tally::{Ending, Iteration, LastEvaluation, Measured, Relearnt, Stalled, Tally};
pub use train::Trainer;
pub use trained::TrainedRun;
pub use transfer::{
    ORIGIN, PolicyTransfer, Retrain, begin_transfer, inherit, transfer_config, transferred,
};
pub use watcher::Watcher;
