//! The same problem for other solvers: as an answer set program for clingo, and as a task of the paper for ILASP.
//!
//! [`to_asp`] states the problem directly, one choice for every edge and literal; [`learn_with_clingo`] has clingo solve
//! it. [`to_ilasp`] writes the learning task of the paper (Section 3.3), with its listings corrected where they
//! contradict its definitions; [`learn_with_ilasp`] has ILASP solve that. Both are independent of the built-in solver
//! and check on it: they agree with it on states and cost, or one of them is wrong.

mod answer;
mod clingo;
mod direct;
mod ilasp;
mod ilasp_output;
mod process;

pub use clingo::learn_with_clingo;
pub use direct::to_asp;
pub use ilasp::to_ilasp;
pub use ilasp_output::learn_with_ilasp;
