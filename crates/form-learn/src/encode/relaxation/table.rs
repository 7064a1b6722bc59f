//! A relaxed machine: for each state and observation the target, and the targets of `forall` edges.

use std::collections::HashMap;

use form_core::{AtomSet, MachineStatus};

use crate::counterexamples::{Mistake, first_mistake};
use crate::pieces::Piece;
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

    /// The mistakes on all traces, each with the trace up to where it shows.
    pub(super) fn mistakes(&self, problem: &Problem) -> Vec<(Mistake, TracePrefix)> {
        let observations = problem.traces.observations();
        (problem.traces.from(0).iter().enumerate())
            .filter_map(|(i, (kind, steps))| {
                let (mut state, mut seen) = (0, AtomSet::default());
                let run = |step: ObservationId| {
                    seen = seen.union(&observations[step as usize]);
                    let complete = (self.waiting[state].iter())
                        .find(|(f, _)| self.foralls[*f].is_subset(&seen));
                    let to = match complete {
                        Some((_, to)) => Some(*to),
                        None => self.targets.get(&(state, step)).copied(),
                    };
                    if let Some(to) = to {
                        (state, seen) = (to, AtomSet::default());
                    }
                    self.status(state)
                };
                let (mistake, length) = first_mistake(*kind, steps, run)?;
                Some((mistake, problem.traces.prefix(i, length)))
            })
            .collect()
    }

    fn status(&self, state: usize) -> MachineStatus {
        match state {
            state if state == self.accept => MachineStatus::Accepted,
            state if state == self.reject => MachineStatus::Rejected,
            _ => MachineStatus::Running,
        }
    }

    /// Whether a run may get through a piece, from any state and whatever it has seen before.
    pub(super) fn survives(&self, problem: &Problem, piece: &Piece) -> bool {
        let observations = problem.traces.observations();
        let steps = piece.steps(problem);
        // State, what was seen in it, and whether it was entered before the piece.
        let mut runs: Vec<(usize, AtomSet, bool)> = (0..self.waiting.len())
            .map(|state| (state, AtomSet::default(), true))
            .collect();
        for (i, step) in steps.iter().enumerate() {
            let newest = &observations[*step as usize];
            let mut after = Vec::new();
            for (state, seen, first) in &runs {
                let both = seen.union(newest);
                let waiting = self.waiting[*state].iter();
                let complete = (waiting.clone()).find(|(f, _)| self.foralls[*f].is_subset(&both));
                if let Some((_, to)) = complete {
                    after.push((*to, AtomSet::default(), false));
                    continue;
                }
                // Where the window is not known, anything that is seen now for the first time may complete it.
                let is_new = |f: usize| !newest.intersection(&self.foralls[f]).is_subset(seen);
                let may_be = waiting.filter(|(f, _)| *first && is_new(*f));
                after.extend(may_be.map(|(_, to)| (*to, AtomSet::default(), false)));
                after.push(match self.targets.get(&(*state, *step)) {
                    Some(to) => (*to, AtomSet::default(), false),
                    None => (*state, both, *first),
                });
            }
            let expected = match i + 1 == steps.len() {
                true => piece.prefix.kind.expected(),
                false => MachineStatus::Running,
            };
            after.retain(|(state, _, _)| self.status(*state) == expected);
            runs.clear();
            for run in after {
                if !runs.contains(&run) {
                    runs.push(run);
                }
            }
        }
        !runs.is_empty()
    }
}
