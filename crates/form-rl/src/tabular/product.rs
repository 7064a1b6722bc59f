//! The machines' half of the cross product: all situations of all tasks, numbered together, and what each label does in each.
//!
//! A situation is a state of a machine with what matters of its window (the atoms that its `forall`s have seen), so the product is
//! Markovian for first-order machines too.

use std::sync::Arc;

use form_core::{AtomSet, BoundMachine};
use form_env::{Next, Situations};

use crate::error::{Error, Result};

/// The largest number of situations.
const MOST_SITUATIONS: usize = 1 << 16;

/// The effect of a label in a situation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Jump {
    /// The situation after it; `None` where the machine ends the episode.
    pub(crate) next: Option<usize>,
    pub(crate) reward: f64,
    pub(crate) accepted: bool,
}

/// The situations of all tasks.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    machines: Vec<Situations>,
    labels: Vec<AtomSet>,
    /// Task and situation by number.
    pairs: Vec<(usize, usize)>,
    /// The number by task and situation.
    numbers: Vec<Vec<usize>>,
    /// By label and number.
    jumps: Vec<Vec<Jump>>,
}

impl Product {
    pub(crate) fn new(machines: Vec<Arc<BoundMachine>>, labels: &[AtomSet]) -> Result<Self> {
        if machines.is_empty() {
            return Err(Error::Size {
                what: "machines, one per task",
                found: 0,
                expected: 1,
            });
        }
        let mut product = Self {
            numbers: vec![Vec::new(); machines.len()],
            machines: (machines.into_iter())
                .map(|machine| Situations::new(machine, labels))
                .collect(),
            labels: labels.to_vec(),
            pairs: Vec::new(),
            jumps: vec![Vec::new(); labels.len()],
        };
        for task in 0..product.machines.len() {
            product.machines[task].initial();
        }
        product.close()?;
        Ok(product)
    }

    /// The number of tasks.
    pub(crate) fn tasks(&self) -> usize {
        self.machines.len()
    }

    /// The number of situations of all tasks.
    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Task and machine state of a situation, and the atoms that its window has seen.
    pub(crate) fn describe(&self, situation: usize) -> (usize, usize, Vec<String>) {
        let (task, own) = self.pairs[situation];
        let monitor = self.machines[task].monitor(own);
        let signature = self.machines[task].machine().signature();
        let seen = signature.texts(monitor.seen());
        (task, monitor.state().index(), seen)
    }

    /// What the first observation of an episode does.
    pub(crate) fn start(&self, task: usize, label: usize) -> Jump {
        // The initial situation of a task is the first that is discovered.
        self.jumps[label][self.numbers[task][0]]
    }

    /// What a label does in every situation.
    #[inline]
    pub(crate) fn jumps(&self, label: usize) -> &[Jump] {
        &self.jumps[label]
    }

    /// The number of a label. New situations may be discovered with it.
    pub(crate) fn label(&mut self, label: &AtomSet) -> Result<usize> {
        if let Some(known) = self.labels.iter().position(|known| known == label) {
            return Ok(known);
        }
        self.labels.push(label.clone());
        self.jumps.push(Vec::new());
        for situations in &mut self.machines {
            situations.add_label(label.clone());
        }
        self.close()?;
        Ok(self.labels.len() - 1)
    }

    /// Discovers everything that the labels lead to.
    fn close(&mut self) -> Result<()> {
        loop {
            self.number();
            if self.len() > MOST_SITUATIONS {
                return Err(Error::Setting {
                    name: "machines",
                    value: format!("more than {MOST_SITUATIONS} situations"),
                    problem: "a table needs fewer: `forall`s over many atoms have a situation for every set of them",
                });
            }
            let before = self.len();
            for label in 0..self.labels.len() {
                for number in self.jumps[label].len()..before {
                    let (task, own) = self.pairs[number];
                    let (next, reward) = self.machines[task].step(own, label);
                    self.number();
                    self.jumps[label].push(Jump {
                        next: match next {
                            Next::Situation(after) => Some(self.numbers[task][after]),
                            Next::Completed | Next::Over => None,
                        },
                        reward,
                        accepted: next == Next::Completed,
                    });
                }
            }
            if self.len() == before {
                return Ok(());
            }
        }
    }

