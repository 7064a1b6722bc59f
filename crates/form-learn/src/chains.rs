//! Chains: machines of the lowest conceivable cost, one edge with one literal per state, found without a solver.
//!
//! Every state is entered by an edge, and so is each terminal state that traces reach; an edge has a literal. A machine that
//! has nothing more is a chain of sub-tasks, since two edges to different targets need a negation to exclude each other. All
//! of them are [followed](crate::follow).

use form_core::Formula;

use crate::budget::Budget;
use crate::follow::{Edges, Task, machines};
use crate::outcome::{Cost, Learnt};
use crate::problem::Problem;
use crate::shape::Shape;
use crate::skeletons::Skeleton;

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

/// How many traces are followed from the start.
const SEEDS: usize = 10;

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
    let target = |from: usize| match from + 1 == states {
        true => terminal,
        false => from + 1,
    };
    let chain: Skeleton = (0..states)
        .map(|from| (from, target(from), Some(1)))
        .collect();
    let task = Task {
        problem,
        shape: shape.clone(),
        atoms: &problem.vocabulary,
        seeds: SEEDS,
        nodes: NODES,
        machines: usize::MAX,
    };
    let make = |edges: &Edges| learnt(problem, &shape, edges);
    let found = machines(task, &[chain], make, budget);
    let chains = (found.machines.into_iter()).map(|edges| (make(&edges), edges));
    let best = chains.min_by(|(first, a), (second, b)| (first.cost, a).cmp(&(second.cost, b)));
    match (best.map(|(learnt, _)| learnt), found.complete) {
        (best, false) => Chains::Unknown(best),
        (None, true) => Chains::None,
        (Some(best), true) => Chains::Best(best),
    }
}

/// The machine with these edges, one per state.
fn learnt(problem: &Problem, shape: &Shape, edges: &Edges) -> Learnt {
    let atom = |edge: &(usize, usize, usize)| &problem.vocabulary[edge.2];
    let formulae =
        (edges.iter()).map(|edge| (edge.0, edge.1, Formula::atom(atom(edge).atom.clone())));
    Learnt {
        machine: shape.machine(formulae),
        states: shape.states,
        cost: Cost {
            size: 2 * shape.states,
            ground: edges.iter().filter(|edge| atom(edge).ground).count(),
            negative: 0,
        },
    }
}
