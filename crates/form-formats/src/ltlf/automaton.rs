//! The automaton of a formula: the states that progression reaches, and the guards between them, as decision diagrams.

use std::collections::{HashMap, VecDeque};

use form_core::Result;

use super::bdd::{Bdd, FALSE, limit};
use super::progression::{Expansion, Obligation, Outcome};

/// The maximum number of states before the automaton is minimised.
const MOST_STATES: usize = 20_000;

/// The maximum number of edges before the automaton is minimised.
const MOST_EDGES: usize = 200_000;

/// The state that means that the formula holds of the episode so far.
pub(super) const HOLDS: usize = 0;

/// The state that means that it can no longer hold.
pub(super) const LOST: usize = 1;

/// The first step leads from here on.
pub(super) const START: usize = 2;

/// A deterministic automaton, complete over the possible observations.
pub(super) struct Automaton {
    /// By state: its successors, each with its guard. Those of [`HOLDS`] and [`LOST`] are empty.
    pub(super) edges: Vec<Vec<(usize, Bdd)>>,
}

impl Automaton {
    /// The states that progression reaches from the formula, by breadth-first search.
    pub(super) fn new(expansion: &mut Expansion) -> Result<Self> {
        let start = expansion.start();
        let mut numbers: HashMap<Obligation, usize> = HashMap::from([(start.clone(), START)]);
        let mut open = VecDeque::from([start]);
        let mut edges: Vec<Vec<(usize, Bdd)>> = vec![Vec::new(), Vec::new()];
        let mut count = 0;
        while let Some(obligation) = open.pop_front() {
            let mut outgoing: Vec<(usize, Bdd)> = Vec::new();
            for (outcome, guard) in expansion.step(&obligation)? {
                let to = match outcome {
                    Outcome::Holds => HOLDS,
                    Outcome::Remains(Obligation { rest: FALSE, .. }) => LOST,
                    Outcome::Remains(rest) => {
                        let next = START + numbers.len();
                        let number = *numbers.entry(rest.clone()).or_insert(next);
                        if number == next {
                            open.push_back(rest);
                        }
                        number
                    }
                };
                outgoing.push((to, guard));
            }
            count += outgoing.len();
            if numbers.len() > MOST_STATES {
                return Err(limit("states of the automaton", MOST_STATES));
            }
            if count > MOST_EDGES {
                return Err(limit("edges of the automaton", MOST_EDGES));
            }
            edges.push(outgoing);
        }
        let mut automaton = Self { edges };
        automaton.lose_the_lost();
        Ok(automaton)
    }

    /// Leads to [`LOST`] what cannot reach [`HOLDS`].
    fn lose_the_lost(&mut self) {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.edges.len()];
        for (from, outgoing) in self.edges.iter().enumerate() {
            for (to, _) in outgoing {
                before[*to].push(from);
            }
        }
        let mut can_hold = vec![false; self.edges.len()];
        let mut open = vec![HOLDS];
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut can_hold[state], true) {
                open.extend(&before[state]);
            }
        }
        for outgoing in &mut self.edges {
            for (to, _) in outgoing {
                if !can_hold[*to] {
                    *to = LOST;
                }
            }
        }
    }
}
