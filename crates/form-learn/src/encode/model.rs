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
            size: literals.len(),
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
        let shape = &self.shape;
        let name = |state: usize| match state {
            state if state == shape.accept() => "u_acc".to_owned(),
            state if state == shape.reject() => "u_rej".to_owned(),
            state => format!("u{state}"),
        };
        let mut builder = Machine::builder("learnt")
            .states((0..shape.states + 1 + usize::from(shape.rejecting)).map(name))
            .initial("u0")
            .accept("u_acc");
        if shape.rejecting {
            builder = builder.reject("u_rej");
        }
        for slot in (self.slots.iter()).filter(|slot| self.solver.is_true(slot.present)) {
            let formula = self.decode_formula(slot);
            builder = builder.edge_with(&name(slot.from), &name(slot.to), formula, None);
        }
        builder
            .build()
            .expect("the names are made here and fit together")
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
