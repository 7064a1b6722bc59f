//! What the external solvers find: a machine, read from its literals and checked independently of how it was found.

use std::collections::{BTreeMap, BTreeSet};

use form_core::{Formula, Kind, Machine, Signature, Trace};

use crate::error::{Error, Result};
use crate::outcome::{Cost, Learnt};
use crate::verify::overlap;
use crate::vocabulary::Candidate;

/// The literals of an edge: the numbers of the candidates, and whether they stand there unnegated.
pub(super) type Literals = BTreeSet<(usize, bool)>;

/// An edge's place: from which state, to which, the how-manieth of these.
pub(super) type Place = (String, String, usize);

/// A machine as chosen by a solver.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Choice {
    pub(super) edges: BTreeMap<Place, Literals>,
}

impl Choice {
    pub(super) fn cost(&self, candidates: &[Candidate]) -> Cost {
        let literals = || self.edges.values().flatten();
        Cost {
            size: self.edges.len() + literals().count(),
            ground: literals().filter(|(c, _)| candidates[*c].ground).count(),
            negative: literals().filter(|(_, positive)| !positive).count(),
        }
    }

    /// The machine, once it has been replayed on all traces and found deterministic by code that knows nothing of the
    /// encoding.
    pub(super) fn into_learnt(
        self,
        candidates: &[Candidate],
        signature: &Signature,
        traces: &[Trace],
        states: usize,
    ) -> Result<Learnt> {
        let rejecting = traces.iter().any(|trace| trace.kind() == Kind::DeadEnd);
        let mut names: Vec<String> = (0..states).map(|state| format!("u{state}")).collect();
        names.push("u_acc".to_owned());
        let mut builder = Machine::builder("learnt").initial("u0").accept("u_acc");
        if rejecting {
            names.push("u_rej".to_owned());
            builder = builder.reject("u_rej");
        }
        builder = builder.states(names);
        for ((from, to, _), literals) in &self.edges {
            let (positive, negative): (Vec<_>, Vec<_>) = literals.iter().partition(|(_, p)| *p);
            let formula = |c: usize| Formula::atom(candidates[c].atom.clone());
            let formulae = (positive.into_iter().map(|(c, _)| formula(c)))
                .chain(negative.into_iter().map(|(c, _)| formula(c).negated()));
            builder = builder.edge_with(from, to, Formula::all(formulae), None);
        }
        let machine = builder.build()?;
        verify(&machine, signature, traces)?;
        Ok(Learnt {
            machine,
            states,
            cost: self.cost(candidates),
        })
    }
}

fn verify(machine: &Machine, signature: &Signature, traces: &[Trace]) -> Result<()> {
    let refuted = |problem: String| Err(Error::Refuted { problem });
    let bound = machine.bind(signature)?;
    for trace in traces {
        if let Some(wrong) = trace.disagreement(&bound) {
            return refuted(format!("{wrong:?} on {}", trace.to_json(signature)));
        }
    }
    match overlap(&bound) {
        Some(overlap) => refuted(format!("{overlap:?}")),
        None => Ok(()),
    }
}
