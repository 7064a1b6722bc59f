//! Skeletons: which states are connected by how many letters, all possibilities for one cost, as cubes for the solver.
//!
//! A letter costs an edge and a literal, and two letters that lead from a state to different targets cost a negation. So a skeleton
//! has an exact cost, and machines of low cost have few skeletons. Where edges have guards instead of letters, a skeleton only says which
//! states are connected, and its cost is a lower bound: all but one of the targets of a state need a negation.
//!
//! This is cube and conquer (Heule et al. 2011). With the skeleton fixed, unit propagation decides much of the clauses about runs,
//! so refuting the skeletons one by one is far less work than refuting all at once. The core of a refutation often rules out
//! other skeletons too, also of higher cost. No clause has to count the cost.
//!
//! Without cycles, for a number of states of which one fewer has been refuted. Of shapes that differ in the numbers of the states,
//! one is kept: states are numbered in the order of their last predecessors. Every state is entered. Two states without edges
//! would be one, unless a state leads to both. A path is as long as the stays that a trace needs.

use crate::shape::Shape;

/// Source, target and number of letters of the connections, in order. `None` where the number of letters is left open.
pub(crate) type Skeleton = Vec<(usize, usize, Option<usize>)>;

/// The most skeletons that are enumerated.
const MOST: usize = 5000;

/// All skeletons of this cost, exact if observations are letters, else a lower bound; `None` if there are too many.
pub(crate) fn skeletons(
    shape: &Shape,
    letters: bool,
    cost: usize,
    stays: usize,
) -> Option<Vec<Skeleton>> {
    let mut search = Search {
        shape,
        letters,
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
    letters: bool,
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
            if self.least_cost(chosen, to) == self.cost && self.is_possible(chosen) {
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
            let most = match self.letters {
                true => self.shape.options.max_disjuncts,
                false => 1,
            };
            for letters in 1..=most {
                chosen.push((next, to, self.letters.then_some(letters)));
                let affordable = self.least_cost(chosen, to) <= self.cost;
                if affordable {
                    if next >= lowest {
                        self.extend(to + 1, next, chosen)?;
                    }
                    self.choose(to, next + 1, lowest, chosen)?;
                }
                chosen.pop();
                if !affordable {
                    break;
                }
            }
        }
        Some(())
    }

    /// Lower bound on the cost of machines with these connections, and with those that later targets need.
    fn least_cost(&self, chosen: &Skeleton, to: usize) -> usize {
        let later = (to + 1..=self.shape.reject())
            .filter(|to| *to < self.shape.states || self.shape.reached[*to - self.shape.states]);
        let later = later.count();
        let mut cost = 2 * later;
        for (i, (from, _, letters)) in chosen.iter().enumerate() {
            let others = chosen[..i].iter().filter(|edge| edge.0 == *from);
            let apart: usize = others.map(|edge| edge.2.unwrap_or(1)).sum();
            cost += match letters {
                Some(letters) => letters * (2 + apart),
                None => 2 + apart.min(1),
            };
        }
        cost
    }

    fn is_possible(&self, skeleton: &Skeleton) -> bool {
        let states = self.shape.states;
        let mut longest: Vec<Option<usize>> = vec![None; states];
        for from in (0..states).rev() {
            let targets = skeleton.iter().filter(|edge| edge.0 == from);
            let rest = targets.filter_map(|(_, to, _)| match *to < states {
                true => longest[*to],
                false => Some(0),
            });
            longest[from] = rest.max().map(|rest| rest + 1);
        }
        let has =
            |from: usize, to: usize| skeleton.iter().any(|edge| (edge.0, edge.1) == (from, to));
        let sinks: Vec<usize> = (0..states)
            .filter(|from| !skeleton.iter().any(|edge| edge.0 == *from))
            .collect();
        let merged = (sinks.iter().enumerate()).any(|(i, first)| {
            let together = |second: &usize| (0..states).any(|s| has(s, *first) && has(s, *second));
            sinks[i + 1..].iter().any(|second| !together(second))
        });
        // Without goals and dead ends no path has to lead anywhere.
        let ends = self.shape.reached.contains(&true);
        (!ends || longest[0].is_some_and(|longest| longest >= self.stays)) && !merged
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

    fn skeleton(edges: &[(usize, usize, usize)]) -> Skeleton {
        let edge = |&(from, to, letters): &(usize, usize, usize)| (from, to, Some(letters));
        edges.iter().map(edge).collect()
    }

    #[test]
    fn the_cheapest_shape_is_a_chain() {
        let found = skeletons(&shape(3, [true, false]), true, 6, 1).unwrap();
        // The chain, and one that goes past a sink would need a negation.
        assert_eq!(found, [skeleton(&[(0, 1, 1), (1, 2, 1), (2, 3, 1)])]);
        // With a dead end, one state has two targets.
        let found = skeletons(&shape(2, [true, true]), true, 7, 1).unwrap();
        let chain =
            |first: usize, second: usize| skeleton(&[(0, 1, 1), (first, 2, 1), (second, 3, 1)]);
        assert_eq!(found, [chain(0, 1), chain(1, 0), chain(1, 1)]);
    }

    #[test]
    fn without_ends_no_path_is_needed() {
        assert_eq!(
            skeletons(&shape(1, [false, false]), true, 0, 1),
            Some(vec![vec![]])
        );
    }

    #[test]
    fn a_skeleton_has_its_exact_cost() {
        let mut shape = shape(2, [true, false]);
        shape.options.max_disjuncts = 2;
        // Two letters more than the chain has, or one of them to another target.
        let found = skeletons(&shape, true, 6, 1).unwrap();
        assert_eq!(
            found,
            [
                skeleton(&[(0, 1, 1), (1, 2, 2)]),
                skeleton(&[(0, 1, 2), (1, 2, 1)])
            ]
        );
        let found = skeletons(&shape, true, 7, 1).unwrap();
        assert_eq!(found, [skeleton(&[(0, 1, 1), (0, 2, 1), (1, 2, 1)])]);
        assert_eq!(skeletons(&shape, false, 6, 1), Some(Vec::new()));
        // Of three targets, two need a negation; three letters need three.
        let fork = [(0, 1), (0, 2), (1, 2), (0, 3)];
        shape.reached = [true, true];
        for (letters, cost) in [(Some(1), 11), (None, 10)] {
            let fork: Skeleton = fork.map(|(from, to)| (from, to, letters)).to_vec();
            let found = skeletons(&shape, letters.is_some(), cost, 1).unwrap();
            assert!(found.contains(&fork));
        }
    }

    #[test]
    fn shapes_with_two_sinks_or_short_paths_are_left_out() {
        let all = skeletons(&shape(4, [true, false]), true, 11, 1).unwrap();
        let long = skeletons(&shape(4, [true, false]), true, 11, 4).unwrap();
        assert!(!long.is_empty() && long.len() < all.len());
        assert!(long.iter().all(|skeleton| {
            [(0, 1), (1, 2), (2, 3), (3, 4)]
                .iter()
                .all(|(from, to)| skeleton.contains(&(*from, *to, Some(1))))
        }));
        // Two sinks of different parents.
        let two_sinks = skeleton(&[(0, 1, 1), (0, 2, 1), (1, 3, 1), (0, 4, 1)]);
        assert!(!all.contains(&two_sinks));
    }
}
