//! Which policies survive a new machine.

use form_core::{Machine, Signature};
use form_env::{GridWorlds, Maps, Split, Stream, Task, WorldOptions, Worlds, generator};
use form_rl::{Agent, AgentAssignment, AssignmentMode, ProgressEncoding};

use super::reuse_policies;
use crate::config::{Method, Preset, RunConfig};

fn worlds() -> GridWorlds {
    let task = std::sync::Arc::new(Task::builtin("all-yellow").unwrap());
    let maps = Maps::Fresh(Split::Training);
    GridWorlds::new(task, maps, WorldOptions::default(), 1, 1).unwrap()
}

fn assignment(worlds: &GridWorlds, roles: AssignmentMode, machine: &str) -> AgentAssignment {
    let machine: Machine = machine.parse().unwrap();
    let signature: &Signature = worlds.signature();
    let bound = machine.bind(signature).unwrap();
    AgentAssignment::new(bound, roles, ProgressEncoding::Bits, worlds.spec())
}

/// Agents whose weights all differ.
fn agents(config: &RunConfig, assignment: &AgentAssignment, first: u64) -> Vec<Agent> {
    let mut number = first;
    let (agents, reused) = reuse_policies(assignment, None, |part| {
        number += 1;
        let network = config.network.network(&part.encoder, 3);
        let mut random = generator(1, Stream::Other(number));
        Ok(Agent::new(
            &part.name,
            &network,
            1,
            &config.ppo,
            &mut random,
        )?)
    })
    .unwrap();
    assert!(reused.iter().all(|reused| reused.from.is_none()));
    agents
}

fn weights(agents: &[Agent]) -> Vec<Vec<f32>> {
    let of = |agent: &Agent| agent.network().weights().to_vec();
    agents.iter().map(of).collect()
}

/// Who takes which part over: the parts, and where their policies come from. Checked by the weights, too.
fn survivors(old: &str, new: &str) -> Vec<(String, Option<String>)> {
    let config = RunConfig::new("all-yellow", Method::Form, Preset::Paper);
    let worlds = worlds();
    let (old, new) = (
        assignment(&worlds, AssignmentMode::PerState, old),
        assignment(&worlds, AssignmentMode::PerState, new),
    );
    let before = agents(&config, &old, 0);
    let old_names: Vec<String> = before.iter().map(|agent| agent.name().to_owned()).collect();
    let old_weights = weights(&before);
    let fresh = agents(&config, &new, 100);
    let fresh_weights = weights(&fresh);
    let mut fresh = fresh.into_iter();
    let mut fresh_by_name = |name: &str| fresh.find(|agent| agent.name() == name).unwrap();
    let (agents, reused) = reuse_policies(&new, Some((before, &old)), |part| {
        Ok(fresh_by_name(&part.name))
    })
    .unwrap();
    for (place, (reused, weights)) in reused.iter().zip(weights(&agents)).enumerate() {
        assert_eq!(agents[place].name(), reused.role);
        let expected = match &reused.from {
            Some(from) => {
                let place = old_names.iter().position(|name| name == from).unwrap();
                &old_weights[place]
            }
            None => &fresh_weights[place],
        };
        assert_eq!(weights, *expected, "{}", reused.role);
    }
    let pairs = reused.into_iter();
    pairs.map(|reused| (reused.role, reused.from)).collect()
}

fn from(pairs: &[(&str, Option<&str>)]) -> Vec<(String, Option<String>)> {
    let owned = |(part, from): &(&str, Option<&str>)| ((*part).to_owned(), from.map(str::to_owned));
    pairs.iter().map(owned).collect()
}

const ALL_YELLOW: &str =
    "initial u0\naccept u_acc\nu0 -> u1 : forall X. yellow(X)\nu1 -> u_acc : goal\n";

#[test]
fn a_policy_survives_under_another_name() {
    let new = "initial u0\naccept u_acc\nu0 -> u1 : exists X. blue(X)\nu1 -> u2 : forall X. yellow(X)\nu2 -> u_acc : goal\n";
    assert_eq!(
        survivors(ALL_YELLOW, new),
        from(&[("u0", None), ("u1", Some("u0")), ("u2", Some("u1"))])
    );
    // The same machine: everybody stays.
    assert_eq!(
        survivors(ALL_YELLOW, ALL_YELLOW),
        from(&[("u0", Some("u0")), ("u1", Some("u1"))])
    );
}

#[test]
fn a_changed_sub_task_starts_afresh() {
    let new = "initial u0\naccept u_acc\nu0 -> u1 : forall X. red(X)\nu1 -> u_acc : goal\n";
    assert_eq!(
        survivors(ALL_YELLOW, new),
        from(&[("u0", None), ("u1", Some("u1"))])
    );
}

#[test]
fn a_policy_goes_to_one_state_only() {
    let new = "initial u0\naccept u_acc\nu0 -> u1 : goal\nu1 -> u_acc : goal\n";
    assert_eq!(
        survivors(ALL_YELLOW, new),
        from(&[("u0", Some("u1")), ("u1", None)])
    );
}

/// What was to be reached is now to be avoided.
#[test]
fn a_sub_task_that_fails_now_is_another() {
    let new = "initial u0\naccept u_acc\nreject u_rej\nu0 -> u1 : forall X. yellow(X)\nu1 -> u_rej : goal\n";
    assert_eq!(
        survivors(ALL_YELLOW, new),
        from(&[("u0", Some("u0")), ("u1", None)])
    );
}

#[test]
fn a_state_without_a_way_out_has_nothing_to_hand_on() {
    let nothing = "initial u0\naccept u_acc\n";
    assert_eq!(survivors(nothing, nothing), from(&[("u0", None)]));
}

#[test]
fn a_single_policy_keeps_what_fits() {
    let config = RunConfig::new("all-yellow", Method::SinglePolicy, Preset::Paper);
    let worlds = worlds();
    let longer = "initial u0\naccept u_acc\nu0 -> u1 : exists X. blue(X)\nu1 -> u2 : forall X. yellow(X)\nu2 -> u_acc : goal\n";
    let old = assignment(&worlds, AssignmentMode::Single, ALL_YELLOW);
    let new = assignment(&worlds, AssignmentMode::Single, longer);
    let before = agents(&config, &old, 0);
    let old_weights = weights(&before).remove(0);
    let mut fresh = agents(&config, &new, 100).into_iter();
    let fresh_weights = weights(&agents(&config, &new, 100)).remove(0);
    let (agents, reused) =
        reuse_policies(&new, Some((before, &old)), |_| Ok(fresh.next().unwrap())).unwrap();
    assert_eq!(reused[0].from.as_deref(), Some("policy"));
    let now = weights(&agents).remove(0);
    // The machine has one state more, so the network is larger; the image is seen as before.
    assert!(now.len() > old_weights.len());
    assert_ne!(now, fresh_weights);
    assert_eq!(now[..64], old_weights[..64]);
}
