//! A shortest way to complete a task from where a world is: for pictures, for tests, and as a measure of how well a policy
//! does.

use std::collections::{HashMap, VecDeque};

use form_core::{AtomSet, Monitor, StateId};

use super::world::GridWorld;
use crate::env::spec::Outcome;
use crate::grid::rules::{Action, Pose};

/// What the rest of an episode depends on: the agent, the machine's state, what its `forall`s have seen, and what was
/// observed last, because the same again does not count.
type Situation = (Pose, StateId, AtomSet, AtomSet);

/// A shortest sequence of actions that completes the task, or `None` if there is none, or none within `limit` situations.
///
/// The search is breadth first through all situations: exact, and slow where many checkpoints have to be visited in any
/// order. The limit of steps is left out of account.
pub fn solution(world: &GridWorld, limit: usize) -> Option<Vec<Action>> {
    if world.outcome().is_over() {
        return None;
    }
    let task = world.task();
    let truth = task.truth();
    let situation = |pose: Pose, monitor: &Monitor| -> Situation {
        let state = monitor.state();
        let seen = monitor.seen().intersection(truth.progress_atoms(state));
        (pose, state, seen, monitor.newest().clone())
    };
    let start = (world.pose(), world.truth().clone());
    let mut came_from: HashMap<Situation, Option<(Situation, Action)>> = HashMap::new();
    came_from.insert(situation(start.0, &start.1), None);
    let mut open = VecDeque::from([start]);
    while let Some((pose, monitor)) = open.pop_front() {
        let here = situation(pose, &monitor);
        for action in &Action::ALL[..Action::MOVES] {
            let (walls, contents) = (task.room().walls(), &world.map().contents);
            let (to, observed) =
                (task.rules).step(walls, contents, &task.legend, pose, *action as u8);
            let mut after = monitor.clone();
            after.observe(truth, &task.labels[usize::from(observed)]);
            match task.verdict(after.state()) {
                Outcome::Goal => return Some(way_back(&came_from, &here, *action)),
                Outcome::Running => {}
                Outcome::DeadEnd | Outcome::OutOfTime => continue,
            }
            let there = situation(to, &after);
            if came_from.len() < limit && !came_from.contains_key(&there) {
                came_from.insert(there, Some((here.clone(), *action)));
                open.push_back((to, after));
            }
        }
    }
    None
}

fn way_back(
    came_from: &HashMap<Situation, Option<(Situation, Action)>>,
    last: &Situation,
    action: Action,
) -> Vec<Action> {
    let mut actions = vec![action];
    let mut at = last;
    while let Some(Some((before, action))) = came_from.get(at) {
        actions.push(*action);
        at = before;
    }
    actions.reverse();
    actions
}
