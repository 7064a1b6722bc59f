//! The traces given, stored compactly, and the search for those a machine disagrees with.

use std::collections::{HashMap, HashSet};

use form_core::{AtomSet, BoundMachine, Kind, MachineStatus, Run, Trace};
use rayon::prelude::*;

use crate::tree::ObservationId;

/// All traces, as numbers of observations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Data {
    observations: Vec<AtomSet>,
    numbers: HashMap<AtomSet, ObservationId>,
    traces: Vec<(Kind, Vec<ObservationId>)>,
    /// The traces as a tree of prefixes, for duplicates and contradictions.
    children: HashMap<(u32, ObservationId), u32>,
    prefixes: Vec<Prefix>,
    contradictions: Vec<(usize, usize)>,
}

/// A prefix of some traces.
#[derive(Clone, Debug)]
struct Prefix {
    /// One of the traces that go through it, and those that end at it.
    first: usize,
    ends: Vec<usize>,
    goes_on: bool,
}

/// What refutes a machine: a trace it ends wrongly, or the part of one after which it is already wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refutation {
    /// The trace, by number.
    pub(crate) trace: usize,
    /// How many of its observations count.
    pub(crate) length: usize,
    /// What is known after them: the trace's kind, or just that the episode went on.
    pub(crate) kind: Kind,
}

impl Data {
    /// Adds a trace; its number, or `None` if it was there already.
    pub(crate) fn add(&mut self, trace: &Trace) -> Option<usize> {
        let steps: Vec<ObservationId> = trace.steps().iter().map(|o| self.number(o)).collect();
        let index = self.traces.len();
        if self.prefixes.is_empty() {
            self.prefixes.push(Prefix {
                first: index,
                ends: Vec::new(),
                goes_on: false,
            });
        }
        let over = |kind: Kind| kind != Kind::Incomplete;
        let mut node = 0;
        let mut contradicted = Vec::new();
        for step in &steps {
            let here = &mut self.prefixes[node as usize];
            here.goes_on = true;
            contradicted.extend(here.ends.iter().filter(|t| over(self.traces[**t].0)));
            let next = self.prefixes.len() as u32;
            node = *self.children.entry((node, *step)).or_insert(next);
            if node == next {
                self.prefixes.push(Prefix {
                    first: index,
                    ends: Vec::new(),
                    goes_on: false,
                });
            }
        }
        let end = &mut self.prefixes[node as usize];
        if end.ends.iter().any(|t| self.traces[*t].0 == trace.kind()) {
            return None;
        }
        contradicted.extend(&end.ends);
        if end.goes_on && over(trace.kind()) {
            contradicted.push(end.first);
        }
        if steps.is_empty() && over(trace.kind()) {
            contradicted.push(index);
        }
        end.ends.push(index);
        self.contradictions
            .extend(contradicted.into_iter().map(|other| (other, index)));
        self.traces.push((trace.kind(), steps));
        Some(index)
    }

    /// Pairs of traces that cannot both be true; one that is over before anything was observed stands beside itself.
    pub(crate) fn contradictions(&self) -> &[(usize, usize)] {
        &self.contradictions
    }

    fn number(&mut self, observation: &AtomSet) -> ObservationId {
        if let Some(number) = self.numbers.get(observation) {
            return *number;
        }
        let number = self.observations.len() as ObservationId;
        self.observations.push(observation.clone());
        self.numbers.insert(observation.clone(), number);
        number
    }

    /// The different observations.
    pub(crate) fn observations(&self) -> &[AtomSet] {
        &self.observations
    }

    pub(crate) fn len(&self) -> usize {
        self.traces.len()
    }

    /// A trace as a whole, as a refutation of what it refutes.
    pub(crate) fn whole(&self, trace: usize) -> Refutation {
        let (kind, steps) = &self.traces[trace];
        Refutation {
            trace,
            length: steps.len(),
            kind: *kind,
        }
    }

    /// The observations of a refutation.
    pub(crate) fn steps(&self, refutation: &Refutation) -> &[ObservationId] {
        &self.traces[refutation.trace].1[..refutation.length]
    }

    /// Whether there is a trace of a kind.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.traces.iter().any(|(of, _)| *of == kind)
    }

    /// The shortest trace of a kind, as a refutation of the empty machine.
    pub(crate) fn shortest(&self, kind: Kind) -> Option<Refutation> {
        let of_kind = self
            .traces
            .iter()
            .enumerate()
            .filter(|(_, (k, _))| *k == kind);
        of_kind
            .min_by_key(|(_, (_, steps))| (steps.len(), steps))
            .map(|(trace, (_, steps))| Refutation {
                trace,
                length: steps.len(),
                kind,
            })
    }

    /// The shortest refutations of a machine, a few of each sort: a goal or dead-end missed, acceptance or rejection too
    /// early. None: the machine is consistent with all traces from number `from` on.
    pub(crate) fn refutations(&self, machine: &BoundMachine, from: usize) -> Vec<Refutation> {
        let mut found: Vec<(usize, Refutation)> = (self.traces[from..].par_iter().enumerate())
            .with_min_len(256)
            .filter_map(|(i, (kind, steps))| self.refutation(machine, from + i, *kind, steps))
            .collect();
        found.sort_by_key(|(sort, refutation)| (*sort, refutation.length, refutation.trace));
        let mut counts = [0; 4];
        let mut known = HashSet::new();
        found.retain(|(sort, refutation)| {
            if counts[*sort] == PER_SORT || !known.insert(self.steps(refutation)) {
                return false;
            }
            counts[*sort] += 1;
            true
        });
        found
            .into_iter()
            .map(|(_, refutation)| refutation)
            .collect()
    }

    fn refutation(
        &self,
        machine: &BoundMachine,
        trace: usize,
        kind: Kind,
        steps: &[ObservationId],
    ) -> Option<(usize, Refutation)> {
        let mut run = Run::new(machine);
        let mut reached = MachineStatus::Running;
        let mut length = steps.len();
        for (i, step) in steps.iter().enumerate() {
            if run
                .step(machine, &self.observations[*step as usize])
                .edge
                .is_some()
            {
                reached = machine.machine().status(run.state());
                if reached != MachineStatus::Running {
                    length = i + 1;
                    break;
                }
            }
        }
        let expected = if length < steps.len() {
            MachineStatus::Running
        } else {
            kind.expected()
        };
        if reached == expected {
            return None;
        }
        let sort = match (expected, reached) {
            (MachineStatus::Accepted, _) => 0,
            (MachineStatus::Rejected, _) => 1,
            (MachineStatus::Running, MachineStatus::Accepted) => 2,
            (MachineStatus::Running, _) => 3,
        };
        let kind = if expected == MachineStatus::Running {
            Kind::Incomplete
        } else {
            kind
        };
        Some((
            sort,
            Refutation {
                trace,
                length,
                kind,
            },
        ))
    }
}

/// How many refutations of one sort are added at a time.
const PER_SORT: usize = 2;
