//! The vocabulary: the atoms that edges are made of, in the order of the tie-break (quantified before ground, then by name).
//!
//! A new quantifier or kind of atom starts here: with its own [`LearnableAtom`]s, its cost, and its since node in the prefix tree
//! if it looks further back than the newest observation.

use std::collections::{BTreeSet, HashSet};

use form_core::{Atom, AtomSet, GroundAtom, Name, QuantifiedAtom, Quantifier, Signature, Term};

use crate::error::{Error, Result};

/// The number of an observation among the distinct ones of the data.
pub(crate) type ObservationId = u32;

/// An atom that edges may have.
#[derive(Clone, Debug)]
pub(crate) struct LearnableAtom {
    pub(crate) atom: Atom,
    /// The atoms of the signature that it is about.
    pub(crate) mask: AtomSet,
    /// Whether it looks at all observations since the state was entered, not at the newest one alone.
    pub(crate) forall: bool,
    /// Whether it names objects, which the tie-break avoids.
    pub(crate) ground: bool,
}

impl LearnableAtom {
    /// Whether it holds wherever `other` holds, so that its negation excludes `other`.
    pub(crate) fn follows_from(&self, other: &Self) -> bool {
        match (self.forall, other.forall) {
            (false, false) => other.mask.is_subset(&self.mask),
            (true, true) => self.mask.is_subset(&other.mask),
            _ => false,
        }
    }
}

/// The maximum size of a vocabulary. Tables and clauses of an encoding grow with its square: a larger one would exhaust memory
/// before any limit is checked.
const MOST: usize = 1 << 13;

/// The vocabulary of a signature; quantified atoms only in first-order mode.
pub(crate) fn vocabulary(signature: &Signature, first_order: bool) -> Result<Vec<LearnableAtom>> {
    let too_many = || Error::Vocabulary {
        atoms: signature.len(),
        limit: MOST,
    };
    let room = MOST.checked_sub(signature.len()).ok_or_else(too_many)?;
    let mut vocabulary = Vec::new();
    if first_order {
        let patterns = patterns(signature, room / 2).ok_or_else(too_many)?;
        for quantifier in [Quantifier::Exists, Quantifier::Forall] {
            for (predicate, terms) in &patterns {
                let atom =
                    QuantifiedAtom::new(quantifier, predicate.clone(), terms.iter().cloned());
                let atom = atom.expect("a pattern has a variable");
                let mask = signature.instances(&atom.literals()[0]);
                let forall = quantifier == Quantifier::Forall;
                vocabulary.push(LearnableAtom {
                    atom: atom.into(),
                    mask,
                    forall,
                    ground: false,
                });
            }
        }
    }
    for (id, atom) in signature.ids().zip(signature.atoms()) {
        vocabulary.push(LearnableAtom {
            atom: atom.clone().into(),
            mask: AtomSet::from_iter([id]),
            forall: false,
            ground: !atom.constants().is_empty(),
        });
    }
    Ok(vocabulary)
}

/// The atoms that edges of learnt machines are made of, in the order of the tie-break; quantified ones only in first-order mode.
pub fn learnable_atoms(signature: &Signature, first_order: bool) -> Result<Vec<Atom>> {
    let vocabulary = vocabulary(signature, first_order)?;
    Ok(vocabulary.into_iter().map(|found| found.atom).collect())
}

/// A predicate and its arguments.
type Pattern = (Name, Vec<Term>);

/// The patterns of quantified atoms: every predicate over all its arguments and, for several arguments, over some of them
/// where at least two atoms agree in the others. `None` if there are more than `most`.
fn patterns(signature: &Signature, most: usize) -> Option<Vec<Pattern>> {
    let mut known: HashSet<Pattern> = HashSet::new();
    let mut patterns = Vec::new();
    for atom in signature.atoms() {
        let constants = atom.constants();
        if constants.is_empty() {
            continue;
        }
        for fixed in fixings(signature, atom, most)? {
            let term = |i: usize| match is_in(fixed, i) {
                false => Term::Variable(i as u32),
                true => Term::Constant(constants[i].clone()),
            };
            let terms = (0..constants.len()).map(term).collect();
            let pattern = (atom.predicate().clone(), terms);
            if known.insert(pattern.clone()) {
                patterns.push(pattern);
            }
        }
        if patterns.len() > most {
            return None;
        }
    }
    Some(patterns)
}

