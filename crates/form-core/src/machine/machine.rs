//! First-order reward machines (Definition 3.2).

use std::fmt;

use super::step_mode::StepMode;
use crate::logic::atom::Atom;
use crate::logic::formula::Formula;
use crate::logic::identifier::Name;

/// The number of a state within its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub(crate) u32);

/// The number of an edge within its machine, in declaration order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeId(pub(crate) u32);

impl StateId {
    /// Position among the machine's states.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl EdgeId {
    /// Position among the machine's edges.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An edge: the formula that must hold, and the reward for taking it.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The state it leaves.
    pub from: StateId,
    /// The state it enters.
    pub to: StateId,
    /// The formula that must hold.
    pub formula: Formula,
    /// Its own reward; without one the reward is 1 into the accepting state and 0 elsewhere.
    pub reward: Option<f64>,
}

/// A validated machine.
///
/// It is lifted: it names predicates and becomes executable by [binding](Machine::bind) it to a signature.
///
/// ```
/// use form_core::Machine;
/// let machine: Machine = "
///     machine all_yellow
///     initial u0
///     accept  u_acc
///     u0 -> u1    : forall X. yellow(X)
///     u1 -> u_acc : goal
/// ".parse()?;
/// assert_eq!(machine.states().len(), 3);
/// # Ok::<(), form_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub(super) name: String,
    pub(super) states: Vec<Name>,
    pub(super) initial: StateId,
    pub(super) accept: StateId,
    pub(super) reject: Option<StateId>,
    pub(super) edges: Vec<Edge>,
    pub(super) step_mode: StepMode,
}

/// What being in a state means for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MachineStatus {
    /// Neither accepting nor rejecting.
    Running,
    /// In the accepting state.
    Accepted,
    /// In the rejecting state.
    Rejected,
}

impl MachineStatus {
    /// As JSON output writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
        }
    }

    /// What a machine with this status does: `accepts`, `rejects` or `goes on`.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Running => "goes on",
            Self::Accepted => "accepts",
            Self::Rejected => "rejects",
        }
    }
}

impl Machine {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The states' names in order.
    pub fn states(&self) -> &[Name] {
        &self.states
    }

    /// The numbers of the states.
    pub fn state_ids(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.states.len() as u32).map(StateId)
    }

    /// The name of a state.
    pub fn state_name(&self, state: StateId) -> &str {
        self.states[state.index()].as_str()
    }

    /// The state with this name.
    pub fn state(&self, name: &str) -> Option<StateId> {
        self.state_ids().find(|id| self.state_name(*id) == name)
    }

    /// The state in which runs start.
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// The state that means the task is done.
    pub fn accept(&self) -> StateId {
        self.accept
    }

    /// The state that means the task has become impossible, if it has one.
    pub fn reject(&self) -> Option<StateId> {
        self.reject
    }

    /// Whether the state ends a run.
    pub fn is_terminal(&self, state: StateId) -> bool {
        self.status(state) != MachineStatus::Running
    }

    /// What being in `state` means for a run.
    pub fn status(&self, state: StateId) -> MachineStatus {
        if state == self.accept {
            MachineStatus::Accepted
        } else if Some(state) == self.reject {
            MachineStatus::Rejected
        } else {
            MachineStatus::Running
        }
    }

    /// The number of states that are neither accepting nor rejecting: what the learner minimises.
    pub fn inner_states(&self) -> usize {
        self.states.len() - 1 - usize::from(self.reject.is_some())
    }

    /// The number of states as all output words it: `2 states + accept`, with `+ reject` where there is one.
    pub fn describe_states(&self) -> String {
        let inner = self.inner_states();
        let plural = if inner == 1 { "" } else { "s" };
        let reject = if self.reject.is_some() {
            " + reject"
        } else {
            ""
        };
        format!("{inner} state{plural} + accept{reject}")
    }

    /// The size as all output words it: `2 states + accept, 1 edge`.
    pub fn describe_size(&self) -> String {
        let edges = self.edges.len();
        let plural = if edges == 1 { "" } else { "s" };
        format!("{}, {edges} edge{plural}", self.describe_states())
    }

    /// Which environment steps it observes: every change, or every step.
    pub fn step_mode(&self) -> StepMode {
        self.step_mode
    }

    /// The edges in declaration order.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The numbers of the edges.
    pub fn edge_ids(&self) -> impl Iterator<Item = EdgeId> + use<> {
        (0..self.edges.len() as u32).map(EdgeId)
    }

    /// One edge.
    pub fn edge(&self, edge: EdgeId) -> &Edge {
        &self.edges[edge.index()]
    }

    /// The edges out of a state, in declaration order. Looks at all edges of the machine: to visit every state, group them once.
    pub fn edges_from(&self, state: StateId) -> impl Iterator<Item = (EdgeId, &Edge)> {
        (self.edge_ids().zip(&self.edges)).filter(move |(_, edge)| edge.from == state)
    }

    /// The reward of taking an edge: its own, else 1 into the accepting state and 0 elsewhere.
    pub fn reward(&self, edge: EdgeId) -> f64 {
        let edge = self.edge(edge);
        edge.reward
            .unwrap_or(if edge.to == self.accept { 1.0 } else { 0.0 })
    }

    /// An edge as messages name it: `edge 2 (u0 -> u1)`.
    pub fn describe_edge(&self, edge: EdgeId) -> String {
        let Edge { from, to, .. } = self.edge(edge);
        place_of_edge(edge.index(), self.state_name(*from), self.state_name(*to))
    }

    /// All atomic formulae on the edges, without repetitions, in order of first occurrence.
    pub fn atoms(&self) -> Vec<&Atom> {
        let mut seen = std::collections::HashSet::new();
        let all = self.edges.iter().flat_map(|edge| edge.formula.atoms());
        all.filter(|atom| seen.insert(*atom)).collect()
    }

    /// Edges without a positive atom: allowed, and probably a mistake unless every step counts.
    pub fn edges_without_positive_atom(&self) -> Vec<EdgeId> {
        (self.edge_ids())
            .filter(|_| self.step_mode == StepMode::Changes)
            .filter(|id| !self.edge(*id).formula.has_positive_atom())
            .collect()
    }
}

pub(crate) fn place_of_edge(index: usize, from: &str, to: &str) -> String {
    format!("edge {} ({from} -> {to})", index + 1)
}

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "state {}", self.0)
    }
}
