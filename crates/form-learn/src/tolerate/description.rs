//! Description length (Rissanen 1978): the bits that write down a machine, and then the traces that it misjudges.
//!
//! An edge takes two states, a literal an atom and its sign: 2 log2(states + 2) and log2(2 · atoms) bits. Of n traces, m are
//! misjudged: log2(n choose m) bits say which, and one bit each says which of the two other kinds is right.

use crate::outcome::Learnt;
use crate::problem::Problem;

/// The lengths of descriptions of the traces.
pub(super) struct Description {
    traces: u64,
    per_literal: f64,
}

impl Description {
    pub(super) fn new(problem: &Problem, traces: u64) -> Self {
        Self {
            traces,
            per_literal: (2.0 * problem.vocabulary.len().max(1) as f64).log2(),
        }
    }

    fn per_edge(states: usize) -> f64 {
        2.0 * (states as f64 + 2.0).log2()
    }

    /// The bits of a machine and the traces it misjudges.
    pub(super) fn bits(&self, learnt: &Learnt, misjudged: u64) -> f64 {
        let edges = learnt.machine.edges().len();
        let literals = learnt.cost.size.saturating_sub(edges);
        edges as f64 * Self::per_edge(learnt.states)
            + literals as f64 * self.per_literal
            + self.exceptions(misjudged)
    }

    /// Lower bound on the bits of a machine with this number of states: each but the first is entered by an edge.
    pub(super) fn fewest_bits(&self, states: usize) -> f64 {
        states.saturating_sub(1) as f64 * (Self::per_edge(states) + self.per_literal)
    }

    /// The bits of this number of misjudged traces.
    fn exceptions(&self, misjudged: u64) -> f64 {
        let (n, m) = (self.traces as f64, misjudged as f64);
        let mut bits = m;
        // log2(n choose m), term by term, then by Stirling's formula.
        let k = misjudged.min(self.traces.saturating_sub(misjudged));
        if k <= 10_000 {
            bits += (0..k)
                .map(|i| ((n - i as f64) / (i as f64 + 1.0)).log2())
                .sum::<f64>();
        } else {
            let p = m / n;
            bits += n * (-p * p.log2() - (1.0 - p) * (1.0 - p).log2());
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
            per_literal: 4.0,
        };
        for m in 0..99 {
            assert!(description.exceptions(m) < description.exceptions(m + 1));
        }
        assert!((description.exceptions(1) - (200_f64.log2() + 1.0)).abs() < 1e-9);
    }
}
