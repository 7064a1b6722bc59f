//! Choosing a few short traces that together refute many machines: a greedy answer to the problem of the smallest hitting
//! set.
//!
//! To find what is needed by refuting the objects met on the way, and to ask again only with that, is the method of
//! implicit hitting sets (Ignatiev, Previti, Liffiton and Marques-Silva 2015, there for unsatisfiable cores).

/// Chooses beginnings of traces, by number and length, so that each machine is refuted by one of them.
///
/// `failures[m][t]` says after how many observations of trace `t` machine `m` is wrong, if it is. `prices[t]` is what it
/// costs to use a trace at all, in observations.
pub(super) fn select(failures: &[&[Option<usize>]], prices: &[usize]) -> Vec<(usize, usize)> {
    // How much of each trace is used, if it is used at all.
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

/// A longer use of a trace: how many more machines it refutes, and what it costs more.
#[derive(Clone, Copy)]
struct Offer {
    trace: usize,
    length: usize,
    machines: usize,
    cost: usize,
}

impl Offer {
    /// More machines for the cost, or just more of them.
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
        let select = |machines: &[&[Option<usize>]], price| select(machines, &[price; 3]);
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
        assert_eq!(select(&[&first, &second], &[5, 5]), [(0, 8)]);
        assert_eq!(select(&[&first, &second], &[5, 0]), [(0, 1), (1, 3)]);
    }

    #[test]
    fn a_trace_without_observations_can_be_used() {
        assert_eq!(select(&[&[Some(0)]], &[1]), [(0, 0)]);
        assert_eq!(select(&[&[Some(0)]], &[0]), [(0, 0)]);
    }
}
