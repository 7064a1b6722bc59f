//! Where the policy is heading in an episode: the planner of the map, and the policy evaluated for the present sub-task.
//!
//! All that plans and acts with the policy does it here: `form run`, runs of the method `reach-avoid`, and their exploration.

use std::sync::Arc;

use form_core::{BoundMachine, Monitor};
use form_env::{Action, Cell, Direction, LabelMap, Plan, Planner, ReachAvoid, Worlds};

use super::navigator::Navigator;
use super::policy::ActionValues;

/// The course of an agent on one map.
///
/// ```
/// use form_core::Monitor;
/// use form_env::{Cell, Direction, Planner, Split, Task};
/// use form_rl::{Course, Navigator, ReachAvoidPolicy};
/// let task = Task::builtin("all-yellow")?;
/// let map = task.map(7, Split::Training, 0)?;
/// let planner = Planner::new(task.truth().clone().into(), task.label_map(&map))?;
/// let mut navigator = Navigator::new(&ReachAvoidPolicy::shipped());
/// let (mut course, monitor) = (Course::new(planner), Monitor::new(task.truth()));
/// let pose = (Cell { x: 1, y: 1 }, Direction::East);
/// let [left, right, forward] = course.logits(&mut navigator, &monitor, pose);
/// # assert!(left.is_finite() && right.is_finite() && forward.is_finite());
/// # Ok::<(), form_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Course {
    planner: Planner,
    values: Option<Arc<ActionValues>>,
}

impl Course {
    /// A course by the plans of this planner.
    pub fn new(planner: Planner) -> Self {
        Self {
            planner,
            values: None,
        }
    }

    /// The course of a machine in a world; nothing if the world cannot place its atoms, or no plan can be made.
    pub fn in_world<W: Worlds>(
        machine: &Arc<BoundMachine>,
        worlds: &W,
        world: usize,
    ) -> Option<Self> {
        let planner = Planner::new(machine.clone(), worlds.label_map(world)?);
        Some(Self::new(planner.ok()?))
    }

    /// The map.
    pub fn map(&self) -> &LabelMap {
        self.planner.map()
    }

    /// What the machine asks for in a cell.
    pub fn plan(&mut self, monitor: &Monitor, cell: Cell) -> &Plan {
        self.planner.plan(monitor, cell)
    }

    /// Heads for this, whatever the machine asks for, until something is observed.
    pub fn head_for(&mut self, navigator: &mut Navigator, sub_task: &ReachAvoid) {
        self.values = Some(navigator.values(sub_task));
    }

    /// After an observation, or at the start of an episode, the machine may ask for something else.
    pub fn observed(&mut self) {
        self.values = None;
    }

    /// The logits of the moving actions in a pose.
    pub fn logits(
        &mut self,
        navigator: &mut Navigator,
        monitor: &Monitor,
        (cell, direction): (Cell, Direction),
    ) -> [f32; Action::MOVES] {
        let values = match &self.values {
            Some(values) => values,
            None => {
                let plan = self.planner.plan(monitor, cell);
                self.values.insert(navigator.values(&plan.sub_task))
            }
        };
        values.logits(cell, direction)
    }
}
