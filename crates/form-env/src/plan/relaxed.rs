//! Observations left if walls did not matter and every label could be walked to from everywhere: a lower bound for the search, and on
//! most maps the answer.
//!
//! Without walls only the machine tells labels apart, so there are few situations: they are all visited once, then numbered backwards
//! from acceptance.

use std::collections::HashMap;

use form_core::BoundMachine;

use super::contacts::Place;
use super::symmetry::Symmetry;
use crate::tasks::situations::{Next, Situations};

/// The maximum number of situations; beyond it nothing is known, and the bound is 1.
const MOST_SITUATIONS: usize = 50_000;

/// Lower bounds by situation.
#[derive(Clone, Debug)]
pub(super) struct Relaxed {
    symmetry: Symmetry,
    /// The labels of the map.
    labels: Vec<usize>,
    /// By situation up to symmetry: observations left, `None` if the machine cannot accept any more.
    left: HashMap<usize, Option<usize>>,
    too_many: bool,
}

impl Relaxed {
    pub(super) fn new(symmetry: Symmetry, mut labels: Vec<usize>) -> Self {
        labels.sort_unstable();
        labels.dedup();
        Self {
            symmetry,
            labels,
            left: HashMap::new(),
            too_many: false,
        }
    }

    /// At least this many observations are left; `None` if the machine cannot accept any more.
    pub(super) fn left(
        &mut self,
        machine: &BoundMachine,
        situations: &mut Situations,
        situation: usize,
    ) -> Option<usize> {
        let situation = self.canonical(machine, situations, situation);
        if !self.too_many && !self.left.contains_key(&situation) {
            self.explore(machine, situations, situation);
        }
        self.left.get(&situation).copied().unwrap_or(Some(1))
    }

    fn canonical(
        &self,
        machine: &BoundMachine,
        situations: &mut Situations,
        situation: usize,
    ) -> usize {
        let monitor = situations.monitor(situation);
        // All places are one.
        let (monitor, _) = self.symmetry.canonical(machine, monitor, Place::Region(0));
        situations.of(&monitor)
    }

    fn explore(&mut self, machine: &BoundMachine, situations: &mut Situations, root: usize) {
        let mut before: HashMap<usize, Vec<usize>> = HashMap::from([(root, Vec::new())]);
        let mut open = vec![root];
        let mut front = Vec::new();
        while let Some(here) = open.pop() {
            if before.len() > MOST_SITUATIONS {
                self.too_many = true;
                return;
            }
            let mut accepts = false;
            for label in &self.labels {
                match situations.after(here, *label) {
                    Next::Situation(after) => {
                        let after = self.canonical(machine, situations, after);
                        let known = before.entry(after).or_insert_with(|| {
                            open.push(after);
                            Vec::new()
                        });
                        known.push(here);
                    }
                    Next::Completed => accepts = true,
                    Next::Over => {}
                }
            }
            if accepts {
                front.push(here);
            }
        }
        let mut left: HashMap<usize, Option<usize>> =
            before.keys().map(|situation| (*situation, None)).collect();
        for distance in 1.. {
            let mut next = Vec::new();
            for situation in front {
                let place = left.entry(situation).or_default();
                if place.is_none() {
                    *place = Some(distance);
                    next.extend(&before[&situation]);
                }
            }
            if next.is_empty() {
                break;
            }
            front = next;
        }
        self.left.extend(left);
    }
}
