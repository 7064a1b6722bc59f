//! Counterexamples: which traces refute a machine, and which of these are given to the solver.
//!
//! The evaluator of `form-core`, which knows nothing of the encoding, replays the machine on all traces. Few traces decide
//! what the solver proposes next, so only the shortest counterexamples are chosen, cut off where the machine goes wrong.

use std::collections::HashSet;

use form_core::{BoundMachine, Kind, MachineStatus, Run};
use rayon::prelude::*;

use crate::prefix_tree::ObservationId;
use crate::traces::{TracePrefix, TraceSet};

/// How many counterexamples of each mistake are chosen at a time.
const PER_MISTAKE: usize = 2;

/// The mistakes of a machine, in the order in which their counterexamples are chosen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mistake {
    GoalMissed,
    DeadEndMissed,
    AcceptedEarly,
    RejectedEarly,
}

/// The shortest counterexamples to a machine, a few of each mistake. None: the machine is consistent with all traces from
/// number `from` on.
pub(crate) fn counterexamples(
    traces: &TraceSet,
    machine: &BoundMachine,
    from: usize,
) -> Vec<TracePrefix> {
    let mut found: Vec<(Mistake, TracePrefix)> = (traces.from(from).par_iter().enumerate())
        .with_min_len(256)
        .filter_map(|(i, (kind, steps))| {
            let (mistake, length) = first_mistake(traces, machine, *kind, steps)?;
            Some((mistake, traces.prefix(from + i, length)))
        })
        .collect();
    found.sort_by_key(|(mistake, prefix)| (*mistake, prefix.length, prefix.trace));
    let mut counts = [0; 4];
    let mut known = HashSet::new();
    found.retain(|(mistake, prefix)| {
        let count = &mut counts[*mistake as usize];
        let chosen = *count < PER_MISTAKE && known.insert(traces.steps(prefix));
        *count += usize::from(chosen);
        chosen
    });
    found.into_iter().map(|(_, prefix)| prefix).collect()
}

/// The first mistake of a machine on a trace, and the number of observations after which it shows.
fn first_mistake(
    traces: &TraceSet,
    machine: &BoundMachine,
    kind: Kind,
    steps: &[ObservationId],
) -> Option<(Mistake, usize)> {
    let mut run = Run::new(machine);
    let mut reached = MachineStatus::Running;
    let mut length = steps.len();
    for (i, step) in steps.iter().enumerate() {
        let observation = &traces.observations()[*step as usize];
        if run.step(machine, observation).edge.is_some() {
            reached = machine.machine().status(run.state());
            if reached != MachineStatus::Running {
                length = i + 1;
                break;
            }
        }
    }
    let expected = match length < steps.len() {
        true => MachineStatus::Running,
        false => kind.expected(),
    };
    let mistake = match (expected, reached) {
        (expected, reached) if expected == reached => return None,
        (MachineStatus::Accepted, _) => Mistake::GoalMissed,
        (MachineStatus::Rejected, _) => Mistake::DeadEndMissed,
        (MachineStatus::Running, MachineStatus::Accepted) => Mistake::AcceptedEarly,
        (MachineStatus::Running, _) => Mistake::RejectedEarly,
    };
    Some((mistake, length))
}
