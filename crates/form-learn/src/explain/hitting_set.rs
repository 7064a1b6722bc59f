//! A greedy hitting set: a few short trace prefixes that together refute many machines.
//!
//! One step of the implicit hitting set method for unsatisfiable cores (Ignatiev, Previti, Liffiton and Marques-Silva 2015),
//! see `unsat_core`.

/// Chooses trace prefixes, by number and length, so that each machine is refuted by one of them.
///
/// `failures[m][t]` is the number of observations of trace `t` after which machine `m` is wrong, if it is. `prices[t]` is the
/// fixed cost of using a trace, in observations.
pub(super) fn greedy_hitting_set(
    failures: &[&[Option<usize>]],
    prices: &[usize],
) -> Vec<(usize, usize)> {
    // The used length of each trace, if it is used.
    let mut used: Vec<Option<usize>> = vec![None; prices.len()];
    let mut open = failures.to_vec();
    loop {
        let mut best: Option<Offer> = None;
        for (trace, price) in prices.iter().enumerate() {
            let mut lengths: Vec<usize> =
                open.iter().filter_map(|machine| machine[trace]).collect();
            lengths.sort_unstable();
            let fixed = if used[trace].is_some() { 0 } else { *price };
            for (i, length) in lengths.iter().enumerate() {
                let offer = Offer {
                    trace,
                    length: *length,
                    machines: i + 1,
                    cost: fixed + length - used[trace].unwrap_or(0),
                };
                if best.is_none_or(|best| offer.beats(best)) {
                    best = Some(offer);
                }
            }
        }
        let Some(Offer { trace, length, .. }) = best else {
            break;
        };
        used[trace] = Some(length);
        open.retain(|machine| machine[trace].is_none_or(|failure| failure > length));
    }
    (used.into_iter().enumerate())
        .filter_map(|(trace, length)| Some((trace, length?)))
        .collect()
}

/// A longer prefix of a trace: the further machines that it refutes, and its further cost.
#[derive(Clone, Copy)]
struct Offer {
    trace: usize,
    length: usize,
    machines: usize,
    cost: usize,
}

impl Offer {
    /// More machines per cost, then more machines.
    fn beats(self, other: Self) -> bool {
        let (here, there) = (self.machines * other.cost, other.machines * self.cost);
        (here, self.machines) > (there, other.machines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_is_refuted_for_a_small_price() {
        let [a, b, c] = [
            [Some(2), Some(9), None],
            [None, Some(9), Some(3)],
            [Some(4), None, Some(3)],
        ];
        let select =
            |machines: &[&[Option<usize>]], price| greedy_hitting_set(machines, &[price; 3]);
        assert_eq!(select(&[], 10), []);
        assert_eq!(select(&[&a], 10), [(0, 2)]);
        // Two machines at once, although the trace is longer; not if it were much longer.
        assert_eq!(select(&[&a, &b], 10), [(1, 9)]);
        assert_eq!(select(&[&a, &b], 0), [(0, 2), (2, 3)]);
        assert_eq!(select(&[&a, &b, &c], 10), [(0, 2), (2, 3)]);
    }

    #[test]
    fn a_trace_in_use_costs_only_what_it_gets_longer() {
        let first = [Some(1), None];
        let second = [Some(8), Some(3)];
        assert_eq!(greedy_hitting_set(&[&first, &second], &[5, 5]), [(0, 8)]);
        assert_eq!(
            greedy_hitting_set(&[&first, &second], &[5, 0]),
            [(0, 1), (1, 3)]
        );
    }

    #[test]
    fn a_trace_without_observations_can_be_used() {
        assert_eq!(greedy_hitting_set(&[&[Some(0)]], &[1]), [(0, 0)]);
        assert_eq!(greedy_hitting_set(&[&[Some(0)]], &[0]), [(0, 0)]);
    }
}
