//! Policy reuse after relearning: a policy survives a new machine if its sub-task does.
//!
//! The sub-task of a state is the set of formulae on its outgoing edges. A state of the new machine inherits the policy of the old
//! state with the same formulae, whatever the states are called; the others start with fresh weights. A single policy serves all
//! states, so it is adapted: the weights of inputs that both machines have are kept.

use anyhow::Result;
use form_core::{BoundMachine, StateId};
use form_rl::{Agent, Cast, Role, Roles};

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
    cast: &Cast,
    old: Option<(Vec<Agent>, &Cast)>,
    mut new_agent: impl FnMut(&Role) -> Result<Agent>,
) -> Result<(Vec<Agent>, Vec<PolicyReuse>)> {
    let (mut candidates, old_cast) = match old {
        Some((agents, cast)) => (agents.into_iter().map(Some).collect(), Some(cast)),
        None => (Vec::new(), None),
    };
    let mut agents = Vec::new();
    let mut reused = Vec::new();
    for (place, role) in cast.parts().iter().enumerate() {
        let survivor = old_cast.and_then(|old| survivor(cast, place, old, &candidates));
        let inherited = survivor.and_then(|place| candidates[place].take());
        let from = inherited.as_ref().map(|agent| agent.name().to_owned());
        let agent = match (inherited, cast.roles()) {
            (Some(mut agent), Roles::PerState) => {
                agent.rename(&role.name);
                agent
            }
            (Some(old), _) => {
                let mut agent = new_agent(role)?;
                let names = old_cast.map(|cast| (indicators(cast, 0), states(cast)));
                let (indicators_before, states_before) = names.unwrap_or_default();
                let maps = column_maps(cast, 0, &indicators_before, &states_before);
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
fn survivor(cast: &Cast, place: usize, old: &Cast, candidates: &[Option<Agent>]) -> Option<usize> {
    if cast.roles() != Roles::PerState {
        return candidates.iter().position(Option::is_some);
    }
    let wanted = sub_task(cast.machine(), state_of(cast, place)?);
    // A state without outgoing edges has no sub-task.
    if wanted.is_empty() {
        return None;
    }
    (0..candidates.len()).find(|candidate| {
        candidates[*candidate].is_some()
            && old.parts()[*candidate].sight == cast.parts()[place].sight
            && state_of(old, *candidate)
                .is_some_and(|state| sub_task(old.machine(), state) == wanted)
    })
}

fn state_of(cast: &Cast, place: usize) -> Option<StateId> {
    let machine = cast.machine().machine();
    machine
        .state_ids()
        .find(|state| cast.agent(*state) == Some(place))
}

/// For each input beside the world: the old column of each of its new columns, if it had one.
pub(crate) fn column_maps(
    cast: &Cast,
    place: usize,
    indicators_before: &[String],
    states_before: &[String],
) -> [(&'static str, Vec<Option<usize>>); 2] {
    [
        (
            "indicators",
            columns(&indicators(cast, place), indicators_before),
        ),
        ("machine", columns(&states(cast), states_before)),
    ]
}

/// The ground atoms that a role has indicators for.
fn indicators(cast: &Cast, place: usize) -> Vec<String> {
    let signature = cast.machine().signature();
    let bits = cast.parts()[place].sight.bits().iter();
    bits.map(|atom| signature.atom(*atom).to_string()).collect()
}

/// The names of the machine's states.
fn states(cast: &Cast) -> Vec<String> {
    let states = cast.machine().machine().states().iter();
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
