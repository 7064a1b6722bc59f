//! Exact learning of the smallest first-order reward machine from traces.
//!
//! A [`Learner`] takes traces and answers with the smallest machine that is consistent with all of them, proven minimal, or
//! with what was proven before a limit was reached. From a trace file to a drawn machine:
//!
//! ```no_run
#![doc = include_str!("../examples/learn.rs")]
//! ```
//!
//! [`asp`] states the same problem for other solvers.

mod above;
mod alphabet;
pub mod asp;
mod budget;
mod by_skeleton;
mod cegis;
mod chains;
mod counterexamples;
mod cuts;
mod effort;
mod encode;
mod error;
mod explain;
mod follow;
mod followed;
mod learner;
mod letters;
mod lifted;
mod minimise;
mod options;
mod outcome;
mod own_objects;
mod own_signatures;
mod pieces;
mod prefix_tree;
mod problem;
mod progress;
mod search;
mod shape;
mod skeletons;
mod tolerate;
mod traces;
mod verify;
mod vocabulary;
mod window;

pub use error::{Error, Result};
pub use explain::{Criterion, Explanation, ForcedPart, Proof, Reason};
pub use learner::Learner;
pub use lifted::{LiftedTraces, Lifting, lift, shared_constants, unlift};
pub use options::{Limits, Options, Techniques};
pub use outcome::{Cost, LearnOutcome, Learnt, Round, StopReason};
pub use own_objects::OwnObjects;
pub use progress::{SearchProgress, SearchStatus};
pub use tolerate::{Level, OtherSuspects, Suspect, Tolerance, TolerantOutcome};
pub use traces::TracePrefix;
pub use vocabulary::learnable_atoms;
