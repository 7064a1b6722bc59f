//! Decoding: from the solver's model to a candidate machine.

use std::collections::BTreeSet;

use form_core::{Formula, Machine};

use super::cost::Measure;
use super::solver::Lit;
use super::{EdgeSlot, Encoding};
use crate::outcome::{Cost, Learnt};

/// A candidate of the CEGIS loop: a machine, and the literals of the model that describe it.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(super) literals: BTreeSet<Lit>,
    pub(crate) learnt: Learnt,
}

impl Encoding {
    /// The machine of the last model.
    pub(crate) fn decode(&self) -> Candidate {
        let counted = |measure| self.counted(measure).into_iter().flatten();
        let literals: BTreeSet<Lit> = counted(Measure::Cost)
            .filter(|literal| self.solver.is_true(*literal))
            .collect();
        let count = |measure| counted(measure).filter(|l| literals.contains(l)).count();
        let cost = Cost {
            size: count(Measure::Cost),
            ground: count(Measure::Ground),
            negative: count(Measure::Negative),
        };
        let learnt = Learnt {
            machine: self.decode_machine(),
            states: self.shape.states,
            cost,
        };
        Candidate { literals, learnt }
    }

    fn decode_machine(&self) -> Machine {
        let present = (self.slots.iter()).filter(|slot| self.solver.is_true(slot.present));
        let edges = present.map(|slot| (slot.from, slot.to, self.decode_formula(slot)));
        self.shape.machine(edges)
    }

    fn decode_formula(&self, slot: &EdgeSlot) -> Formula {
        let chosen = |literals: &[Lit]| -> Vec<Formula> {
            (literals.iter().zip(&self.vocabulary))
                .filter(|(literal, _)| self.solver.is_true(**literal))
                .map(|(_, learnable)| Formula::atom(learnable.atom.clone()))
                .collect()
        };
        let negative = chosen(&slot.negative).into_iter().map(Formula::negated);
        Formula::all(chosen(&slot.positive).into_iter().chain(negative))
    }
}
