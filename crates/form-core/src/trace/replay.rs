//! Replaying a machine on trace files of any size, and explaining an inconsistency step by step.

use std::sync::Arc;

use super::file::{ParsedTrace, TraceFile};
use super::trace::{Disagreement, Kind, Trace, disagreement};
use crate::error::Result;
use crate::logic::atom_set::AtomSet;
use crate::machine::bound::BoundMachine;
use crate::machine::machine::{EdgeId, StateId};
use crate::machine::run::Run;

/// The result of replaying traces.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// Traces of each kind, in the order of [`Kind::ALL`].
    pub traces: [u64; 3],
    /// The number of observations that count.
    pub steps: u64,
    /// The number of traces that the machine is inconsistent with.
    pub disagreements: u64,
    /// The first of them.
    pub first: Option<Counterexample>,
    /// All of them, in order.
    pub misjudged: Vec<Misjudged>,
}

/// The place of a trace that a machine is inconsistent with.
#[derive(Clone, Debug)]
pub struct Misjudged {
    /// The file's name.
    pub file: Arc<str>,
    /// The line in the file.
    pub line: usize,
    /// How the trace ended.
    pub kind: Kind,
    /// The number of its observations.
    pub observations: usize,
    /// The inconsistency.
    pub disagreement: Disagreement,
}

/// A trace that a machine is inconsistent with, and its place.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The file's name.
    pub file: String,
    /// The line in the file.
    pub line: usize,
    /// The trace.
    pub trace: Trace,
    /// The inconsistency.
    pub disagreement: Disagreement,
}

impl Replay {
    /// Replays the machine on every trace of a file and adds the results to those so far.
    pub fn add(&mut self, machine: &BoundMachine, file: TraceFile) -> Result<()> {
        self.add_within(machine, file, &|_| None)
    }

    /// As [`add`](Self::add), where `own` says from a trace's observations which atoms can be observed in it, unless the trace brings
    /// these itself: see [`BoundMachine::within`].
    pub fn add_within(
        &mut self,
        machine: &BoundMachine,
        file: TraceFile,
        own: &(impl Fn(&[AtomSet]) -> Option<AtomSet> + Sync),
    ) -> Result<()> {
        let name: Arc<str> = file.name().into();
        let mode = machine.machine().step_mode();
        let what = format!("machine {}", machine.machine().name());
        file.with_mode(mode, &what)?.for_each_block(
            machine.signature(),
            |replay: &mut Self, seen| match seen.own {
                Some(_) => replay.visit(machine, &name, seen),
                None => {
                    let own = own(seen.steps);
                    let own = own.as_ref();
                    replay.visit(machine, &name, ParsedTrace { own, ..seen });
                }
            },
            |part| self.merge(part),
        )
    }

    /// The number of traces.
    pub fn total(&self) -> u64 {
        self.traces.iter().sum()
    }

    fn visit(&mut self, machine: &BoundMachine, file: &Arc<str>, seen: ParsedTrace<'_>) {
        let (line, kind, steps) = (seen.line, seen.kind, seen.steps);
        self.traces[kind as usize] += 1;
        self.steps += steps.len() as u64;
        let found = match seen.own {
            None => disagreement(machine, kind, steps),
            Some(own) => disagreement(&machine.within(own), kind, steps),
        };
        if let Some(disagreement) = found {
            self.disagreements += 1;
            self.misjudged.push(Misjudged {
                file: file.clone(),
                line,
                kind,
                observations: steps.len(),
                disagreement,
            });
            self.first.get_or_insert_with(|| Counterexample {
                file: file.to_string(),
                line,
                trace: seen.trace(machine.machine().step_mode()),
                disagreement,
            });
        }
    }

    fn merge(&mut self, part: Self) {
        for (total, traces) in self.traces.iter_mut().zip(part.traces) {
            *total += traces;
        }
        self.steps += part.steps;
        self.disagreements += part.disagreements;
        self.first = self.first.take().or(part.first);
        self.misjudged.extend(part.misjudged);
    }
}

