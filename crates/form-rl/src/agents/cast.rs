//! Who acts when: one agent a machine state (section 3.4), or one for all of them.
//!
//! The methods of the paper differ in this and in nothing else. Per state, the agents share nothing, so that each can be taken
//! elsewhere. The single policy sees the machine's state and all indicators. Without a machine there is one agent that sees
//! the world alone.

use form_core::{BoundMachine, Machine, MachineStatus, Signature, StateId};
use form_env::{Outcome, Spec};
use serde::{Deserialize, Serialize};

use super::sight::{Progress, Sight};
use crate::Result;

/// How the work is shared out among agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Roles {
    /// One agent a machine state.
    PerState,
    /// One agent for all states, which is shown the state.
    Single,
    /// One agent that knows of no machine.
    Unaided,
}

/// One agent's part.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// The name of its state, or `policy` where there is one agent for all.
    pub name: String,
    /// What it sees.
    pub sight: Sight,
}

/// The agents of a machine.
#[derive(Clone, Debug)]
pub struct Cast {
    roles: Roles,
    machine: BoundMachine,
    parts: Vec<Role>,
    /// By state; where each has its own, none for those in which nothing is left to do.
    agents: Vec<Option<usize>>,
    /// By state: how near to acceptance it is, from 0 to 1.
    potentials: Vec<f32>,
}

impl Cast {
    /// The agents of a machine in worlds whose observations look like this.
    pub fn new(machine: BoundMachine, roles: Roles, progress: Progress, spec: &Spec) -> Self {
        let lifted = machine.machine();
        let running: Vec<StateId> = (lifted.state_ids())
            .filter(|state| !lifted.is_terminal(*state))
            .collect();
        let parts = match roles {
            Roles::PerState => (running.iter())
                .map(|state| Role {
                    name: lifted.state_name(*state).to_owned(),
                    sight: Sight::of(spec, &machine, &[*state], progress),
                })
                .collect(),
            Roles::Single => vec![Role {
                name: "policy".to_owned(),
                sight: Sight::of(spec, &machine, &running, progress)
                    .with_states(lifted.states().len()),
            }],
            Roles::Unaided => vec![Role {
                name: "policy".to_owned(),
                sight: Sight::plain(spec),
            }],
        };
        let agent = |state| match roles {
            Roles::PerState => running.iter().position(|running| *running == state),
            Roles::Single | Roles::Unaided => Some(0),
        };
        let agents = lifted.state_ids().map(agent).collect();
        Self {
            potentials: potentials(lifted),
            roles,
            parts,
            agents,
            machine,
        }
    }

    /// One agent that knows of no machine.
    pub fn unaided(signature: &Signature, spec: &Spec) -> Result<Self> {
        let machine = nothing_known()?.bind(signature)?;
        Ok(Self::new(machine, Roles::Unaided, Progress::Bits, spec))
    }

    /// How the work is shared out.
    pub fn roles(&self) -> Roles {
        self.roles
    }

    /// The machine.
    pub fn machine(&self) -> &BoundMachine {
        &self.machine
    }

    /// The agents' parts.
    pub fn parts(&self) -> &[Role] {
        &self.parts
    }

    /// Who acts in a state.
    pub fn agent(&self, state: StateId) -> Option<usize> {
        self.agents[state.index()]
    }

    /// Φ of a state: (N − d) / N, with d the number of edges from there to acceptance and N the number of states; 0 where there
    /// is no way.
    pub fn potential(&self, state: StateId) -> f32 {
        self.potentials[state.index()]
    }

    /// Whether the machine can ever accept. Until then there is nothing to learn from it.
    pub fn can_accept(&self) -> bool {
        self.potential(self.machine.machine().initial()) > 0.0
    }

    /// Whether the machine says that the episode is over, and is listened to.
    pub(crate) fn is_over(&self, state: StateId) -> bool {
        self.roles != Roles::Unaided && self.machine.machine().is_terminal(state)
    }

    /// Whether the machine and its world disagree about where the episode stands.
    pub fn disagrees(&self, state: StateId, outcome: Outcome) -> bool {
        let expected = match outcome {
            Outcome::Goal => MachineStatus::Accepted,
            Outcome::DeadEnd => MachineStatus::Rejected,
            Outcome::Running | Outcome::OutOfTime => MachineStatus::Running,
        };
        self.roles != Roles::Unaided && self.machine.machine().status(state) != expected
    }
}

/// The machine that learning starts from (Appendix B): one state, and no way out of it.
pub fn nothing_known() -> Result<Machine> {
    Ok(Machine::builder("nothing_known")
        .initial("u0")
        .accept("u_acc")
        .build()?)
}

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
