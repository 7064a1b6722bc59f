//! Training, evaluation and reports of first-order reward machines.
//!
//! The modules follow the flow of a run:
//!
//! - A [`RunConfig`] determines a run; an [`EnvFactory`] makes its worlds (`examples/own_world.rs` has one of its own).
//! - A [`Trainer`] is the joint loop in memory: collect, find counterexamples, relearn the machine or update the policies, evaluate.
//! - A [`Session`] trains in a [`RunFolder`] and resumes a stopped run there; a [`Display`] shows its progress.
//! - A [`SavedRun`] is what is left: [`evaluate`] measures its policies, [`begin_transfer`] takes them to another task, a
//!   [`Recording`] shows an episode, and [`write_report`] makes a page of runs.
//! - [`Pretraining`] trains the one policy for all sub-tasks of all machines.
//!
//! A small run, and its table:
//!
//! ```
//! use form_lab::{Display, GridEnvFactory, Method, MetricsRow, Preset, RunConfig, RunFolder, Session, read_rows};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("first");
//! let mut config = RunConfig::new("all-yellow", Method::Handcrafted, Preset::Fast);
//! for (key, value) in [("iterations", "2"), ("worlds", "8"), ("ppo.train_batch", "256"), ("ppo.minibatch", "64")] {
//!     config.set(key, value)?;
//! }
//! // Policies that have learnt nothing take all steps that an episode may have.
//! for (key, value) in [("evaluation.episodes", "2"), ("evaluation.final_episodes", "2")] {
//!     config.set(key, value)?;
//! }
//! let envs = GridEnvFactory::new(&config)?;
//! let mut session = Session::begin(config, envs, &path, Default::default())?;
//! session.run(&mut Display::quiet())?;
//!
//! let rows: Vec<MetricsRow> = read_rows(&RunFolder::open(&path)?.metrics())?;
//! assert_eq!(rows.last().map(|row| (row.iteration, row.steps, row.states)), Some((2, 512, 3)));
//! # Ok::<(), anyhow::Error>(())
//! ```

mod atomic_files;
mod blind_spots;
mod config;
mod display;
mod env_factory;
mod error_message;
mod evaluate;
mod explore;
mod game_setup;
mod ground_truth;
mod letters;
mod metrics;
mod play_callback;
mod pretrain;
mod reach_avoid;
mod recording;
mod report;
mod run;
mod search_limit;
mod statistics;
mod train;
mod transfer;

pub use atomic_files::{cannot, read_text, write_atomically};
pub use blind_spots::BlindSpot;
pub use config::{Method, Preset, Retrain, RunConfig};
pub use display::{Display, PlayDisplay};
pub use env_factory::{CopiesEnvFactory, EnvFactory, GridEnvFactory};
pub use error_message::message;
pub use evaluate::{Evaluation, EvaluationPlan, Failures, evaluate, evaluate_with, play};
pub use ground_truth::difference_from_truth;
pub use letters::Letters;
pub use metrics::{MetricsRow, PoliciesRow, TimingsRow, read_rows};
pub use play_callback::PlayCallback;
pub use pretrain::{
    PretrainConfig, PretrainResult, PretrainRow, Pretraining, SubTaskEvaluation, evaluate_policy,
};
pub use reach_avoid::{ReachAvoidPlan, ReachAvoidRuns, world_for};
pub use recording::{EpisodeRequest, Recording};
pub use report::{LivePage, LivePort, Showing, write_report};
pub use run::{Finish, Resumed, RunFolder, RunResult, SavedRun, Session};
pub use search_limit::SEARCH_LIMIT;
pub use statistics::{Interval, mean};
pub use train::{Iteration, StopCause, TrainState, Trainer};
pub use transfer::{PolicyTransfer, begin_transfer, inherit, transfer_config};
