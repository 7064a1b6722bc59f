//! Carrying out machines without training: a planner turns the machine into cells to reach and to avoid, and one policy for all
//! sub-tasks walks.
//!
//! It needs a world that can say where its atoms are. Per-state policies are not told that.

mod evaluation;
mod world;

pub use evaluation::{ReachAvoidPlan, ReachAvoidRuns};
pub use world::world_for;
