//! Sound determinism: two edges of one state with different targets exclude each other by a pair of literals.
//!
//! Some atom is positive on one edge and implies an atom that is negative on the other. The paper's mapping of quantified
//! atoms to ground ones (Listing 3) is not sound and not used.

use super::Encoding;
use super::solver::Lit;

impl Encoding {
    pub(super) fn add_determinism(&mut self) -> Option<()> {
        // For each atom those that it implies.
        let implied: Vec<Vec<usize>> = (self.vocabulary.iter())
            .map(|cause| {
                self.solver.check()?;
                let implied =
                    (0..self.vocabulary.len()).filter(|i| self.vocabulary[*i].follows_from(cause));
                Some(implied.collect())
            })
            .collect::<Option<_>>()?;
        for a in 0..self.slots.len() {
            for b in a + 1..self.slots.len() {
                let (first, second) = (&self.slots[a], &self.slots[b]);
                if first.from != second.from || first.to == second.to {
                    continue;
                }
                self.solver.check()?;
                // One of them has a negation. Redundant: it follows from the rest, but not by unit propagation.
                let negation = [
                    -first.present,
                    -second.present,
                    first.negated,
                    second.negated,
                ];
                self.solver.add(&negation);
                if self.single {
                    self.separate_single(a, b, &implied);
                } else {
                    self.separate(a, b, &implied);
                }
            }
        }
        Some(())
    }

    /// The one positive literal of one edge implies an atom that is negative on the other.
    fn separate_single(&mut self, a: usize, b: usize, implied: &[Vec<usize>]) {
        // Which of the two has the negation that matters.
        let second = self.solver.fresh();
        for (positive, negative, chosen) in [(a, b, second), (b, a, -second)] {
            let mut causes: Vec<Vec<Lit>> = vec![Vec::new(); self.vocabulary.len()];
            for (i, implied) in implied.iter().enumerate() {
                let cause = self.slots[positive].positive[i];
                let mut clause = vec![-chosen, -cause, -self.slots[negative].present];
                for j in implied {
                    clause.push(self.slots[negative].negative[*j]);
                    causes[*j].push(cause);
                }
                self.solver.add(&clause);
            }
            for (j, causes) in causes.into_iter().enumerate() {
                self.justified
                    .entry((negative, j))
                    .or_default()
                    .extend(causes);
            }
        }
    }

    /// A positive literal of one edge implies an atom that is negative on the other.
    fn separate(&mut self, a: usize, b: usize, implied: &[Vec<usize>]) {
        let (first, second) = (&self.slots[a], &self.slots[b]);
        let mut exclusive = vec![-first.present, -second.present];
        for (positive, negative) in [(a, b), (b, a)] {
            for (i, implied) in implied.iter().enumerate() {
                for j in implied {
                    let (cause, negation) = (
                        self.slots[positive].positive[i],
                        self.slots[negative].negative[*j],
                    );
                    let both = self.solver.both(cause, negation);
                    exclusive.push(both);
                    self.justified.entry((negative, *j)).or_default().push(both);
                }
            }
        }
        self.solver.add(&exclusive);
    }
}
