//! Replaying a machine on trace files of any size, and explaining an inconsistency step by step.

use std::sync::Arc;

use super::file::TraceFile;
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
        let name: Arc<str> = file.name().into();
        let mode = machine.machine().step_mode();
        let what = format!("machine {}", machine.machine().name());
        file.with_mode(mode, &what)?.for_each_block(
            machine.signature(),
            |replay: &mut Self, line, kind, steps| replay.visit(machine, &name, line, kind, steps),
            |part| self.merge(part),
        )
    }

    /// The number of traces.
    pub fn total(&self) -> u64 {
        self.traces.iter().sum()
    }

    fn visit(
        &mut self,
        machine: &BoundMachine,
        file: &Arc<str>,
        line: usize,
        kind: Kind,
        steps: &[AtomSet],
    ) {
        self.traces[kind as usize] += 1;
        self.steps += steps.len() as u64;
        if let Some(disagreement) = disagreement(machine, kind, steps) {
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
                trace: Trace::with_mode(machine.machine().step_mode(), kind, steps.iter().cloned()),
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
    let mut run = Run::new(machine);
    let mut steps = Vec::new();
    for observation in trace.steps() {
        let from = run.state();
        if machine.machine().is_terminal(from) {
            break;
        }
        let earlier = run.seen().clone();
        let buffer = [earlier.clone(), observation.clone()];
        let holds = |edge: &EdgeId| {
            let formula = &machine.machine().edge(*edge).formula;
            crate::logic::truth::satisfies(&buffer, formula, machine.signature())
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
