//! Isomorphism: two machines that differ only in the numbers of their states are the same.
//!
//! A numbering gives the initial state the first number and, without cycles, lets edges lead upwards only (a topological
//! order); terminal states keep their numbers.

use std::collections::HashSet;

/// Source and target of an edge, as numbers of states.
pub(super) type Ends = (usize, usize);

/// Whether the states below `states`, joined by these edges, can be numbered so that the edge with the ends `found` gets
/// the ends `wanted`.
pub(super) fn can_be_renumbered(
    states: usize,
    joined: &[Ends],
    found: Ends,
    wanted: Ends,
    cyclic: bool,
) -> bool {
    let moves = [(found.0, wanted.0), (found.1, wanted.1)];
    let fixed = |state: usize| state == 0 || state >= states;
    if moves
        .iter()
        .any(|(state, number)| state != number && (fixed(*state) || fixed(*number)))
    {
        return false;
    }
    cyclic || order_exists(states, joined, &moves)
}

/// Whether there is a topological order in which these states have these positions.
///
/// Each position in turn gets a state whose predecessors have been placed. What can follow depends only on the set of placed
/// states, so no set is visited twice.
fn order_exists(states: usize, joined: &[Ends], fixed: &[(usize, usize)]) -> bool {
    let mut known: HashSet<Vec<bool>> = HashSet::new();
    let mut open = vec![vec![false; states]];
    while let Some(placed) = open.pop() {
        let place = placed.iter().filter(|is| **is).count();
        if place == states {
            return true;
        }
        for state in (0..states).filter(|state| !placed[*state]) {
            let fits = fixed.iter().all(|(s, p)| (*s == state) == (*p == place));
            let ready = joined
                .iter()
                .all(|(from, to)| *to != state || placed[*from]);
            if fits && ready {
                let mut next = placed.clone();
                next[state] = true;
                if known.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_one_numbering() {
        let chain = [(0, 1), (1, 2), (2, 3)];
        let renumbered = |found, wanted| can_be_renumbered(4, &chain, found, wanted, false);
        assert!(renumbered((1, 2), (1, 2)));
        assert!(!renumbered((1, 2), (2, 3)));
        assert!(!renumbered((0, 1), (1, 2)));
    }

    #[test]
    fn branches_can_be_exchanged() {
        // 0 -> 1 -> 3, 0 -> 2, and 4 is accepting.
        let tree = [(0, 1), (0, 2), (1, 3)];
        let renumbered = |found, wanted| can_be_renumbered(4, &tree, found, wanted, false);
        assert!(renumbered((0, 2), (0, 1)));
        assert!(renumbered((0, 2), (0, 3)));
        assert!(renumbered((1, 3), (1, 2)));
        assert!(renumbered((1, 3), (2, 3)));
        assert!(!renumbered((0, 1), (0, 3)));
        assert!(renumbered((2, 4), (3, 4)));
        assert!(!renumbered((2, 4), (3, 5)));
        assert!(!renumbered((0, 2), (1, 2)));
    }

    #[test]
    fn with_cycles_only_the_initial_and_the_terminal_states_stay() {
        let renumbered = |found, wanted| can_be_renumbered(3, &[], found, wanted, true);
        assert!(renumbered((1, 2), (2, 1)));
        assert!(renumbered((1, 0), (2, 0)));
        assert!(!renumbered((0, 1), (2, 1)));
        assert!(!renumbered((1, 3), (1, 2)));
    }
}
