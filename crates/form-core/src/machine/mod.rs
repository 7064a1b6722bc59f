//! The machines: their definition and validation, files, the compiled form, checking, grounding, comparison and
//! drawing (paper, Section 3.2).

pub(crate) mod asp;
mod asp_terms;
pub(crate) mod bound;
pub(crate) mod draw;
pub(crate) mod form_file;
pub(crate) mod json;
#[expect(clippy::module_inception, reason = "the room's main piece")]
pub(crate) mod machine;
pub(crate) mod run;
