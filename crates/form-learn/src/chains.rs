//! Chains: machines of the lowest conceivable cost, one edge with one literal per state, found without a solver.
//!
//! Every state is entered by an edge, and so is each terminal state that traces reach; an edge has a literal. A machine that
//! has nothing more is a chain of sub-tasks, since two edges to different targets need a negation to exclude each other. All
//! of them are enumerated by a depth-first search over the literals, one state after the other, that follows a few traces at
//! once. A branch ends as soon as a trace gets stuck, is over too early, or needs more [stays](crate::cuts) than states are
//! left, or if other literals have led to the same positions in all traces and failed. A complete chain is replayed on all
//! traces; those that refute it are followed, too, and the search starts again (CEGIS).

use std::collections::HashSet;
use std::num::NonZeroU32;

use form_core::{AtomSet, Formula, Kind};

use crate::budget::Budget;
use crate::cuts::stays;
use crate::outcome::{Cost, Learnt};
use crate::problem::Problem;
use crate::traces::TracePrefix;

/// The result of an enumeration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Chains {
    /// The best consistent chain by the tie-break.
    Best(Learnt),
    /// No chain is consistent with the traces.
    None,
    /// A limit was reached first, with the best consistent chain so far.
    Unknown(Option<Learnt>),
}

/// The most nodes of the search tree that are visited.
const NODES: usize = 100_000;

/// Enumerates the chains with this number of states.
pub(crate) fn chains(problem: &Problem, states: usize, budget: &Budget) -> Chains {
    let shape = problem.shape(states);
    if problem.options.windows() {
        // A chain of atoms over the window can leave a state at what it has seen before, and some atoms cost more than one.
        return Chains::Unknown(None);
    }
    let terminal = match shape.reached {
        [true, false] => shape.accept(),
        [false, true] => shape.reject(),
        // Two terminal states need a state with two targets, and a negation.
        [true, true] => return Chains::None,
        // Nothing needs to be entered: there are cheaper machines.
        [false, false] => return Chains::Unknown(None),
    };
    let mut search = Search {
        problem,
        budget,
        states,
        terminal,
        followed: Vec::new(),
        failed: HashSet::new(),
        consistent: Vec::new(),
        nodes: NODES,
        unchecked: UNCHECKED,
    };
    let mut follow = problem.strongest(states, SEEDS, budget);
    let is_complete = loop {
        for prefix in &follow {
            if search.follow(prefix).is_none() {
                return Chains::Unknown(None);
            }
        }
        search.failed.clear();
        search.consistent.clear();
        let start = vec![Some(0); search.followed.len()];
        match search.extend(&mut Vec::new(), &start) {
            Ok(_) => break true,
            Err(Stop::Limit) => break false,
            Err(Stop::Refuted(counterexamples)) => follow = counterexamples,
        }
    };
    // They were found in the order of the tie-break, but for the ground atoms, and the sort is stable.
    search.consistent.sort_by_key(|learnt| learnt.cost);
    match (search.consistent.into_iter().next(), is_complete) {
        (best, false) => Chains::Unknown(best),
        (None, true) => Chains::None,
        (Some(best), true) => Chains::Best(best),
    }
}

/// A trace that the search follows.
struct Followed {
    kind: Kind,
    length: usize,
    /// For each atom and number of observations: if a state is entered there and left by this atom, the number of observations
    /// after which it is left.
    left: Vec<Vec<Option<NonZeroU32>>>,
    /// For each number of observations: the stays that the rest needs.
    stays: Vec<usize>,
}

/// Why the search ended early.
enum Stop {
    Limit,
    /// These traces refute a complete chain.
    Refuted(Vec<TracePrefix>),
}

/// After how many observations of each followed trace the present state was entered; `None` if the trace never enters it.
type Positions = Vec<Option<u32>>;

struct Search<'a> {
    problem: &'a Problem,
    budget: &'a Budget,
    states: usize,
    terminal: usize,
    followed: Vec<Followed>,
    /// States and positions from which no chain goes on.
    failed: HashSet<(usize, Positions)>,
    consistent: Vec<Learnt>,
    /// The nodes that may still be visited.
    nodes: usize,
    /// The entries of tables that may still be made without a look at the budget.
    unchecked: usize,
}

