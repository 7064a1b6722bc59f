//! The hypothesis of an external solver: the machine that it chose, read from its literals and verified independently of how it
//! was found.

use std::collections::{BTreeMap, BTreeSet};

use form_core::{Formula, Kind, Machine, Signature, StepMode, Trace};
use form_formats::atom_to_asp;

use crate::error::Result;
use crate::outcome::{Cost, Learnt};
use crate::verify::{is_consistent, is_deterministic};
use crate::vocabulary::LearnableAtom;

/// The literals of an edge: numbers of atoms of the vocabulary, and whether they are positive.
pub(super) type Literals = BTreeSet<(usize, bool)>;

/// An edge's source, target and number among the parallel ones.
pub(super) type Place = (String, String, usize);

/// A machine as a solver prints it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Hypothesis {
    pub(super) edges: BTreeMap<Place, Literals>,
}

impl Hypothesis {
    pub(super) fn cost(&self, vocabulary: &[LearnableAtom]) -> Cost {
        let literals = || self.edges.values().flatten();
        Cost {
            size: self.edges.len() + literals().map(|(a, _)| vocabulary[*a].cost).sum::<usize>(),
            ground: literals().filter(|(a, _)| vocabulary[*a].ground).count(),
            negative: literals().filter(|(_, positive)| !positive).count(),
        }
    }

    /// The machine, replayed on all traces and checked for determinism by code that knows nothing of the encoding.
    pub(super) fn into_learnt(
        self,
        vocabulary: &[LearnableAtom],
        signature: &Signature,
        traces: &[Trace],
        states: usize,
    ) -> Result<Learnt> {
        let rejecting = traces.iter().any(|trace| trace.kind() == Kind::DeadEnd);
        let mut names: Vec<String> = (0..states).map(|state| format!("u{state}")).collect();
        names.push("u_acc".to_owned());
        let mode = one_step_mode(traces)?;
        let mut builder = Machine::builder("learnt")
            .initial("u0")
            .accept("u_acc")
            .step_mode(mode);
        if rejecting {
            names.push("u_rej".to_owned());
            builder = builder.reject("u_rej");
        }
        builder = builder.states(names);
        for ((from, to, _), literals) in &self.edges {
            let (positive, negative): (Vec<_>, Vec<_>) = literals.iter().partition(|(_, p)| *p);
            let formula = |a: usize| Formula::atom(vocabulary[a].atom.clone());
            let formulae = (positive.into_iter().map(|(a, _)| formula(a)))
                .chain(negative.into_iter().map(|(a, _)| formula(a).negated()));
            builder = builder.edge_with(from, to, Formula::all(formulae), None);
        }
        let machine = builder.build()?;
        let bound = machine.bind(signature)?;
        is_consistent(&bound, traces)?;
        is_deterministic(&bound)?;
        Ok(Learnt {
            machine,
            states,
            cost: self.cost(vocabulary),
        })
    }
}

/// Which environment steps the traces have.
pub(super) fn one_step_mode(traces: &[Trace]) -> Result<StepMode> {
    let mode = traces.first().map(Trace::step_mode).unwrap_or_default();
    for trace in traces {
        (trace.step_mode()).must_be(mode, "a trace", "the first trace")?;
    }
    Ok(mode)
}

/// The numbers of the vocabulary's atoms by their terms.
pub(super) fn numbers_by_term(vocabulary: &[LearnableAtom]) -> BTreeMap<String, usize> {
    (vocabulary.iter())
        .map(|learnable| atom_to_asp(&learnable.atom))
        .zip(0..)
        .collect()
}