    /// Numbers the situations that have no number yet.
    fn number(&mut self) {
        for (task, situations) in self.machines.iter().enumerate() {
            for own in self.numbers[task].len()..situations.len() {
                self.numbers[task].push(self.pairs.len());
                self.pairs.push((task, own));
            }
        }
    }

    /// The potential of each situation: the negative of its value where every label can be observed on every step (value iteration over
    /// the machine, as the code of Toro Icarte et al. has it). With it, a value that starts too high starts lower the closer the
    /// machine is to its reward, and is corrected sooner.
    pub(crate) fn potentials(&self, discount: f64) -> Vec<f64> {
        let mut values = vec![0.0; self.len()];
        loop {
            let mut change: f64 = 0.0;
            for situation in 0..self.len() {
                let value = (self.jumps.iter())
                    .map(|jumps| {
                        let Jump { next, reward, .. } = jumps[situation];
                        reward + next.map_or(0.0, |next| discount * values[next])
                    })
                    .fold(f64::NEG_INFINITY, f64::max);
                let value = if value.is_finite() { value } else { 0.0 };
                change = change.max((value - values[situation]).abs());
                values[situation] = value;
            }
            if change < 1e-12 {
                return values.into_iter().map(|value| -value).collect();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use form_core::{Machine, Signature};

    fn product(machine: &str, atoms: &[&str]) -> Product {
        let signature = Signature::parse(atoms).unwrap();
        let machine: Machine = machine.parse().unwrap();
        let labels: Vec<AtomSet> = (atoms.iter())
            .map(|atom| signature.observation([atom]).unwrap())
            .chain([AtomSet::new()])
            .collect();
        Product::new(vec![Arc::new(machine.bind(&signature).unwrap())], &labels).unwrap()
    }

    #[test]
    fn a_forall_has_a_situation_for_every_set_that_it_has_seen() {
        let machine = "initial u0\naccept u1\nu0 -> u1 : forall X. yellow(X)";
        let product = product(machine, &["yellow(a)", "yellow(b)", "yellow(c)"]);
        // All sets but the full one.
        assert_eq!(product.len(), 7);
        let seen: std::collections::BTreeSet<Vec<String>> =
            (0..7).map(|i| product.describe(i).2).collect();
        assert_eq!(seen.len(), 7);
    }

    #[test]
    fn a_label_may_come_later() {
        let signature = Signature::parse(["a", "b"]).unwrap();
        let machine: Machine = "initial u0\naccept u2\nu0 -> u1 : a\nu1 -> u2 : b"
            .parse()
            .unwrap();
        let bound = Arc::new(machine.bind(&signature).unwrap());
        let mut product = Product::new(vec![bound], &[]).unwrap();
        assert_eq!(product.len(), 1);
        let a = product
            .label(&signature.observation(["a"]).unwrap())
            .unwrap();
        assert_eq!(product.len(), 2);
        let b = product
            .label(&signature.observation(["b"]).unwrap())
            .unwrap();
        assert_eq!(product.jumps(a)[0].next, Some(1));
        assert!(product.jumps(b)[1].accepted);
        assert_eq!(product.jumps(b)[1].reward, 1.0);
    }

    #[test]
    fn potentials_are_the_negative_values_of_the_machine() {
        let machine = "initial u0\naccept u2\nu0 -> u1 : a\nu1 -> u2 : b";
        let product = product(machine, &["a", "b"]);
        let potentials = product.potentials(0.9);
        assert!((potentials[0] + 0.9).abs() < 1e-9 && (potentials[1] + 1.0).abs() < 1e-9);
    }
}
