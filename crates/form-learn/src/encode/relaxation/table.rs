//! A relaxed machine: for each state and observation the target, and the targets of `forall` edges.

use std::collections::HashMap;

use form_core::{AtomSet, MachineStatus};

use crate::counterexamples::first_mistake;
use crate::problem::Problem;
use crate::shape::Shape;
use crate::traces::TracePrefix;
use crate::vocabulary::ObservationId;

/// A relaxed machine.
pub(super) struct Table {
    accept: usize,
    reject: usize,
    foralls: Vec<AtomSet>,
    targets: HashMap<(usize, ObservationId), usize>,
    /// For each state the `forall` edges.
    waiting: Vec<Vec<(usize, usize)>>,
}

impl Table {
    pub(super) fn new(shape: &Shape, foralls: &[AtomSet]) -> Self {
        Self {
            accept: shape.accept(),
            reject: shape.reject(),
            foralls: foralls.to_vec(),
            targets: HashMap::new(),
            waiting: vec![Vec::new(); shape.states],
        }
    }

    pub(super) fn set(&mut self, from: usize, observation: ObservationId, to: usize) {
        self.targets.insert((from, observation), to);
    }

    pub(super) fn set_forall(&mut self, from: usize, forall: usize, to: usize) {
        self.waiting[from].push((forall, to));
    }

    /// A few counterexamples among all traces; `cuts` remembers the ways to cut them.
    pub(super) fn counterexamples(
        &self,
        problem: &Problem,
        cuts: &mut HashMap<usize, f64>,
    ) -> Vec<TracePrefix> {
        let observations = problem.traces.observations();
        let found = (problem.traces.from(0).iter().enumerate())
            .filter_map(|(i, (kind, steps))| {
                let (mut state, mut seen) = (0, AtomSet::default());
                let run = |step: ObservationId| {
                    let observation = &observations[step as usize];
                    seen = seen.union(observation);
                    let complete = (self.waiting[state].iter())
                        .find(|(f, _)| self.foralls[*f].is_subset(&seen));
                    let to = match complete {
                        Some((_, to)) => Some(*to),
                        None => self.targets.get(&(state, step)).copied(),
                    };
                    if let Some(to) = to {
                        (state, seen) = (to, AtomSet::default());
                    }
                    match state {
                        state if state == self.accept => MachineStatus::Accepted,
                        state if state == self.reject => MachineStatus::Rejected,
                        _ => MachineStatus::Running,
                    }
                };
                let (mistake, length) = first_mistake(*kind, steps, run)?;
                Some((mistake, problem.traces.prefix(i, length)))
            })
            .collect();
        problem.select(found, self.accept, cuts)
    }
}
