//! From the solver's model to a machine.

use std::collections::HashSet;

use form_core::{Formula, Machine};

use crate::encode::{Encoding, Lit, Measure};
use crate::outcome::{Cost, Learnt};

/// A candidate machine and the solver's literals that describe it.
#[derive(Clone, Debug)]
pub(crate) struct Design {
    pub(crate) literals: HashSet<Lit>,
    pub(crate) learnt: Learnt,
}

/// Reads the machine that the model found last describes.
pub(crate) fn decode(encoding: &Encoding) -> Design {
    let candidates = encoding.candidates();
    let shape = encoding.shape();
    let name = |state: usize| match state {
        state if state == shape.accept() => "u_acc".to_owned(),
        state if state == shape.reject() => "u_rej".to_owned(),
        state => format!("u{state}"),
    };
    let mut builder = Machine::builder("learnt")
        .states((0..shape.states + if shape.rejecting { 2 } else { 1 }).map(name))
        .initial("u0")
        .accept("u_acc");
    if shape.rejecting {
        builder = builder.reject("u_rej");
    }
    for slot in encoding
        .slots()
        .iter()
        .filter(|slot| encoding.is_true(slot.present))
    {
        let chosen = |literals: &[Lit]| -> Vec<Formula> {
            (literals.iter().zip(candidates))
                .filter(|(literal, _)| encoding.is_true(**literal))
                .map(|(_, candidate)| Formula::atom(candidate.atom.clone()))
                .collect()
        };
        let negative = chosen(&slot.negative).into_iter().map(Formula::negated);
        let formula = Formula::all(chosen(&slot.positive).into_iter().chain(negative));
        builder = builder.edge_with(&name(slot.from), &name(slot.to), formula, None);
    }
    let machine = builder
        .build()
        .expect("the names are made up here and fit together");
    let counted = encoding.counted(Measure::Cost);
    let literals: HashSet<Lit> = counted
        .into_iter()
        .flatten()
        .filter(|l| encoding.is_true(*l))
        .collect();
    let count = |measure| {
        let counted = encoding.counted(measure);
        counted
            .iter()
            .flatten()
            .filter(|l| literals.contains(l))
            .count()
    };
    let cost = Cost {
        size: literals.len(),
        ground: count(Measure::Ground),
        negative: count(Measure::Negative),
    };
    let learnt = Learnt {
        machine,
        states: shape.states,
        cost,
    };
    Design { literals, learnt }
}
