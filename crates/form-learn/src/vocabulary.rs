//! The atoms that edges may be made of, in the order of the tie-break: quantified before ground, then by name.

use form_core::{Atom, AtomSet, GroundAtom, Name, QuantifiedAtom, Quantifier, Signature, Term};

/// An atom that may stand on an edge.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) atom: Atom,
    /// The atoms of the signature it is about.
    pub(crate) mask: AtomSet,
    /// Whether it looks at everything seen since the state was entered, not at the newest observation.
    pub(crate) forall: bool,
    /// Whether it names objects: what the tie-break avoids.
    pub(crate) ground: bool,
}

impl Candidate {
    /// Whether it holds wherever `other` holds, so that its negation excludes the other.
    pub(crate) fn follows_from(&self, other: &Self) -> bool {
        match (self.forall, other.forall) {
            (false, false) => other.mask.is_subset(&self.mask),
            (true, true) => self.mask.is_subset(&other.mask),
            _ => false,
        }
    }
}

/// The candidates of a signature; quantified ones only in first-order mode.
pub(crate) fn vocabulary(signature: &Signature, first_order: bool) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    if first_order {
        let patterns = patterns(signature);
        for quantifier in [Quantifier::Exists, Quantifier::Forall] {
            for (predicate, terms) in &patterns {
                let atom =
                    QuantifiedAtom::new(quantifier, predicate.clone(), terms.iter().cloned());
                let atom = atom.expect("a pattern has a variable");
                let mask = signature.instances(&atom);
                let forall = quantifier == Quantifier::Forall;
                candidates.push(Candidate {
                    atom: atom.into(),
                    mask,
                    forall,
                    ground: false,
                });
            }
        }
    }
    for (id, atom) in signature.ids().zip(signature.atoms()) {
        candidates.push(Candidate {
            atom: atom.clone().into(),
            mask: AtomSet::from_iter([id]),
            forall: false,
            ground: !atom.constants().is_empty(),
        });
    }
    candidates
}

/// What can be quantified: every predicate over all its arguments, and, for more than one argument, over some of them
/// where at least two atoms agree in the others.
fn patterns(signature: &Signature) -> Vec<(Name, Vec<Term>)> {
    let mut patterns: Vec<(Name, Vec<Term>)> = Vec::new();
    let mut add = |pattern: (Name, Vec<Term>)| {
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    };
    for atom in signature.atoms() {
        let arity = atom.constants().len();
        if arity == 0 {
            continue;
        }
        add((
            atom.predicate().clone(),
            (0..arity as u32).map(Term::Variable).collect(),
        ));
        // One argument is fixed at a time, then two, …: as bits, most variables first.
        let mut fixings: Vec<u32> = (1..(1_u32 << arity.min(16)) - 1).collect();
        fixings.sort_by_key(|bits| bits.count_ones());
        for fixed in fixings {
            let agree = |other: &&GroundAtom| {
                other.predicate() == atom.predicate()
                    && other.constants().len() == arity
                    && (0..arity)
                        .all(|i| fixed >> i & 1 == 0 || other.constants()[i] == atom.constants()[i])
            };
            if signature.atoms().iter().filter(agree).count() >= 2 {
                let term = |i: usize| match fixed >> i & 1 {
                    0 => Term::Variable(i as u32),
                    _ => Term::Constant(atom.constants()[i].clone()),
                };
                add((atom.predicate().clone(), (0..arity).map(term).collect()));
            }
        }
    }
    patterns
}
