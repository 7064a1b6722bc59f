//! The agents: who acts in which machine state, what each of them sees, and how it learns.

pub(crate) mod agent;
pub(crate) mod cast;
pub(crate) mod sight;
pub(crate) mod style;
