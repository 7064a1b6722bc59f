//! Traces, their kinds, and consistency of a machine with a trace.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::logic::atom_set::AtomSet;
use crate::logic::signature::Signature;
use crate::machine::bound::BoundMachine;
use crate::machine::machine::MachineStatus;
use crate::machine::run::Run;
use crate::machine::step_mode::{Compressor, StepMode};

/// How an episode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The task was completed at the last step.
    Goal,
    /// The task became impossible at the last step.
    DeadEnd,
    /// Neither.
    Incomplete,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Goal, Self::DeadEnd, Self::Incomplete];

    /// As in trace files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Goal => "goal",
            Self::DeadEnd => "dead-end",
            Self::Incomplete => "incomplete",
        }
    }

    /// The status that a machine must have after a trace of this kind.
    pub fn expected(self) -> MachineStatus {
        match self {
            Self::Goal => MachineStatus::Accepted,
            Self::DeadEnd => MachineStatus::Rejected,
            Self::Incomplete => MachineStatus::Running,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        (Self::ALL.into_iter().find(|kind| kind.as_str() == text)).ok_or_else(|| {
            format!("unknown kind `{text}`, expected `goal`, `dead-end` or `incomplete`")
        })
    }
}

/// The observations of an episode, every change or every step, and how it ended.
///
/// Every strict prefix of a trace is incomplete: the episode went on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Trace {
    kind: Kind,
    mode: StepMode,
    steps: Vec<AtomSet>,
    own: Option<Arc<AtomSet>>,
}

/// How a machine is inconsistent with a trace, which is then a counterexample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The number of observations after which the machine was wrong.
    pub after: usize,
    /// The status that the trace requires then.
    pub expected: MachineStatus,
    /// The status of the machine.
    pub reached: MachineStatus,
}

impl Trace {
    /// Compresses the observations: empty ones are dropped, equal consecutive ones count once.
    pub fn new(kind: Kind, observations: impl IntoIterator<Item = AtomSet>) -> Self {
        Self::with_mode(StepMode::Changes, kind, observations)
    }

    /// Keeps the observations that count in this mode: as [`Trace::new`], or all.
    pub fn with_mode(
        mode: StepMode,
        kind: Kind,
        observations: impl IntoIterator<Item = AtomSet>,
    ) -> Self {
        let mut compressor = Compressor::new(mode);
        let steps = observations
            .into_iter()
            .filter(|o| compressor.admits(o))
            .collect();
        Self {
            kind,
            mode,
            steps,
            own: None,
        }
    }

    /// The same trace with a signature of its own: the atoms that can be observed in it. `forall` ranges over its objects then.
    #[must_use]
    pub fn with_signature(mut self, own: impl Into<Arc<AtomSet>>) -> Self {
        self.own = Some(own.into());
        self
    }

    /// Its first observations, after which the episode went on: an incomplete trace.
    #[must_use]
    pub fn beginning(&self, observations: usize) -> Self {
        Self {
            kind: Kind::Incomplete,
            mode: self.mode,
            steps: self.steps.iter().take(observations).cloned().collect(),
            own: self.own.clone(),
        }
    }

    /// The atoms that can be observed in it, if it says so.
    pub fn own_signature(&self) -> Option<&AtomSet> {
        self.own.as_deref()
    }

    /// Which environment steps it has.
    pub fn step_mode(&self) -> StepMode {
        self.mode
    }

    /// How it ended.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The observations.
    pub fn steps(&self) -> &[AtomSet] {
        &self.steps
    }

    /// The first inconsistency of a machine with the trace, if any. Both must count every step, or every change: see
    /// [`StepMode::must_be`]. The machine is one for the trace's own signature, if that has one: see [`BoundMachine::within`].
    pub fn disagreement(&self, machine: &BoundMachine) -> Option<Disagreement> {
        match &self.own {
            None => disagreement(machine, self.kind, &self.steps),
            Some(own) => disagreement(&machine.within(own), self.kind, &self.steps),
        }
    }

