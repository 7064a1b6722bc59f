//! The edges out of one state of a Toro Icarte machine: which self-loops are redundant, and which observations match no edge.
//!
//! A machine of this project stays where no edge fires, so a self-loop without reward is redundant unless it keeps a later edge from
//! firing. Both questions are decided on disjunctive normal forms; where these grow large, the self-loop stays and the unmatched
//! observations become one edge with a negated formula, which is equivalent and longer.

use std::collections::BTreeSet;

use form_core::{Atom, Cube, Formula, GroundAtom, Signature, absorb, dnf};

use super::source::SourceEdge;

/// Bounds on the normal forms: cubes, atoms of a state, nodes of a state's formulae.
const MOST_CUBES: usize = 64;
const MOST_ATOMS: usize = 128;
const MOST_NODES: usize = 4096;

pub(super) struct StateEdges<'a> {
    /// The edges to keep, in order.
    pub(super) kept: Vec<&'a SourceEdge>,
    /// Formulae of the observations that match no edge, in a state with an explicit self-loop.
    pub(super) dead_ends: Vec<Formula>,
}

/// Decides on the edges out of one state.
pub(super) fn state_edges<'a>(edges: &[&'a SourceEdge]) -> StateEdges<'a> {
    if !edges.iter().any(|edge| edge.is_self_loop()) {
        return StateEdges {
            kept: edges.to_vec(),
            dead_ends: Vec::new(),
        };
    }
    let signature = small_signature(edges);
    let kept = kept_edges(edges, signature.as_ref());
    let unmatched = Formula::any(edges.iter().map(|edge| edge.formula.clone())).negated();
    let unmatched_cubes = (signature.as_ref())
        .and_then(|signature| Some((signature, dnf(&unmatched, signature, MOST_CUBES)?)));
    let dead_ends = match unmatched_cubes {
        Some((signature, cubes)) => (cubes.iter())
            .map(|cube| cube.to_formula(signature))
            .collect(),
        None => vec![unmatched],
    };
    StateEdges { kept, dead_ends }
}

/// The atoms of the edges, unless there are too many to normalise.
fn small_signature(edges: &[&SourceEdge]) -> Option<Signature> {
    let nodes: usize = edges.iter().map(|edge| edge.formula.nodes().len()).sum();
    if nodes > MOST_NODES {
        return None;
    }
    let atoms = edges.iter().flat_map(|edge| edge.formula.atoms());
    let ground: BTreeSet<&GroundAtom> = atoms
        .filter_map(|atom| match atom {
            Atom::Ground(ground) => Some(ground),
            Atom::Quantified(_) => None,
        })
        .collect();
    (ground.len() <= MOST_ATOMS).then(|| ground.into_iter().cloned().collect())
}

/// All edges but redundant self-loops: those without reward that no later edge overlaps.
fn kept_edges<'a>(edges: &[&'a SourceEdge], signature: Option<&Signature>) -> Vec<&'a SourceEdge> {
    // The observations that later edges match; `None` once their normal form is too large.
    let mut later: Option<Vec<Cube>> = Some(Vec::new());
    let mut kept = Vec::with_capacity(edges.len());
    for edge in edges.iter().rev() {
        let own = match (signature, &later) {
            (Some(signature), Some(_)) => dnf(&edge.formula, signature, MOST_CUBES),
            _ => None,
        };
        if edge.is_self_loop() && edge.reward.0 == 0.0 {
            let nothing_follows = later.as_ref().is_some_and(Vec::is_empty);
            let apart = match (&own, &later) {
                (Some(own), Some(later)) => !own.iter().any(|a| later.iter().any(|b| meet(a, b))),
                _ => false,
            };
            if nothing_follows || apart {
                continue;
            }
        }
        later = match (later, own) {
            (Some(later), Some(own)) => absorb(later.into_iter().chain(own), MOST_CUBES),
            _ => None,
        };
        kept.push(*edge);
    }
    kept.reverse();
    kept
}

/// Whether some observation satisfies both.
fn meet(a: &Cube, b: &Cube) -> bool {
    !a.positive.intersects(&b.negative) && !a.negative.intersects(&b.positive)
}
