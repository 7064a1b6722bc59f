//! Which agent acts in which machine state: one agent per state (section 3.4), or one agent for all states.
//!
//! The methods of the paper differ only in this. Agents of different states share no weights, so each can be transferred on its
//! own. The single policy observes the machine's state and all indicators. Without a machine, one agent observes the world alone.

use std::sync::Arc;

use form_core::{BoundMachine, Machine, MachineStatus, Signature, StateId, StepMode};
use form_env::{EpisodeOutcome, Spec};
use serde::{Deserialize, Serialize};

use super::observation_encoder::{ObservationEncoder, ProgressEncoding};
use crate::Result;
use crate::reach_avoid::policy::ReachAvoidPolicy;

/// How agents are assigned to machine states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssignmentMode {
    /// One agent per machine state.
    PerState,
    /// One agent for all states; the state is part of its observation.
    Single,
    /// One agent without a machine.
    Unaided,
    /// No agent: one reach-avoid policy acts in all states, with a plan in place of observations.
    ReachAvoid,
}

/// One agent's role: its name and its observations.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// The name of its state, or `policy` where there is one agent for all.
    pub name: String,
    /// How its observations are made.
    pub encoder: ObservationEncoder,
}

/// The agents of a machine, and the states in which they act.
#[derive(Clone, Debug)]
pub struct AgentAssignment {
    mode: AssignmentMode,
    machine: Arc<BoundMachine>,
    roles: Vec<Role>,
    /// The agent of each state; terminal states have none if there is one agent per state.
    agents: Vec<Option<usize>>,
    /// Φ of each state.
    potentials: Vec<f32>,
    /// The policy that acts in all states where there are no agents.
    policy: Option<Arc<ReachAvoidPolicy>>,
}

impl AgentAssignment {
    /// Assigns agents to the states of a machine, in worlds whose observations have this format.
    pub fn new(
        machine: BoundMachine,
        mode: AssignmentMode,
        progress: ProgressEncoding,
        spec: &Spec,
    ) -> Self {
        let lifted = machine.machine();
        let running: Vec<StateId> = (lifted.state_ids())
            .filter(|state| !lifted.is_terminal(*state))
            .collect();
        let roles = match mode {
            AssignmentMode::PerState => (running.iter())
                .map(|state| Role {
                    name: lifted.state_name(*state).to_owned(),
                    encoder: ObservationEncoder::of(spec, &machine, &[*state], progress),
                })
                .collect(),
            AssignmentMode::Single => vec![Role {
                name: "policy".to_owned(),
                encoder: ObservationEncoder::of(spec, &machine, &running, progress)
                    .with_states(lifted.states().len()),
            }],
            AssignmentMode::Unaided => vec![Role {
                name: "policy".to_owned(),
                encoder: ObservationEncoder::plain(spec),
            }],
            AssignmentMode::ReachAvoid => Vec::new(),
        };
        let agent = |state| match mode {
            AssignmentMode::PerState => running.iter().position(|running| *running == state),
            AssignmentMode::Single | AssignmentMode::Unaided => Some(0),
            AssignmentMode::ReachAvoid => None,
        };
        let agents = lifted.state_ids().map(agent).collect();
        Self {
            potentials: potentials(lifted),
            mode,
            roles,
            agents,
            machine: Arc::new(machine),
            policy: None,
        }
    }

    /// A reach-avoid policy for all states of a machine.
    pub fn reach_avoid(machine: BoundMachine, policy: Arc<ReachAvoidPolicy>, spec: &Spec) -> Self {
        let mode = AssignmentMode::ReachAvoid;
        Self {
            policy: Some(policy),
            ..Self::new(machine, mode, ProgressEncoding::Bits, spec)
        }
    }

    /// The reach-avoid policy, if there is one in place of agents.
    pub fn policy(&self) -> Option<&Arc<ReachAvoidPolicy>> {
        self.policy.as_ref()
    }

    /// One agent without a machine.
    pub fn unaided(signature: &Signature, spec: &Spec) -> Result<Self> {
        let machine = nothing_known(StepMode::Changes)?.bind(signature)?;
        Ok(Self::new(
            machine,
            AssignmentMode::Unaided,
            ProgressEncoding::Bits,
            spec,
        ))
    }

    /// How agents are assigned to states.
    pub fn mode(&self) -> AssignmentMode {
        self.mode
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        self.machine.machine()
    }

    /// The machine, compiled for the signature of the worlds.
    pub fn bound_machine(&self) -> &Arc<BoundMachine> {
        &self.machine
    }

    /// One role per agent.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// The agent that acts in a state.
    pub fn agent(&self, state: StateId) -> Option<usize> {
        self.agents[state.index()]
    }

    /// Φ of a state, the potential of potential-based shaping (Ng, Harada, Russell 1999): (N − d) / N, with d the number of edges on
    /// a shortest path to acceptance and N the number of states; 0 if there is no path.
    pub fn potential(&self, state: StateId) -> f32 {
        self.potentials[state.index()]
    }

    /// Whether the machine can accept at all. If not, all rewards are 0 and there is nothing to learn.
    pub fn can_accept(&self) -> bool {
        self.potential(self.machine().initial()) > 0.0
    }

    /// Whether the machine ends the episode in this state; without a machine, never.
    pub(crate) fn ends_episode(&self, state: StateId) -> bool {
        self.mode != AssignmentMode::Unaided && self.machine().is_terminal(state)
    }

    /// Whether the machine's status differs from the outcome that the world reports.
    pub fn disagrees(&self, state: StateId, outcome: EpisodeOutcome) -> bool {
        let expected = match outcome {
            EpisodeOutcome::Goal => MachineStatus::Accepted,
            EpisodeOutcome::DeadEnd => MachineStatus::Rejected,
            EpisodeOutcome::Running | EpisodeOutcome::OutOfTime => MachineStatus::Running,
        };
        self.mode != AssignmentMode::Unaided && self.machine().status(state) != expected
    }
}

/// The machine that learning starts from (Appendix B): one state without edges. Its traces have these steps.
pub fn nothing_known(mode: StepMode) -> Result<Machine> {
    Ok(Machine::builder("nothing_known")
        .initial("u0")
        .accept("u_acc")
        .step_mode(mode)
        .build()?)
}

/// Φ of every state, by breadth-first search backwards from acceptance.
fn potentials(machine: &Machine) -> Vec<f32> {
    let states = machine.states().len();
    let mut potentials = vec![0.0; states];
    let mut reached = vec![false; states];
    let mut front = vec![machine.accept()];
    reached[machine.accept().index()] = true;
    let mut distance = 0;
    while !front.is_empty() {
        for state in &front {
            potentials[state.index()] = (states - distance) as f32 / states as f32;
        }
        distance += 1;
        let mut next = Vec::new();
        for edge in machine.edges() {
            if front.contains(&edge.to) && !reached[edge.from.index()] {
                reached[edge.from.index()] = true;
                next.push(edge.from);
            }
        }
        front = next;
    }
    potentials
}