/// One step of a run, with all formulae that were tested.
#[derive(Clone, Debug)]
pub struct ExplainedStep {
    /// The observation.
    pub observation: AtomSet,
    /// The state before.
    pub from: StateId,
    /// The union of the observations since that state was entered, this one included.
    pub seen: AtomSet,
    /// The edges out of the state and whether their formulae hold, in declaration order.
    pub edges: Vec<(EdgeId, bool)>,
    /// The edge taken.
    pub taken: Option<EdgeId>,
    /// The state after.
    pub to: StateId,
}

/// The run of a machine on a trace, step by step, up to a terminal state.
///
/// Formulae are evaluated by the definition of truth, not by the compiled form.
pub fn explain(machine: &BoundMachine, trace: &Trace) -> Vec<ExplainedStep> {
    let within = trace.own_signature().map(|own| machine.within(own));
    let machine = within.as_ref().unwrap_or(machine);
    // The definition of truth ranges over a whole signature: that of the trace, if it has one of its own.
    let own = (trace.own_signature()).map(|own| machine.signature().restricted(own));
    let signature = own.as_ref().unwrap_or(machine.signature());
    let over = |set: &AtomSet| -> AtomSet {
        (set.iter().map(|id| machine.signature().atom(id)))
            .filter_map(|atom| signature.id_of(atom))
            .collect()
    };
    let mut run = Run::new(machine);
    let mut steps = Vec::new();
    for observation in trace.steps() {
        let from = run.state();
        if machine.machine().is_terminal(from) {
            break;
        }
        let earlier = run.seen().clone();
        let buffer = [over(&earlier), over(observation)];
        let holds = |edge: &EdgeId| {
            let formula = &machine.machine().edge(*edge).formula;
            crate::logic::truth::satisfies(&buffer, formula, signature)
        };
        let edges = machine
            .outgoing(from)
            .iter()
            .map(|edge| (*edge, holds(edge)))
            .collect();
        let taken = run.step(machine, observation).edge;
        steps.push(ExplainedStep {
            observation: observation.clone(),
            from,
            seen: earlier.union(observation),
            edges,
            taken,
            to: run.state(),
        });
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::signature::Signature;
    use crate::machine::machine::Machine;

    /// The compiled machine and the definition of truth agree on traces with signatures of their own.
    #[test]
    fn a_trace_is_judged_by_its_own_signature() {
        let machine: Machine = "initial u0\naccept acc\n\
             u0 -> u1 : forall X. p(X) and not q(c)\nu0 -> acc : exists X. q(X) and not forall X. p(X)\nu1 -> acc : atleast 2 X. p(X)"
            .parse()
            .unwrap();
        let atoms = ["p(a)", "p(b)", "p(c)", "q(a)", "q(c)"];
        let signature = Signature::parse(atoms).unwrap();
        let bound = machine.bind(&signature).unwrap();
        let (mut taken, mut never) = (0, 0);
        for own in 0..1_u32 << atoms.len() {
            let own: Vec<&str> = (atoms.iter().enumerate())
                .filter(|(i, _)| own >> i & 1 == 1)
                .map(|(_, atom)| *atom)
                .collect();
            let steps = (own.iter().chain(own.iter().rev()))
                .map(|atom| signature.observation([*atom]).unwrap());
            let trace = Trace::new(Kind::Incomplete, steps)
                .with_signature(signature.observation(&own).unwrap());
            for step in explain(&bound, &trace) {
                let first = step.edges.iter().find(|(_, holds)| *holds);
                assert_eq!(step.taken, first.map(|(edge, _)| *edge), "{own:?}");
                taken += usize::from(step.taken.is_some());
                never += usize::from(step.taken.is_none());
            }
        }
        assert!(taken > 20 && never > 20, "{taken}, {never}");
    }
}