/// The sets of arguments of an atom that may be fixed, as bits: none, then single ones, then pairs, … `None` if there are more
/// than `most`.
fn fixings(signature: &Signature, atom: &GroundAtom, most: usize) -> Option<Vec<u64>> {
    let constants = atom.constants();
    let mut found = BTreeSet::from([0]);
    for other in signature.atoms() {
        let alike = other.predicate() == atom.predicate()
            && other.constants().len() == constants.len()
            && other != atom;
        if !alike {
            continue;
        }
        // The arguments in which the two agree, and all subsets of these. Arguments beyond the last bit are never fixed.
        let agree = (constants.iter().zip(other.constants()).take(64).enumerate())
            .filter(|(_, (mine, others))| mine == others)
            .fold(0_u64, |bits, (i, _)| bits | 1 << i);
        if found.contains(&agree) {
            continue;
        }
        if 1_usize.checked_shl(agree.count_ones())? > most {
            return None;
        }
        let mut part = agree;
        while part != 0 {
            found.insert(part);
            part = (part - 1) & agree;
        }
    }
    let mut found: Vec<u64> = found.into_iter().collect();
    found.sort_by_key(|bits| bits.count_ones());
    Some(found)
}

fn is_in(bits: u64, i: usize) -> bool {
    i < 64 && bits >> i & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(atoms: &[String]) -> Result<Vec<String>> {
        let signature = Signature::parse(atoms).unwrap();
        let vocabulary = vocabulary(&signature, true)?;
        Ok(vocabulary.iter().map(|a| a.atom.to_string()).collect())
    }

    /// Two atoms of this arity that differ in the first argument.
    fn wide(arity: usize) -> Vec<String> {
        let rest = ",a".repeat(arity - 1);
        ["x", "y"].map(|first| format!("p({first}{rest})")).into()
    }

    #[test]
    fn arguments_are_fixed_where_two_atoms_agree_in_them() {
        let atoms = ["p(a,b)", "p(a,c)", "p(d,e)"].map(str::to_owned);
        let expected = [
            "exists X, Y. p(X, Y)",
            "exists X. p(a, X)",
            "forall X, Y. p(X, Y)",
            "forall X. p(a, X)",
            "p(a, b)",
            "p(a, c)",
            "p(d, e)",
        ];
        assert_eq!(written(&atoms).unwrap(), expected);
    }

    #[test]
    fn the_number_of_arguments_may_be_any() {
        // All subsets of the two arguments in which the atoms agree.
        assert_eq!(written(&wide(3)).unwrap().len(), 2 * 4 + 2);
        assert_eq!(written(&wide(11)).unwrap().len(), 2 * 1024 + 2);
        // No two atoms agree in an argument, however many there are.
        let arguments = |of: &str| (0..100).map(|i| format!("{of}{i}")).collect::<Vec<_>>();
        let atoms = ["a", "b"].map(|of| format!("p({})", arguments(of).join(",")));
        assert_eq!(written(&atoms).unwrap().len(), 2 + 2);
    }

    #[test]
    fn a_vocabulary_that_is_too_large_is_an_error() {
        for arity in [14, 17, 33, 65, 100] {
            let message = written(&wide(arity)).unwrap_err().to_string();
            assert!(
                message.starts_with("the 2 atoms of the signature"),
                "{message}"
            );
        }
        let atoms: Vec<String> = (0..=MOST).map(|i| format!("p{i}")).collect();
        assert!(written(&atoms).is_err());
        assert_eq!(written(&atoms[1..]).unwrap().len(), MOST);
    }
}
