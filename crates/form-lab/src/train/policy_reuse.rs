//! Policy reuse after relearning: a policy survives a new machine if its sub-task does.
//!
//! The sub-task of a state is the set of formulae on its outgoing edges. A state of the new machine inherits the policy of the old
//! state with the same formulae, whatever the states are called; the others start with fresh weights. A single policy serves all
//! states, so it is adapted: the weights of inputs that both machines have are kept.

use anyhow::Result;
use form_core::{BoundMachine, StateId};
use form_rl::{Agent, AgentAssignment, AssignmentMode, Role};

/// Where the policy of a role comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyReuse {
    /// The role in the new machine.
    pub role: String,
    /// The role in the old machine whose policy was reused, if one was.
    pub from: Option<String>,
}

/// One agent per role: old agents whose sub-task survives, and new ones made by `new_agent`.
pub fn reuse_policies(
    assignment: &AgentAssignment,
    old: Option<(Vec<Agent>, &AgentAssignment)>,
    mut new_agent: impl FnMut(&Role) -> Result<Agent>,
) -> Result<(Vec<Agent>, Vec<PolicyReuse>)> {
    let (mut candidates, old_assignment) = match old {
        Some((agents, assignment)) => (agents.into_iter().map(Some).collect(), Some(assignment)),
        None => (Vec::new(), None),
    };
    let mut agents = Vec::new();
    let mut reused = Vec::new();
    for (place, role) in assignment.roles().iter().enumerate() {
        let survivor = old_assignment.and_then(|old| survivor(assignment, place, old, &candidates));
        let inherited = survivor.and_then(|place| candidates[place].take());
        let from = inherited.as_ref().map(|agent| agent.name().to_owned());
        let agent = match (inherited, assignment.mode()) {
            (Some(mut agent), AssignmentMode::PerState) => {
                agent.rename(&role.name);
                agent
            }
            (Some(old), _) => {
                let mut agent = new_agent(role)?;
                let names = old_assignment
                    .map(|assignment| (indicators(assignment, 0), states(assignment)));
                let (indicators_before, states_before) = names.unwrap_or_default();
                let maps = column_maps(assignment, 0, &indicators_before, &states_before);
                agent.inherit(old.network(), &maps);
                agent
            }
            (None, _) => new_agent(role)?,
        };
        agents.push(agent);
        let role = role.name.clone();
        reused.push(PolicyReuse { role, from });
    }
    Ok((agents, reused))
}

/// The old agent with the sub-task of a role.
fn survivor(
    assignment: &AgentAssignment,
    place: usize,
    old: &AgentAssignment,
    candidates: &[Option<Agent>],
) -> Option<usize> {
    if assignment.mode() != AssignmentMode::PerState {
        return candidates.iter().position(Option::is_some);
    }
    let wanted = sub_task(assignment.bound_machine(), state_of(assignment, place)?);
    // A state without outgoing edges has no sub-task.
    if wanted.is_empty() {
        return None;
    }
    (0..candidates.len()).find(|candidate| {
        candidates[*candidate].is_some()
            && old.roles()[*candidate].encoder == assignment.roles()[place].encoder
            && state_of(old, *candidate)
                .is_some_and(|state| sub_task(old.bound_machine(), state) == wanted)
    })
}

fn state_of(assignment: &AgentAssignment, place: usize) -> Option<StateId> {
    let machine = assignment.machine();
    machine
        .state_ids()
        .find(|state| assignment.agent(*state) == Some(place))
}

/// For each input beside the world: the old column of each of its new columns, if it had one.
pub(crate) fn column_maps(
    assignment: &AgentAssignment,
    place: usize,
    indicators_before: &[String],
    states_before: &[String],
) -> [(&'static str, Vec<Option<usize>>); 2] {
    [
        (
            "indicators",
            columns(&indicators(assignment, place), indicators_before),
        ),
        ("machine", columns(&states(assignment), states_before)),
    ]
}

/// The ground atoms that a role has indicators for.
fn indicators(assignment: &AgentAssignment, place: usize) -> Vec<String> {
    let signature = assignment.bound_machine().signature();
    let bits = assignment.roles()[place].encoder.bits().iter();
    bits.map(|atom| signature.atom(*atom).to_string()).collect()
}

/// The names of the machine's states.
fn states(assignment: &AgentAssignment) -> Vec<String> {
    let states = assignment.machine().states().iter();
    states.map(ToString::to_string).collect()
}

/// The place of each name among those before.
fn columns(names: &[String], before: &[String]) -> Vec<Option<usize>> {
    let place = |name: &String| before.iter().position(|other| other == name);
    names.iter().map(place).collect()
}

/// The formulae on the outgoing edges of a state in canonical order; those of edges to the rejecting state are marked.
fn sub_task(machine: &BoundMachine, state: StateId) -> Vec<String> {
    let machine = machine.machine();
    let edges = machine.edges_from(state);
    let mut formulae: Vec<String> = edges
        .map(|(_, edge)| match machine.reject() == Some(edge.to) {
            true => format!("never {}", edge.formula),
            false => edge.formula.to_string(),
        })
        .collect();
    formulae.sort();
    formulae
}

#[cfg(test)]
mod tests;
