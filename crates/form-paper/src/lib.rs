//! The experiments of the paper: which runs they consist of, carrying them out, and the paper's claims beside what was measured.
//!
//! An [`Experiment`] is planned as [`PlannedRun`]s by [`plan_runs`]; a [`Runner`] carries them out and returns one [`RunOutcome`]
//! per run; [`write_results`] writes learning curves, tables and [`Finding`]s. Everything in the folder of results is made from the
//! folders of the runs, so it can be made again at any time.

mod check;
mod curves;
mod figures;
mod findings;
mod groups;
mod growth;
mod label_noise;
mod markdown_section;
mod plan;
mod processor_time;
mod raw_data;
mod results;
mod runner;
mod scaling;
mod statistics;
mod table_3;
mod tables;
mod trials;
mod unknown_tasks;
mod unseen;
mod zero_shot;

pub use check::{CheckedFile, check_runs, check_tables, recorded_command};
pub use curves::{Axis, Curve, Figure, Panel, Scale};
pub use findings::{Finding, Measurements, findings_table};
pub use growth::{MachineFamily, SUB_TASKS, elections};
pub use label_noise::{NoisyRun, NoisyRuns, noisy_runs_table};
pub use markdown_section::{has_section, update_section};
pub use plan::{Experiment, PlanOptions, PlannedRun, most_telling_first, plan_runs};
pub use processor_time::thread_seconds;
pub use results::{Results, keep_runs, recorded_runs, write_results};
pub use runner::{RunOutcome, RunProgress, Runner};
pub use scaling::{Scaling, SizedRun, scaling_tables};
pub use table_3::{Table3, TimedMachine, table_3};
pub use tables::results_table;
pub use trials::PRESET_PAPER;
pub use unknown_tasks::{UnknownTaskRun, UnknownTasks, unknown_tasks_tables};
pub use unseen::UnseenEvaluation;
pub use zero_shot::{
    ZeroShot, ZeroShotGroup, ZeroShotRow, draw_machines, random_machines, zero_shot_tables,
};