impl Search<'_> {
    /// Follows a trace; `None` if a limit is reached. A chain for small traces is found even without any time.
    fn follow(&mut self, prefix: &TracePrefix) -> Option<()> {
        let steps = self.problem.traces.steps(prefix);
        let entries = steps.len() * self.problem.vocabulary.len();
        self.unchecked = self.unchecked.saturating_sub(entries);
        if self.unchecked == 0 {
            self.budget.check()?;
        }
        let observations = self.problem.traces.observations();
        let steps_observed: Vec<&AtomSet> = (steps.iter())
            .map(|step| &observations[*step as usize])
            .collect();
        // A chain has no cycles, even where other machines may have some.
        let counts_stays = self.problem.counts_stays();
        self.followed.push(Followed {
            kind: prefix.kind,
            length: steps.len(),
            left: (self.problem.vocabulary.iter())
                .map(|atom| match atom.window.is_some() {
                    false => first_after(&atom.mask, &steps_observed),
                    true => complete_after(&atom.mask, &steps_observed),
                })
                .collect(),
            stays: match counts_stays && prefix.kind != Kind::Incomplete {
                true => stays(steps),
                false => vec![0; steps.len() + 1],
            },
        });
        Some(())
    }

    /// Tries all literals for the next state; whether a consistent chain was found.
    fn extend(&mut self, literals: &mut Vec<usize>, positions: &Positions) -> Result<bool, Stop> {
        if literals.len() == self.states {
            let learnt = self.chain(literals);
            let counterexamples = self.problem.counterexamples(&learnt, 0);
            if !counterexamples.is_empty() {
                return Err(Stop::Refuted(counterexamples));
            }
            self.consistent.push(learnt);
            return Ok(true);
        }
        let key = (literals.len(), positions.clone());
        if self.failed.contains(&key) {
            return Ok(false);
        }
        self.nodes = self.nodes.checked_sub(1).ok_or(Stop::Limit)?;
        if self.nodes.is_multiple_of(256) {
            self.budget.check().ok_or(Stop::Limit)?;
        }
        let mut found = false;
        for atom in 0..self.problem.vocabulary.len() {
            if let Some(next) = self.after(literals.len(), positions, atom) {
                literals.push(atom);
                found |= self.extend(literals, &next)?;
                literals.pop();
            }
        }
        if !found {
            self.failed.insert(key);
        }
        Ok(found)
    }

    /// The positions after a state is left by an atom; `None` if a followed trace refutes this.
    fn after(&self, state: usize, positions: &Positions, atom: usize) -> Option<Positions> {
        let last = state + 1 == self.states;
        let states_left = self.states - state - 1;
        (positions.iter().zip(&self.followed))
            .map(|(entered, trace)| {
                let left = entered.and_then(|entered| trace.left[atom][entered as usize]);
                let left = left.map(NonZeroU32::get);
                let is_possible = match (trace.kind, left.map(|left| left as usize)) {
                    (Kind::Incomplete, left) => !last || left.is_none(),
                    (_, None) => false,
                    (_, Some(left)) if last => left == trace.length,
                    (_, Some(left)) => left < trace.length && trace.stays[left] <= states_left,
                };
                is_possible.then_some(left)
            })
            .collect()
    }

    /// The machine with these literals, one per state.
    fn chain(&self, literals: &[usize]) -> Learnt {
        let atoms = literals.iter().map(|i| &self.problem.vocabulary[*i]);
        let edges = atoms.clone().enumerate().map(|(from, atom)| {
            let to = match from + 1 == self.states {
                true => self.terminal,
                false => from + 1,
            };
            (from, to, Formula::atom(atom.atom.clone()))
        });
        Learnt {
            machine: self.problem.shape(self.states).machine(edges),
            states: self.states,
            cost: Cost {
                size: 2 * self.states,
                ground: atoms.filter(|atom| atom.ground).count(),
                negative: 0,
            },
        }
    }
}

/// For each number of observations: the number after the first later one that meets the mask.
fn first_after(mask: &AtomSet, steps: &[&AtomSet]) -> Vec<Option<NonZeroU32>> {
    let mut after = vec![None; steps.len() + 1];
    for i in (0..steps.len()).rev() {
        after[i] = match steps[i].intersects(mask) {
            true => NonZeroU32::new(i as u32 + 1),
            false => after[i + 1],
        };
    }
    after
}

/// For each number of observations: the number after which the later ones contain all of the mask.
fn complete_after(mask: &AtomSet, steps: &[&AtomSet]) -> Vec<Option<NonZeroU32>> {
    let mut after = vec![Some(NonZeroU32::MIN); steps.len() + 1];
    for atom in mask.iter() {
        let first = first_after(&AtomSet::from_iter([atom]), steps);
        for (all, first) in after.iter_mut().zip(first) {
            *all = all.zip(first).map(|(all, first)| all.max(first));
        }
    }
    after
}

/// How many entries of tables are made before the budget is checked.
const UNCHECKED: usize = 1_000_000;
/// How many traces the search follows from the start.
const SEEDS: usize = 10;
