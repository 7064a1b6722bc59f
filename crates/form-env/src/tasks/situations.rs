//! Situations: everything that the rest of an episode depends on, apart from the agent's pose. That is the machine's state, the atoms
//! that its `forall`s have seen, and the newest observation where its repetition matters (unless every step counts, equal
//! consecutive observations count once).
//!
//! Situations are few, 65 for six yellow checkpoints, so they are numbered on discovery and their transitions are tabulated:
//! searches work on integers.

use std::collections::HashMap;
use std::sync::Arc;

use form_core::{AtomSet, BoundMachine, MachineStatus, Monitor, StateId, StepMode};

/// The result of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The episode goes on in this situation.
    Situation(usize),
    /// The machine accepts.
    Completed,
    /// The machine rejects.
    Over,
}

/// The situations that were discovered, by number.
#[derive(Clone, Debug)]
pub struct Situations {
    machine: Arc<BoundMachine>,
    /// What can be observed.
    labels: Vec<AtomSet>,
    monitors: Vec<Monitor>,
    numbers: HashMap<(StateId, AtomSet, AtomSet), usize>,
    /// The result and the reward of an observation by situation and label, once it was computed.
    after: Vec<Vec<Option<(Next, f64)>>>,
}

impl Situations {
    /// No situation yet, of a machine that can observe these labels.
    pub fn new(machine: Arc<BoundMachine>, labels: impl Into<Vec<AtomSet>>) -> Self {
        Self {
            machine,
            labels: labels.into(),
            monitors: Vec::new(),
            numbers: HashMap::new(),
            after: Vec::new(),
        }
    }

    /// The machine.
    pub fn machine(&self) -> &BoundMachine {
        &self.machine
    }

    /// The number of situations that were discovered.
    pub fn len(&self) -> usize {
        self.monitors.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.monitors.is_empty()
    }

    /// One more label that can be observed. It gets the next number.
    pub fn add_label(&mut self, label: AtomSet) {
        self.labels.push(label);
        for after in &mut self.after {
            after.push(None);
        }
    }

    /// The situation before the first observation of an episode.
    pub fn initial(&mut self) -> usize {
        let monitor = Monitor::new(&self.machine);
        self.of(&monitor)
    }

    /// The number of the situation that a monitor is in.
    pub fn of(&mut self, monitor: &Monitor) -> usize {
        let machine = &*self.machine;
        let state = monitor.state();
        let progress = machine.progress_atoms(state);
        let seen = monitor.seen().intersection(progress);
        // With every change, the newest observation does not count again. That makes no difference where it would change nothing
        // if it did; and where every step counts, it counts again.
        let every_step = machine.machine().step_mode() == StepMode::All;
        let mut again = Monitor::resumed(machine, state, &seen, &AtomSet::new());
        again.observe(machine, monitor.newest());
        let same = again.state() == state && again.seen().intersection(progress) == seen;
        let newest = match same || every_step {
            true => AtomSet::new(),
            false => monitor.newest().clone(),
        };
        let next = self.monitors.len();
        let number = *(self.numbers)
            .entry((state, seen.clone(), newest.clone()))
            .or_insert(next);
        if number == next {
            (self.monitors).push(Monitor::resumed(machine, state, &seen, &newest));
            self.after.push(vec![None; self.labels.len()]);
        }
        number
    }

    /// A monitor in this situation.
    pub fn monitor(&self, situation: usize) -> &Monitor {
        &self.monitors[situation]
    }

    /// The result of observing the label of this number in a situation.
    pub fn after(&mut self, situation: usize, label: usize) -> Next {
        self.step(situation, label).0
    }

    /// The result of observing the label of this number in a situation, and the machine's reward for it.
    pub fn step(&mut self, situation: usize, label: usize) -> (Next, f64) {
        if let Some(known) = self.after[situation][label] {
            return known;
        }
        let mut monitor = self.monitors[situation].clone();
        let step = monitor.observe(&self.machine, &self.labels[label]);
        let next = match self.machine.machine().status(monitor.state()) {
            MachineStatus::Accepted => Next::Completed,
            MachineStatus::Running => Next::Situation(self.of(&monitor)),
            MachineStatus::Rejected => Next::Over,
        };
        self.after[situation][label] = Some((next, step.reward));
        (next, step.reward)
    }
}
