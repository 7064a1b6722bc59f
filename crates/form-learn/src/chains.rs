//! Chains: machines of the lowest conceivable cost, one edge with one literal per state, found without a solver.
//!
//! Every state is entered by an edge, and so is each terminal state that traces reach; an edge has a literal. A machine that
//! has nothing more is a chain of sub-tasks, since two edges to different targets need a negation to exclude each other. All
//! of them are [followed](crate::follow).

use form_core::Formula;

use crate::budget::Budget;
use crate::follow::{self, Edges, Task};
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

/// The most nodes of the search tree that are visited. Few suffice where no chain is consistent, or where the traces single one out.
const NODES: usize = 100_000;

/// The same where a chain is known: the others are its ties, and a solver takes far longer to tell them apart.
const NODES_FOR_TIES: usize = 2_000_000;

/// More ties than this are better left to the solver.
const TIES: usize = 1000;

/// How many traces are followed from the start.
const SEEDS: usize = 10;

/// Enumerates the chains with this number of states.
pub(crate) fn chains(problem: &Problem, states: usize, budget: &Budget) -> Chains {
    enumerate(problem, states, [NODES, usize::MAX], budget)
}

/// The same, and where a chain is known but not all of them, with many more nodes.
pub(crate) fn all_chains(problem: &Problem, states: usize, budget: &Budget) -> Chains {
    match chains(problem, states, budget) {
        Chains::Unknown(Some(best)) if budget.exhausted().is_none() => {
            match enumerate(problem, states, [NODES_FOR_TIES, TIES], budget) {
                // The first nodes are the same, but there may be less time.
                Chains::Unknown(other) => Chains::Unknown(other.or(Some(best))),
                all => all,
            }
        }
        few => few,
    }
}

/// Visits at most this number of nodes, and finds at most this number of chains.
fn enumerate(
    problem: &Problem,
    states: usize,
    [nodes, machines]: [usize; 2],
    budget: &Budget,
) -> Chains {
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
        nodes,
        machines,
    };
    let make = |edges: &Edges| learnt(problem, &shape, edges);
    let found = follow::machines(task, &[chain], make, budget);
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

#[cfg(test)]
mod tests {
    use form_core::{Kind, Signature, Trace};

    use super::*;
    use crate::learner::Learner;
    use crate::options::Options;

    /// Many chains of two states are consistent.
    #[test]
    fn few_nodes_or_chains_never_give_another_answer() {
        let signature = Signature::parse(["p(a)", "p(b)", "q", "goal"]).unwrap();
        let mut learner = Learner::new(&signature, &Options::default());
        for (kind, steps) in [
            (Kind::Goal, &["q", "p(a)", "p(b)", "goal"][..]),
            (Kind::Goal, &["p(b)", "p(a)", "q", "goal"]),
            (Kind::Incomplete, &["goal"]),
        ] {
            let steps = steps.iter().map(|atom| signature.observation([atom]));
            let steps: Vec<_> = steps.map(Result::unwrap).collect();
            learner.add(&Trace::new(kind, steps));
        }
        let (problem, budget) = (learner.problem(), Budget::default());
        let all = chains(problem, 2, &budget);
        assert!(matches!(all, Chains::Best(_)), "{all:?}");
        assert_eq!(all_chains(problem, 2, &budget), all);
        let (mut complete, mut partial) = (0, 0);
        for limits in (0..60)
            .map(|n| [n, usize::MAX])
            .chain((0..20).map(|n| [1000, n]))
        {
            match enumerate(problem, 2, limits, &budget) {
                Chains::Unknown(None) => {}
                Chains::Unknown(Some(one)) => {
                    partial += 1;
                    assert!(problem.counterexamples(&one, 0).is_empty());
                }
                answer => {
                    complete += 1;
                    assert_eq!(answer, all, "{limits:?}");
                }
            }
        }
        assert!(complete > 0 && partial > 0, "{complete} {partial}");
    }
}
