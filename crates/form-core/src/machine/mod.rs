//! The machines: definition and validation, files, the compiled form, runs, checking, grounding, comparison and drawing (paper,
//! Section 3.2).

pub(crate) mod atomic_test;
pub(crate) mod bound;
pub(crate) mod builder;
pub(crate) mod check;
mod dpll;
pub(crate) mod draw;
pub(crate) mod equivalence;
pub(crate) mod explore;
pub(crate) mod form_file;
pub(crate) mod ground;
mod interchange;
pub(crate) mod join;
pub(crate) mod json;
#[expect(clippy::module_inception, reason = "the folder's main piece")]
pub(crate) mod machine;
pub(crate) mod observations;
pub(crate) mod one_line;
pub(crate) mod run;
pub(crate) mod satisfy;
pub(crate) mod step_mode;
