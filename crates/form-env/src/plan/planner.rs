//! The planner: from a machine, its monitor and a map to the cells to reach next and those to avoid.
//!
//! *Observations left* is the least number of observations, each of which changes the [situation](crate::tasks::situations), with which
//! the machine accepts. An agent walks freely over cells without a label and over labels that change nothing. Among the labelled cells
//! that it touches first, those that lower the number are to be reached, those that raise it or make acceptance impossible are to be
//! avoided, and the others do not matter.
//!
//! The [search](super::search) is exact and goes over situations and places of the map, so a plan never enters a pocket whose exit a
//! later state forbids.

use std::collections::HashMap;
use std::sync::Arc;

use form_core::{BoundMachine, MachineStatus, Monitor, StepMode};

use super::contacts::Place;
use super::label_map::LabelMap;
use super::search::Search;
use crate::env::random::{Stream, generator};
use crate::env::spec::Cell;
use crate::error::{Error, Result};
use crate::grid::reach_avoid::ReachAvoid;
use crate::grid::room::CellNumber;
use crate::tasks::situations::Next;
use crate::tasks::task::Task;

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of the plan: two plans of a planner are equal if and only if their numbers are.
    pub number: usize,
    /// The cells to reach and to avoid. Without a way to acceptance nothing is to be reached, and only cells on which the machine
    /// rejects at once are to be avoided.
    pub sub_task: ReachAvoid,
    /// The least number of observations with which the machine accepts; `None` where it cannot accept on this map any more, or where
    /// the search reached its limit of 100,000 nodes.
    pub observations_left: Option<usize>,
}

/// Plans of one machine on one map.
///
/// ```
/// use form_core::Monitor;
/// use form_env::{Planner, Split, Task};
/// let task = Task::builtin("all-yellow")?;
/// let map = task.map(7, Split::Training, 0)?;
/// let mut planner = Planner::new(task.truth().clone().into(), task.label_map(&map))?;
/// let plan = planner.plan(&Monitor::new(task.truth()), form_env::Cell { x: 1, y: 1 });
/// assert_eq!(plan.observations_left, Some(3));
/// # Ok::<(), form_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Planner {
    machine: Arc<BoundMachine>,
    map: LabelMap,
    search: Search,
    /// The number of a plan by situation and place.
    numbers: HashMap<(usize, Place), usize>,
    plans: Vec<Plan>,
}

impl Planner {
    /// A planner for a machine over the signature of the map. It need not be the machine that defines the task. Fails for one that
    /// observes every step.
    pub fn new(machine: Arc<BoundMachine>, map: LabelMap) -> Result<Self> {
        if machine.machine().step_mode() == StepMode::All {
            return Err(Error::EveryStep {
                machine: machine.machine().name().to_owned(),
            });
        }
        Ok(Self {
            search: Search::new(machine.clone(), &map),
            map,
            machine,
            numbers: HashMap::new(),
            plans: Vec::new(),
        })
    }

    /// The machine.
    pub fn machine(&self) -> &Arc<BoundMachine> {
        &self.machine
    }

    /// The map.
    pub fn map(&self) -> &LabelMap {
        &self.map
    }

    /// The number of search nodes that were expanded so far.
    pub fn expanded(&self) -> usize {
        self.search.expanded
    }

    /// The plan of an agent that stands in this cell while the planner's machine is where the monitor is.
    pub fn plan(&mut self, monitor: &Monitor, agent: Cell) -> &Plan {
        let number = self.number(monitor, agent);
        &self.plans[number]
    }

    /// The plan of this number.
    pub fn plan_of_number(&self, number: usize) -> &Plan {
        &self.plans[number]
    }

    /// The number of the plan of an agent.
    fn number(&mut self, monitor: &Monitor, agent: Cell) -> usize {
        let cell = usize::from(self.map.room.number(agent));
        let situation = self.search.situation(monitor);
        let status = self.machine.machine().status(monitor.state());
        let place = (self.search.contacts.place(cell)).filter(|_| status == MachineStatus::Running);
        let Some(place) = place else {
            // Nothing is left to do; and nobody stands in a wall.
            let left = (status == MachineStatus::Accepted).then_some(0);
            let nothing = ReachAvoid::new(&self.map.room);
            return self.keep((situation, Place::Object(u16::MAX)), nothing, left);
        };
        let (place, touched) = self.search.walk(situation, place);
        if let Some(known) = self.numbers.get(&(situation, place)) {
            return *known;
        }
        let node = self.search.node(situation, place);
        let left = self.search.left(node, usize::MAX);
        let mut sub_task = ReachAvoid::new(&self.map.room);
        for object in touched {
            let cell = self.search.contacts.cells[object] as CellNumber;
            let cell = self.map.room.cell(cell);
            let after = match (self.search.enter(situation, object), left) {
                (Next::Completed, _) => Some(0),
                (Next::Over, _) | (_, None) => None,
                (Next::Situation(node), Some(left)) => self.search.left(node, left),
            };
            match (left, after) {
                (Some(left), Some(after)) if after < left => sub_task.ask_for(cell),
                (Some(_), Some(_)) => {}
                (Some(_), None) => sub_task.forbid(cell),
                (None, _) if self.search.after(situation, object) == Next::Over => {
                    sub_task.forbid(cell);
                }
                (None, _) => {}
            }
        }
        self.keep((situation, place), sub_task, left)
    }

    fn keep(
        &mut self,
        key: (usize, Place),
        sub_task: ReachAvoid,
        observations_left: Option<usize>,
    ) -> usize {
        let same =
            |plan: &Plan| plan.sub_task == sub_task && plan.observations_left == observations_left;
        let number = match self.plans.iter().position(same) {
            Some(known) => known,
            None => {
                let number = self.plans.len();
                self.plans.push(Plan {
                    number,
                    sub_task,
                    observations_left,
                });
                number
            }
        };
        self.numbers.insert(key, number);
        number
    }
}

impl Task {
    /// Whether its machine can accept at all, if every atom could be walked to at any time. If not, no map can be completed.
    pub fn can_be_completed(&self) -> bool {
        (0..self.sets.len()).any(|objects| {
            let contents = self.draw_contents_of(objects, &mut generator(0, Stream::Other(0)));
            let (map, truth) = (self.label_map_of(&contents), &self.sets[objects].truth);
            let mut search = Search::new(truth.clone(), &map);
            search.can_accept(&Monitor::new(truth))
        })
    }
}
