//! Minimisation: states that no observation ever tells apart become one (partition refinement, Moore 1956).
//!
//! Guards are canonical, so a state is described by the guard to each class of states, and two states stay together as long as these
//! are the same.

use std::collections::{BTreeMap, HashMap};

use form_core::Result;

use super::automaton::{Automaton, HOLDS, LOST, START};
use super::bdd::{Bdd, Manager};

/// The smallest equivalent automaton, its states in the order in which a breadth-first search meets them.
pub(super) fn minimise(automaton: &Automaton, manager: &mut Manager) -> Result<Automaton> {
    let states = automaton.edges.len();
    let mut class: Vec<usize> = (0..states).map(|state| state.min(START)).collect();
    let mut classes = START + usize::from(states > START);
    loop {
        let mut numbers: HashMap<(usize, Vec<(usize, Bdd)>), usize> = HashMap::new();
        let mut refined = vec![0; states];
        for state in [HOLDS, LOST].into_iter().chain(START..states) {
            let guards = guards(&automaton.edges[state], &class, manager)?;
            let next = numbers.len();
            refined[state] = *numbers.entry((class[state], guards)).or_insert(next);
        }
        let stable = numbers.len() == classes;
        classes = numbers.len();
        class = refined;
        if stable {
            break;
        }
    }
    quotient(automaton, &class, manager)
}

/// The guard to each class, in order.
fn guards(
    outgoing: &[(usize, Bdd)],
    class: &[usize],
    manager: &mut Manager,
) -> Result<Vec<(usize, Bdd)>> {
    let mut guards: BTreeMap<usize, Bdd> = BTreeMap::new();
    for (to, guard) in outgoing {
        let joined = match guards.get(&class[*to]) {
            Some(known) => manager.or(*known, *guard)?,
            None => *guard,
        };
        guards.insert(class[*to], joined);
    }
    Ok(guards.into_iter().collect())
}

/// The classes as states.
fn quotient(automaton: &Automaton, class: &[usize], manager: &mut Manager) -> Result<Automaton> {
    let mut representative: HashMap<usize, usize> = HashMap::new();
    for (state, class) in class.iter().enumerate() {
        representative.entry(*class).or_insert(state);
    }
    let mut numbers: HashMap<usize, usize> = HashMap::from([
        (class[HOLDS], HOLDS),
        (class[LOST], LOST),
        (class[START], START),
    ]);
    let mut order = vec![class[HOLDS], class[LOST], class[START]];
    let mut edges: Vec<Vec<(usize, Bdd)>> = vec![Vec::new(), Vec::new()];
    let mut here = START;
    while here < order.len() {
        let state = representative[&order[here]];
        let mut outgoing: Vec<(usize, Bdd)> = Vec::new();
        for (to, guard) in guards(&automaton.edges[state], class, manager)? {
            let next = order.len();
            let number = *numbers.entry(to).or_insert(next);
            if number == next {
                order.push(to);
            }
            outgoing.push((number, guard));
        }
        outgoing.sort_unstable();
        edges.push(outgoing);
        here += 1;
    }
    Ok(Automaton { edges })
}
