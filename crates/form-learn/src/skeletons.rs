//! Skeletons: which states an edge connects, all possibilities for machines of low cost, as cubes for the solver.
//!
//! A bound on the cost bounds the number of connections: each costs an edge and a literal, and all but one of the targets of a
//! state need a negation to exclude each other. Few connections over few states have few shapes. Given one of them, clauses about
//! runs and paths say much more than without, so to refute each shape is far less work than to refute all at once, and what
//! refutes one often refutes others: the core of the proof tells (cube and conquer; Heule et al. 2011).
//!
//! Without cycles, for a number of states of which one fewer has been refuted. Of shapes that differ in the numbers of the states,
//! one is kept: states are numbered in the order of their last predecessors. Every state is entered. Two states without edges
//! would be one, unless a state leads to both. A path is as long as the stays that a trace needs.

use crate::shape::Shape;

/// Source and target of the connections, in order.
pub(crate) type Skeleton = Vec<(usize, usize)>;

/// The most skeletons that are enumerated.
const MOST: usize = 2000;

/// All skeletons of machines that cost no more than this; `None` if there are too many.
pub(crate) fn skeletons(shape: &Shape, cost: usize, stays: usize) -> Option<Vec<Skeleton>> {
    let mut search = Search {
        shape,
        cost,
        stays,
        found: Vec::new(),
        visited: 0,
    };
    search.extend(1, 0, &mut Vec::new())?;
    search
        .found
        .sort_by_key(|skeleton| (skeleton.len(), skeleton.clone()));
    Some(search.found)
}

struct Search<'a> {
    shape: &'a Shape,
    cost: usize,
    stays: usize,
    found: Vec<Skeleton>,
    visited: usize,
}

impl Search<'_> {
    /// Chooses the predecessors of a target and of all later ones. `last` is the last predecessor of the target before.
    fn extend(&mut self, to: usize, last: usize, chosen: &mut Skeleton) -> Option<()> {
        self.visited += 1;
        if self.visited > 100 * MOST {
            return None;
        }
        let shape = self.shape;
        if to > shape.reject() {
            if self.is_possible(chosen) {
                self.found.push(chosen.clone());
            }
            return (self.found.len() <= MOST).then_some(());
        }
        let is_terminal = to >= shape.states;
        if is_terminal && !shape.reached[to - shape.states] {
            // No trace gets there, so no cheapest machine has an edge to it.
            return self.extend(to + 1, last, chosen);
        }
        let lowest = if is_terminal { 0 } else { last };
        self.choose(to, 0, lowest, chosen)
    }

    /// Chooses further predecessors of a target, from state `from` on. The last one is `lowest` or higher.
    fn choose(
        &mut self,
        to: usize,
        from: usize,
        lowest: usize,
        chosen: &mut Skeleton,
    ) -> Option<()> {
        for next in from..to.min(self.shape.states) {
            chosen.push((next, to));
            if self.least_cost(chosen, to) <= self.cost {
                if next >= lowest {
                    self.extend(to + 1, next, chosen)?;
                }
                self.choose(to, next + 1, lowest, chosen)?;
            }
            chosen.pop();
        }
        Some(())
    }

    /// Lower bound on the cost of machines with these connections, and with those that later targets need.
    fn least_cost(&self, chosen: &Skeleton, to: usize) -> usize {
        let later = (to + 1..=self.shape.reject())
            .filter(|to| *to < self.shape.states || self.shape.reached[*to - self.shape.states]);
        let later = later.count();
        let targets = |from: usize| chosen.iter().filter(|edge| edge.0 == from).count();
        let apart: usize = (0..self.shape.states)
            .map(|from| targets(from).saturating_sub(1))
            .sum();
        2 * (chosen.len() + later) + apart
    }

    fn is_possible(&self, skeleton: &Skeleton) -> bool {
        let states = self.shape.states;
        let mut longest: Vec<Option<usize>> = vec![None; states];
        for from in (0..states).rev() {
            let targets = skeleton.iter().filter(|edge| edge.0 == from);
            let rest = targets.filter_map(|(_, to)| match *to < states {
                true => longest[*to],
                false => Some(0),
            });
            longest[from] = rest.max().map(|rest| rest + 1);
        }
        let has = |from: usize, to: usize| skeleton.contains(&(from, to));
        let sinks: Vec<usize> = (0..states)
            .filter(|from| !skeleton.iter().any(|edge| edge.0 == *from))
            .collect();
        let merged = (sinks.iter().enumerate()).any(|(i, first)| {
            let together = |second: &usize| (0..states).any(|s| has(s, *first) && has(s, *second));
            sinks[i + 1..].iter().any(|second| !together(second))
        });
        longest[0].is_some_and(|longest| longest >= self.stays) && !merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn shape(states: usize, reached: [bool; 2]) -> Shape {
        Shape {
            states,
            rejecting: reached[1],
            reached,
            soft: false,
            step_mode: form_core::StepMode::Changes,
            options: Options::default(),
        }
    }

    #[test]
    fn the_cheapest_shape_is_a_chain() {
        let found = skeletons(&shape(3, [true, false]), 6, 1).unwrap();
        // The chain, and one that goes past a sink would need a negation.
        assert_eq!(found, [vec![(0, 1), (1, 2), (2, 3)]]);
        // With a dead end, one state has two targets.
        let found = skeletons(&shape(2, [true, true]), 7, 1).unwrap();
        let chain = |first: usize, second: usize| vec![(0, 1), (first, 2), (second, 3)];
        assert_eq!(found, [chain(0, 1), chain(1, 0), chain(1, 1)]);
    }

    #[test]
    fn shapes_with_two_sinks_or_short_paths_are_left_out() {
        let all = skeletons(&shape(4, [true, false]), 11, 1).unwrap();
        let long = skeletons(&shape(4, [true, false]), 11, 4).unwrap();
        assert!(!long.is_empty() && long.len() < all.len());
        assert!(long.iter().all(|skeleton| {
            [(0, 1), (1, 2), (2, 3), (3, 4)]
                .iter()
                .all(|edge| skeleton.contains(edge))
        }));
        // Two sinks of different parents.
        assert!(!all.contains(&vec![(0, 1), (0, 2), (1, 3), (0, 4)]));
    }
}
