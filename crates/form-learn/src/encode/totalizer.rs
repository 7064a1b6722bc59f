//! The totalizer, a cardinality encoding (Bailleux and Boufkhad 2003): unary counters, merged in a tree. Literal k of a counter
//! holds if more than k of its inputs do.

use super::solver::{Lit, Solver};

impl Solver {
    /// The totalizer of these literals, exact up to `limit`.
    pub(super) fn totalizer(&mut self, literals: &[Lit], limit: usize) -> Vec<Lit> {
        // Depth is the logarithm of the number of literals.
        if literals.len() <= 1 {
            return literals.to_vec();
        }
        let (a, b) = literals.split_at(literals.len() / 2);
        let (a, b) = (self.totalizer(a, limit), self.totalizer(b, limit));
        self.merge(&a, &b, limit)
    }

    /// The totalizer of several groups of literals.
    pub(super) fn totalizer_of_groups(&mut self, groups: Vec<Vec<Lit>>, limit: usize) -> Vec<Lit> {
        let mut level: Vec<Vec<Lit>> = groups
            .into_iter()
            .map(|group| self.totalizer(&group, limit))
            .collect();
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| self.merge(&pair[0], pair.get(1).map_or(&[], |b| b), limit))
                .collect();
        }
        level.pop().unwrap_or_default()
    }

    /// The sum of two counters.
    pub(super) fn merge(&mut self, a: &[Lit], b: &[Lit], limit: usize) -> Vec<Lit> {
        if a.is_empty() || b.is_empty() {
            return [a, b].concat();
        }
        let size = (a.len() + b.len()).min(limit + 1);
        let sums: Vec<Lit> = (0..size).map(|_| self.fresh_absent()).collect();
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                let sum = (i + j).min(size);
                if sum > 0 {
                    let from_a = i.checked_sub(1).map(|i| -a[i]);
                    let from_b = j.checked_sub(1).map(|j| -b[j]);
                    let clause: Vec<Lit> = [sums[sum - 1]]
                        .into_iter()
                        .chain(from_a)
                        .chain(from_b)
                        .collect();
                    self.add(&clause);
                }
            }
        }
        for pair in sums.windows(2) {
            self.add(&[-pair[1], pair[0]]);
        }
        sums
    }
}
