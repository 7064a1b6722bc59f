//! The parts that readers and writers of machine formats share, for crates that add a format: mistakes with their places, the
//! tokens and names of formulae, and machines before validation.
//!
//! A reader collects a [`Draft`] whose places are [`Span`]s of the text, and [validates](Draft::validate) it; a mistake is
//! a [`Fault`], which [becomes an error](Fault::located) that shows the line. `form-formats` reads its formats this way, and so
//! does this crate for `.form` and JSON.

pub use crate::error::{Fault, Parsed, Span, shortened};
pub use crate::logic::identifier::is_name_char;
pub use crate::logic::lexer::{Lexer, Token};
pub use crate::logic::names::{Binder, Names, name};
pub use crate::logic::parse::formula;
pub use crate::machine::builder::{Draft, DraftEdge};
pub use crate::machine::form_file::written_reward;
