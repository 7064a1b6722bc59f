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

/// For each number of observations: the fewest stays that the rest of the trace is cut into, if a state is entered there.
pub(crate) fn stays<O: PartialEq>(steps: &[O]) -> Vec<usize> {
    let mut stays = vec![0; steps.len() + 1];
    let mut next = NextDistinct::default();
    for entered in (0..steps.len()).rev() {
        next.prepend(steps, entered);
        let fewest = next.0.iter().map(|left| stays[left + 1]).min();
        stays[entered] = 1 + fewest.unwrap_or(0);
    }
    stays
}

/// The number of ways to cut a trace into at most this number of stays: few ways make a trace a strong constraint.
pub(crate) fn count<O: PartialEq>(steps: &[O], most: usize) -> f64 {
    // For each number of observations, and each number of stays: the ways with at most that number.
    let mut ways = vec![vec![0.0; most + 1]; steps.len() + 1];
    ways[steps.len()].fill(1.0);
    let mut next = NextDistinct::default();
    for entered in (0..steps.len()).rev() {
        next.prepend(steps, entered);
        for stays in 1..=most {
            ways[entered][stays] = next.0.iter().map(|left| ways[left + 1][stays - 1]).sum();
        }
    }
    ways[0][most]
}

/// Where each distinct observation occurs next.
#[derive(Default)]
struct NextDistinct(Vec<usize>);

impl NextDistinct {
    /// Goes back by one observation.
    fn prepend<O: PartialEq>(&mut self, steps: &[O], entered: usize) {
        self.0.retain(|later| steps[*later] != steps[entered]);
        self.0.push(entered);
    }
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
