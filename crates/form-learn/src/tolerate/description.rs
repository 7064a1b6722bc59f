//! Description length (Rissanen 1978): the bits that write down a machine, and then the traces that it misjudges.
//!
//! A machine is written state by state, each edge as its target and its literals, with a mark after each state. All of these are words
//! of one list, which has 2 · atoms literals, states + 2 targets and the mark. Of n traces, m are misjudged: log2(n choose m) bits
//! say which, and one bit each says which of the two other kinds is right. Two thirds of the traces take most bits, about as many as
//! telling every kind outright; more misjudged traces are counted as two thirds. By the formula alone a machine that is always wrong
//! would be worth something, since it rules one kind out.

use std::f64::consts::{LOG2_E, TAU};

use crate::problem::Problem;

/// The lengths of descriptions of the traces.
pub(super) struct Description {
    traces: u64,
    atoms: usize,
}

impl Description {
    pub(super) fn new(problem: &Problem, traces: u64) -> Self {
        Self {
            traces,
            atoms: problem.vocabulary.len(),
        }
    }

    /// The bits of a machine with this number of states and this cost, and of the traces it misjudges.
    pub(super) fn bits(&self, states: usize, cost: usize, misjudged: u64) -> f64 {
        let word = (2.0 * self.atoms as f64 + states as f64 + 3.0).log2();
        (cost + states) as f64 * word + self.exceptions(misjudged)
    }

    /// The most traces that a machine may misjudge if its description is to be shorter than this; nothing if it is not even without any.
    pub(super) fn most_misjudged(&self, states: usize, cost: usize, bits: f64) -> Option<u64> {
        let machine = self.bits(states, cost, 0);
        if machine >= bits {
            return None;
        }
        if bits.is_infinite() {
            return Some(self.traces);
        }
        let (mut few, mut many) = (0, self.traces);
        while few < many {
            let middle = few + (many - few).div_ceil(2);
            match machine + self.exceptions(middle) < bits {
                true => few = middle,
                false => many = middle - 1,
            }
        }
        Some(few)
    }

    /// The bits of this number of misjudged traces; never fewer than those of a smaller number.
    fn exceptions(&self, misjudged: u64) -> f64 {
        // One more multiplies (n choose m) 2^m by 2 (n - m) / (m + 1), which is more than 1 as long as 3 m < 2 n - 1.
        let misjudged = misjudged.min(self.traces - self.traces.saturating_sub(1).div_ceil(3));
        let (n, m) = (self.traces as f64, misjudged as f64);
        let mut bits = m;
        // log2(n choose m), term by term, then by Stirling's formula.
        let k = misjudged.min(self.traces.saturating_sub(misjudged));
        if k <= 10_000 {
            bits += (0..k)
                .map(|i| ((n - i as f64) / (i as f64 + 1.0)).log2())
                .sum::<f64>();
        } else {
            // Two terms of the series: the error is far below what one more trace adds, so the sum goes on growing here.
            let (p, rest) = (m / n, n - m);
            let series = (1.0 / n - 1.0 / m - 1.0 / rest) / 12.0;
            bits += n * (-p * p.log2() - (1.0 - p) * (1.0 - p).log2())
                - 0.5 * (TAU * m * (rest / n)).log2()
                + series * LOG2_E;
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_grow() {
        let description = Description {
            traces: 200,
            atoms: 8,
        };
        for m in 0..133 {
            assert!(description.exceptions(m) < description.exceptions(m + 1));
        }
        for m in 133..200 {
            assert!(description.exceptions(m) == description.exceptions(m + 1));
        }
        assert!((description.exceptions(1) - (200_f64.log2() + 1.0)).abs() < 1e-9);
        for (cost, bits) in [(4, 30.0), (4, 100.0), (9, 60.0), (0, 300.0), (0, 400.0)] {
            let most = description.most_misjudged(2, cost, bits);
            let shorter = |m: u64| description.bits(2, cost, m) < bits;
            assert_eq!(most, (0..=200).rfind(|m| shorter(*m)));
        }
    }

    /// Both ways to count agree where one takes over from the other.
    #[test]
    fn exceptions_grow_from_sums_to_series() {
        for traces in [20_001, 25_000, 29_999, 1_000_000] {
            let description = Description { traces, atoms: 8 };
            for middle in [10_000, traces - 10_000] {
                for m in middle - 5..middle + 5 {
                    let (fewer, more) = (description.exceptions(m), description.exceptions(m + 1));
                    assert!(fewer <= more, "{m} of {traces}: {fewer} {more}");
                    assert!(more - fewer < 8.0, "{m} of {traces}: {fewer} {more}");
                }
            }
        }
    }

    #[test]
    fn few_and_very_many_traces_have_exceptions() {
        let bits = |traces: u64, misjudged: u64| {
            let description = Description { traces, atoms: 8 };
            description.exceptions(misjudged)
        };
        assert_eq!(bits(0, 0), 0.0);
        assert_eq!(bits(1, 1), 1.0);
        assert_eq!(bits(2, 1), 2.0);
        assert_eq!(bits(2, 2), 2.0);
        assert!(bits(u64::MAX, u64::MAX) > bits(u64::MAX, u64::MAX / 2));
    }
}