    /// The trace as a line of a trace file.
    pub fn to_json(&self, signature: &Signature) -> String {
        let steps: Vec<Vec<String>> = self
            .steps
            .iter()
            .map(|step| signature.texts(step))
            .collect();
        let mut line = serde_json::json!({ "kind": self.kind.as_str(), "steps": steps });
        if let Some(own) = &self.own {
            line["signature"] = signature.texts(own).into();
        }
        line.to_string()
    }
}

/// The first line of a trace file: the signature and, where every step counts, which steps its traces have.
///
/// ```
/// use form_core::{Signature, StepMode, trace_header};
/// let signature = Signature::parse(["goal"])?;
/// assert_eq!(trace_header(&signature, StepMode::Changes), r#"{"signature":["goal"]}"#);
/// assert_eq!(trace_header(&signature, StepMode::All), r#"{"signature":["goal"],"steps":"all"}"#);
/// # Ok::<(), form_core::Error>(())
/// ```
pub fn trace_header(signature: &Signature, mode: StepMode) -> String {
    let atoms: Vec<String> = signature.atoms().iter().map(ToString::to_string).collect();
    let mut header = serde_json::json!({ "signature": atoms });
    if mode == StepMode::All {
        header["steps"] = mode.as_str().into();
    }
    header.to_string()
}

/// As [`Trace::disagreement`], on the observations that count.
pub(crate) fn disagreement(
    machine: &BoundMachine,
    kind: Kind,
    steps: &[AtomSet],
) -> Option<Disagreement> {
    let mut run = Run::new(machine);
    for (i, observation) in steps.iter().enumerate() {
        if run.step(machine, observation).edge.is_none() {
            continue;
        }
        let reached = machine.machine().status(run.state());
        if reached != MachineStatus::Running && i + 1 < steps.len() {
            let expected = MachineStatus::Running;
            return Some(Disagreement {
                after: i + 1,
                expected,
                reached,
            });
        }
    }
    let (expected, reached) = (kind.expected(), machine.machine().status(run.state()));
    (expected != reached).then_some(Disagreement {
        after: steps.len(),
        expected,
        reached,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::machine::Machine;

    #[test]
    fn every_sort_of_counterexample_is_noticed() {
        let machine: Machine =
            "initial u0\naccept acc\nreject rej\nu0 -> acc : goal\nu0 -> rej : lava"
                .parse()
                .unwrap();
        let signature = Signature::parse(["goal", "lava", "red"]).unwrap();
        let machine = machine.bind(&signature).unwrap();
        let verdict = |kind, steps: &[&str]| {
            let steps = steps
                .iter()
                .map(|atom| signature.observation([*atom]).unwrap());
            Trace::new(kind, steps)
                .disagreement(&machine)
                .map(|d| (d.after, d.expected, d.reached))
        };
        use MachineStatus::{Accepted, Rejected, Running};
        assert_eq!(verdict(Kind::Goal, &["red", "goal"]), None);
        assert_eq!(verdict(Kind::DeadEnd, &["red", "lava"]), None);
        assert_eq!(verdict(Kind::Incomplete, &["red"]), None);
        assert_eq!(verdict(Kind::Incomplete, &[]), None);
        assert_eq!(verdict(Kind::Goal, &["red"]), Some((1, Accepted, Running)));
        assert_eq!(
            verdict(Kind::Goal, &["lava"]),
            Some((1, Accepted, Rejected))
        );
        assert_eq!(
            verdict(Kind::DeadEnd, &["goal"]),
            Some((1, Rejected, Accepted))
        );
        assert_eq!(
            verdict(Kind::Incomplete, &["goal"]),
            Some((1, Running, Accepted))
        );
        assert_eq!(
            verdict(Kind::Goal, &["goal", "red", "goal"]),
            Some((1, Running, Accepted))
        );
        assert_eq!(verdict(Kind::Goal, &[]), Some((0, Accepted, Running)));
        // A repeated observation is dropped: nothing comes after the goal here.
        assert_eq!(verdict(Kind::Goal, &["goal", "goal"]), None);
    }
}
