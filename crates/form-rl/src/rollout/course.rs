//! Where the reach-avoid policy of a world is heading: its planner, and the policy evaluated for the present sub-task.

use std::sync::Arc;

use form_core::{BoundMachine, Monitor};
use form_env::{Action, Planner, Worlds};

use crate::reach_avoid::navigator::Navigator;
use crate::reach_avoid::policy::ActionValues;

/// The course of one world in its episode. It is made when an action is chosen.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    planner: Option<Planner>,
    values: Option<Arc<ActionValues>>,
}

impl Course {
    /// After an observation the machine may ask for something else.
    pub(super) fn observed(&mut self) {
        self.values = None;
    }

    /// The logits of the moving actions where the agent is; nothing if the world cannot place its atoms, or no plan can be made.
    pub(super) fn logits<W: Worlds>(
        &mut self,
        navigator: &mut Navigator,
        machine: &Arc<BoundMachine>,
        monitor: &Monitor,
        worlds: &W,
        world: usize,
    ) -> Option<[f32; Action::MOVES]> {
        let (cell, direction) = worlds.pose(world)?;
        let values = match &self.values {
            Some(values) => values,
            None => {
                if self.planner.is_none() {
                    let map = worlds.label_map(world)?;
                    self.planner = Some(Planner::new(machine.clone(), map).ok()?);
                }
                let plan = self.planner.as_mut()?.plan(monitor, cell);
                self.values.insert(navigator.values(&plan.sub_task))
            }
        };
        Some(values.logits(cell, direction))
    }
}
