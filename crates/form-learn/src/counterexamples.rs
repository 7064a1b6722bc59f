//! Counterexamples: which traces refute a machine, and which of these are given to the solver.
//!
//! The evaluator of `form-core`, which knows nothing of the encoding, replays the machine on all traces. Few traces decide
//! what the solver proposes next, so only the shortest counterexamples are chosen, cut off where the machine goes wrong.

use std::collections::HashSet;

use form_core::{BoundMachine, Kind, MachineStatus, Run};
use rayon::prelude::*;

use crate::traces::{TracePrefix, TraceSet};
use crate::vocabulary::ObservationId;

/// How many counterexamples of each mistake are chosen at a time.
const PER_MISTAKE: usize = 2;

/// The mistakes of a machine, in the order in which their counterexamples are chosen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mistake {
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
    let mut found = mistakes(traces, machine, from);
    select(traces, &mut found, PER_MISTAKE, |prefix| {
        prefix.length as f64
    })
}

/// The mistakes of a machine on all traces from number `from` on, each with the trace up to where it shows.
pub(crate) fn mistakes(
    traces: &TraceSet,
    machine: &BoundMachine,
    from: usize,
) -> Vec<(Mistake, TracePrefix)> {
    (traces.from(from).par_iter().enumerate())
        .with_min_len(256)
        .filter_map(|(i, (kind, steps))| {
            let mut run = Run::new(machine);
            let step = |step: ObservationId| match run
                .step(machine, &traces.observations()[step as usize])
                .edge
            {
                Some(_) => machine.machine().status(run.state()),
                None => MachineStatus::Running,
            };
            let (mistake, length) = first_mistake(*kind, steps, step)?;
            Some((mistake, traces.prefix(from + i, length)))
        })
        .collect()
}

/// Selects counterexamples: of each mistake the first few by a key.
pub(crate) fn select(
    traces: &TraceSet,
    found: &mut Vec<(Mistake, TracePrefix)>,
    per_mistake: usize,
    mut key: impl FnMut(&TracePrefix) -> f64,
) -> Vec<TracePrefix> {
    let mut keyed: Vec<(Mistake, f64, TracePrefix)> = (found.drain(..))
        .map(|(mistake, prefix)| (mistake, key(&prefix), prefix))
        .collect();
    keyed.sort_by(|a, b| {
        (a.0.cmp(&b.0))
            .then(a.1.total_cmp(&b.1))
            .then(a.2.trace.cmp(&b.2.trace))
    });
    let mut counts = [0; 4];
    let mut known = HashSet::new();
    keyed.retain(|(mistake, _, prefix)| {
        let count = &mut counts[*mistake as usize];
        let chosen = *count < per_mistake && known.insert(traces.steps(prefix));
        *count += usize::from(chosen);
        chosen
    });
    keyed.into_iter().map(|(_, _, prefix)| prefix).collect()
}

/// The first mistake of a machine on a trace, and the number of observations after which it shows. `run` takes the next
/// observation of the trace and says what the machine has reached.
pub(crate) fn first_mistake(
    kind: Kind,
    steps: &[ObservationId],
    mut run: impl FnMut(ObservationId) -> MachineStatus,
) -> Option<(Mistake, usize)> {
    let mut reached = MachineStatus::Running;
    let mut length = steps.len();
    for (i, step) in steps.iter().enumerate() {
        reached = run(*step);
        if reached != MachineStatus::Running {
            length = i + 1;
            break;
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
