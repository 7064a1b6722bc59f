//! The same problem for external solvers: as an answer set program for clingo, and as the paper's task for ILASP.
//!
//! [`to_asp`] states the problem directly, one choice per edge and literal; [`learn_with_clingo`] runs clingo on it. [`to_ilasp`]
//! writes the learning task of the paper (Section 3.3), with its listings corrected where they contradict its definitions;
//! [`learn_with_ilasp`] runs ILASP on that. Both are independent of the built-in solver and test it: they find the same number
//! of states and the same cost, or one of them is wrong.

mod clingo;
mod clingo_program;
mod hypothesis;
mod ilasp;
mod ilasp_task;
mod process;

pub use clingo::learn_with_clingo;
pub use clingo_program::to_asp;
pub use ilasp::learn_with_ilasp;
pub use ilasp_task::to_ilasp;
