//! Which policies survive a new machine: those whose sub-task does.
//!
//! A state's sub-task is what its outgoing edges wait for. A state of the new machine inherits the policy of the old state whose
//! outgoing formulae are the same, whatever the states are called; the others start afresh. A single policy is for all states,
//! so it is adapted: weights of inputs that are still there are kept.

use anyhow::Result;
use form_core::{BoundMachine, StateId};
use form_rl::{Agent, AgentAssignment, AssignmentMode, Role};

/// What became of an agent's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staffing {
    /// The name of the part in the new machine.
    pub part: String,
    /// The part that its policy had before, if it has been somewhere else.
    pub from: Option<String>,
}

/// The agents of a cast. Those of the old one are taken over where their sub-task survives.
pub fn staff(
    cast: &AgentAssignment,
    old: Option<(Vec<Agent>, &AgentAssignment)>,
    mut hire: impl FnMut(&Role) -> Result<Agent>,
) -> Result<(Vec<Agent>, Vec<Staffing>)> {
    let (mut candidates, old_cast) = match old {
        Some((agents, cast)) => (agents.into_iter().map(Some).collect(), Some(cast)),
        None => (Vec::new(), None),
    };
    let mut agents = Vec::new();
    let mut staffing = Vec::new();
    for (place, part) in cast.roles().iter().enumerate() {
        let survivor = old_cast.and_then(|old| survivor(cast, place, old, &candidates));
        let inherited = survivor.and_then(|place| candidates[place].take());
        let from = inherited.as_ref().map(|agent| agent.name().to_owned());
        let agent = match (inherited, cast.mode()) {
            (Some(mut agent), AssignmentMode::PerState) => {
                agent.rename(&part.name);
                agent
            }
            (Some(old), _) => {
                let mut agent = hire(part)?;
                let names = old_cast.map(|cast| (indicators(cast, 0), states(cast)));
                let (indicators_before, states_before) = names.unwrap_or_default();
                let maps = column_maps(cast, 0, &indicators_before, &states_before);
                agent.inherit(old.network(), &maps);
                agent
            }
            (None, _) => hire(part)?,
        };
        agents.push(agent);
        let part = part.name.clone();
        staffing.push(Staffing { part, from });
    }
    Ok((agents, staffing))
}

/// The old agent whose sub-task is that of a part.
fn survivor(
    cast: &AgentAssignment,
    place: usize,
    old: &AgentAssignment,
    candidates: &[Option<Agent>],
) -> Option<usize> {
    if cast.mode() != AssignmentMode::PerState {
        return candidates.iter().position(Option::is_some);
    }
    let wanted = sub_task(cast.bound_machine(), state_of(cast, place)?);
    // A state without a way out has no sub-task.
    if wanted.is_empty() {
        return None;
    }
    (0..candidates.len()).find(|candidate| {
        candidates[*candidate].is_some()
            && old.roles()[*candidate].encoder == cast.roles()[place].encoder
            && state_of(old, *candidate)
                .is_some_and(|state| sub_task(old.bound_machine(), state) == wanted)
    })
}

fn state_of(cast: &AgentAssignment, place: usize) -> Option<StateId> {
    let machine = cast.machine();
    machine
        .state_ids()
        .find(|state| cast.agent(*state) == Some(place))
}

/// Where each number of what a part sees besides the world stood before, input by input.
pub(crate) fn column_maps(
    cast: &AgentAssignment,
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

/// The ground atoms that a part has indicators for.
fn indicators(cast: &AgentAssignment, place: usize) -> Vec<String> {
    let signature = cast.bound_machine().signature();
    let bits = cast.roles()[place].encoder.bits().iter();
    bits.map(|atom| signature.atom(*atom).to_string()).collect()
}

/// The names of the machine's states.
fn states(cast: &AgentAssignment) -> Vec<String> {
    let states = cast.machine().states().iter();
    states.map(ToString::to_string).collect()
}

/// Where each of some names stood among others.
fn columns(names: &[String], before: &[String]) -> Vec<Option<usize>> {
    let place = |name: &String| before.iter().position(|other| other == name);
    names.iter().map(place).collect()
}

/// The formulae on the edges out of a state, those that are to be avoided apart, in canonical form and order.
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
