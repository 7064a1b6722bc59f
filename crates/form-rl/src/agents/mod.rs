//! The agents: which of them acts in which machine state, what it observes, its network's architecture, and how it learns.

pub(crate) mod agent;
pub(crate) mod agent_assignment;
pub(crate) mod architecture;
pub(crate) mod observation_encoder;
