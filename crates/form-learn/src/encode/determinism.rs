//! Sound determinism: two edges of one state with different targets exclude each other by a pair of literals.
//!
//! Some atom is positive on one edge and makes an atom true that is negative on the other. The paper's mapping of
//! quantified atoms to ground ones (Listing 3) is not sound and not used.

use super::Encoding;
use super::solver::Lit;

impl Encoding {
    pub(super) fn add_determinism(&mut self) {
        let implied: Vec<Vec<Lit>> = (0..self.slots.len()).map(|s| self.implied_by(s)).collect();
        for a in 0..self.slots.len() {
            for b in a + 1..self.slots.len() {
                let (first, second) = (&self.slots[a], &self.slots[b]);
                if first.from != second.from || first.to == second.to {
                    continue;
                }
                let mut exclusive = vec![-first.present, -second.present, -self.deterministic];
                #[expect(
                    clippy::needless_range_loop,
                    reason = "i numbers a candidate in several lists"
                )]
                for i in 0..self.candidates.len() {
                    for (positive, negative) in [(a, b), (b, a)] {
                        let both = self
                            .solver
                            .both(implied[positive][i], self.slots[negative].negative[i]);
                        exclusive.push(both);
                        self.justified.entry((negative, i)).or_default().push(both);
                    }
                }
                self.solver.add(&exclusive);
            }
        }
    }

    /// For each candidate: a positive literal at this place makes it true.
    fn implied_by(&mut self, slot: usize) -> Vec<Lit> {
        (0..self.candidates.len())
            .map(|i| {
                let causes: Vec<Lit> = (self.candidates.iter().enumerate())
                    .filter(|(_, other)| self.candidates[i].follows_from(other))
                    .map(|(a, _)| self.slots[slot].positive[a])
                    .collect();
                if let [cause] = causes[..] {
                    return cause;
                }
                let implied = self.solver.fresh_absent();
                let clause: Vec<Lit> = causes.into_iter().chain([-implied]).collect();
                self.solver.add(&clause);
                implied
            })
            .collect()
    }
}
