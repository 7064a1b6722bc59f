//! Cuts of a trace into stays: lower bounds on the number of states without search.
//!
//! A *stay* is the time between entering a state and leaving it. Lemma: an observation that the stay has seen before without a
//! move causes no move. A guard about the newest observation would have fired the first time, and a `forall`, which stands alone
//! on its edge, becomes true only at something new. `not forall` turns false, never true. So a goal or dead-end trace is cut
//! into stays, each left at an observation that is new within it (the one that entered the state is not part of it), the last
//! at the end of the trace. Without cycles every stay is in another state: the smallest number of stays is a lower bound on the
//! number of states. Dynamic programming from the end finds it, and counts the ways to cut a trace.
//!
//! The lemma needs a positive `forall` alone on its edge, and the bound a machine without cycles.

use std::collections::HashMap;

use crate::vocabulary::ObservationId;

/// For each number of observations: the fewest stays that the rest of the trace is cut into, if a state is entered there.
///
/// A later entry never needs more stays: the first stay of a cut can begin later, or is left out. So the best place to leave is
/// the last one, and it only moves towards the front: the time is linear.
pub(crate) fn stays(steps: &[ObservationId]) -> Vec<usize> {
    let next = next(steps);
    let mut stays = vec![0; steps.len() + 1];
    let mut repeated = vec![false; steps.len()];
    let mut last = steps.len();
    for entered in (0..steps.len()).rev() {
        if let Some(next) = next[entered] {
            repeated[next] = true;
        }
        while repeated[last - 1] {
            last -= 1;
        }
        stays[entered] = 1 + stays[last];
    }
    stays
}

/// The number of ways to cut a trace into at most this number of stays: few ways make a trace a strong constraint. Infinite if
/// it is beyond the range of the counter.
pub(crate) fn count(steps: &[ObservationId], most: usize) -> f64 {
    let next = next(steps);
    // For the present number of stays, and each number of observations: the ways with at most that number.
    let mut ways = vec![0_u128; steps.len() + 1];
    ways[steps.len()] = 1;
    for _ in 0..most {
        let mut more = vec![0; steps.len() + 1];
        more[steps.len()] = 1;
        // The ways to leave at the next occurrence of each observation, together.
        let mut sum = 0_u128;
        for entered in (0..steps.len()).rev() {
            // The next equal observation is not new any more.
            if let Some(next) = next[entered] {
                sum -= ways[next + 1];
            }
            let Some(larger) = sum.checked_add(ways[entered + 1]) else {
                return f64::INFINITY;
            };
            sum = larger;
            more[entered] = sum;
        }
        ways = more;
    }
    ways[0] as f64
}

/// For each observation the place of the next equal one.
fn next(steps: &[ObservationId]) -> Vec<Option<usize>> {
    let mut next = vec![None; steps.len()];
    let mut last = HashMap::new();
    for (i, step) in steps.iter().enumerate() {
        if let Some(before) = last.insert(*step, i) {
            next[before] = Some(i);
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to cut the rest of a trace, by the number of their stays.
    fn all(steps: &[u32], entered: usize) -> Vec<usize> {
        if entered == steps.len() {
            return vec![0];
        }
        (entered..steps.len())
            .filter(|left| !steps[entered..*left].contains(&steps[*left]))
            .flat_map(|left| all(steps, left + 1))
            .map(|stays| stays + 1)
            .collect()
    }

    #[test]
    fn stays_and_ways_are_those_of_exhaustive_enumeration() {
        for code in 0..3_u32.pow(8) {
            let steps: Vec<u32> = (0..8).map(|i| code / 3_u32.pow(i) % 3).collect();
            let cuts = all(&steps, 0);
            assert_eq!(Some(&stays(&steps)[0]), cuts.iter().min(), "{steps:?}");
            for most in 1..6 {
                let ways = cuts.iter().filter(|stays| **stays <= most).count();
                assert_eq!(count(&steps, most), ways as f64, "{steps:?} {most}");
            }
        }
    }
}
