//! The vocabulary: the atoms that edges are made of, in the order of the tie-break (quantified before ground, then by name).
//!
//! A new quantifier or kind of atom starts here: with its own [`LearnableAtom`]s, its cost, and its since node in the prefix tree
//! if it looks further back than the newest observation.

use std::collections::{BTreeSet, HashSet};

use form_core::{
    Atom, AtomId, AtomSet, GroundAtom, Literal, Name, QuantifiedAtom, Quantifier, Signature, Term,
};

use crate::error::{Error, Result};
use crate::options::Options;
use crate::window::Window;

/// The number of an observation among the distinct ones of the data.
pub(crate) type ObservationId = u32;

/// An atom that edges may have.
#[derive(Clone, Debug)]
pub(crate) struct LearnableAtom {
    pub(crate) atom: Atom,
    /// The atoms of the signature that it is about.
    pub(crate) mask: AtomSet,
    /// What it looks for in the observations since the state was entered, if not at the newest one alone.
    pub(crate) window: Option<Window>,
    /// Whether it names objects, which the tie-break avoids.
    pub(crate) ground: bool,
    /// What it costs on an edge: one, and one more for a second literal and for a count.
    pub(crate) cost: usize,
}

impl LearnableAtom {
    /// Whether it holds wherever `other` holds, so that its negation excludes `other`.
    pub(crate) fn follows_from(&self, other: &Self) -> bool {
        match (&self.window, &other.window) {
            (None, None) => other.mask.is_subset(&self.mask),
            // Of those that were observed, at most these are not among the atoms of this one.
            (Some(Window::Count(count)), Some(Window::Count(given))) => {
                let elsewhere = other.mask.difference(&self.mask).len();
                given.saturating_sub(elsewhere) >= *count
            }
            // What is observed now was observed once.
            (Some(Window::Count(1)), None) => !self.is_forall() && other.mask.is_subset(&self.mask),
            (Some(Window::Join(pairs)), Some(Window::Join(others))) => pairs == others,
            _ => false,
        }
    }

    /// Whether it counts what was observed: `forall`, `atleast` and `once`, but no join.
    pub(crate) fn counts(&self) -> bool {
        matches!(self.window, Some(Window::Count(_)))
    }

    /// Whether it is a `forall`.
    pub(crate) fn is_forall(&self) -> bool {
        matches!(&self.atom, Atom::Quantified(atom) if atom.quantifier() == Quantifier::Forall)
    }
}

/// The maximum size of a vocabulary. Tables and clauses of an encoding grow with its square: a larger one would exhaust memory
/// before any limit is checked.
const MOST: usize = 1 << 13;

/// The vocabulary of a signature; quantified atoms only in first-order mode, atoms with a window other than `forall` as the options say.
pub(crate) fn vocabulary(signature: &Signature, options: &Options) -> Result<Vec<LearnableAtom>> {
    let too_many = || Error::Vocabulary {
        atoms: signature.len(),
        limit: MOST,
    };
    let room = MOST.checked_sub(signature.len()).ok_or_else(too_many)?;
    let mut vocabulary = Vec::new();
    if options.first_order {
        let patterns = patterns(signature, room / 2).ok_or_else(too_many)?;
        let counts = (1..=options.counts).filter(|count| *count > 1 || options.once);
        let counts = counts.map(|count| Quantifier::AtLeast(count as u32));
        for quantifier in ([Quantifier::Exists, Quantifier::Forall].into_iter()).chain(counts) {
            for ((predicate, terms), mask) in &patterns {
                let atom =
                    QuantifiedAtom::new(quantifier, predicate.clone(), terms.iter().cloned());
                let atom = atom.expect("a pattern has a variable");
                let mask = mask.clone();
                let (window, cost) = match quantifier {
                    Quantifier::Exists => (None, 1),
                    Quantifier::Forall => (Some(Window::Count(mask.len())), 1),
                    // All of them are `forall`.
                    Quantifier::AtLeast(count) if count as usize >= mask.len() && count > 1 => {
                        continue;
                    }
                    Quantifier::AtLeast(count) => (
                        Some(Window::Count(count as usize)),
                        1 + usize::from(count > 1),
                    ),
                };
                vocabulary.push(LearnableAtom {
                    atom: atom.into(),
                    mask,
                    window,
                    ground: false,
                    cost,
                });
            }
        }
        if options.joins {
            vocabulary.extend(joins(signature));
        }
    }
    for (id, atom) in signature.ids().zip(signature.atoms()) {
        vocabulary.push(LearnableAtom {
            atom: atom.clone().into(),
            mask: AtomSet::from_iter([id]),
            window: None,
            ground: !atom.constants().is_empty(),
            cost: 1,
        });
    }
    if options.once {
        for (id, atom) in signature.ids().zip(signature.atoms()) {
            let terms = atom.constants().iter().cloned().map(Term::Constant);
            vocabulary.push(LearnableAtom {
                atom: QuantifiedAtom::once(atom.predicate().clone(), terms).into(),
                mask: AtomSet::from_iter([id]),
                window: Some(Window::Count(1)),
                ground: !atom.constants().is_empty(),
                cost: 1,
            });
        }
    }
    match vocabulary.len() > MOST {
        true => Err(too_many()),
        false => Ok(vocabulary),
    }
}

/// The joins `exists X… . (once p(…) and q(…))` of two predicates that share one variable, where at least two objects can be meant.
fn joins(signature: &Signature) -> Vec<LearnableAtom> {
    let families: BTreeSet<(&Name, usize)> = (signature.atoms().iter())
        .map(|atom| (atom.predicate(), atom.constants().len()))
        .collect();
    let mut joins = Vec::new();
    for (once, once_arity) in &families {
        for (now, now_arity) in families.iter().filter(|(now, _)| now != once) {
            for (i, j) in (0..*once_arity).flat_map(|i| (0..*now_arity).map(move |j| (i, j))) {
                let first = (0..*once_arity as u32).map(Term::Variable);
                let shift = |v: u32| match v == j as u32 {
                    true => i as u32,
                    false => *once_arity as u32 + v,
                };
                let second = (0..*now_arity as u32).map(|v| Term::Variable(shift(v)));
                let literals = [
                    Literal::once((*once).clone(), first),
                    Literal::now((*now).clone(), second),
                ];
                let ids =
                    |literal: &Literal| signature.instances(literal).iter().collect::<Vec<_>>();
                let (earlier, newest) = (ids(&literals[0]), ids(&literals[1]));
                let object = |id: &AtomId, place: usize| &signature.atom(*id).constants()[place];
                let pairs: Vec<(AtomId, AtomId)> = (earlier.iter())
                    .flat_map(|a| newest.iter().map(move |b| (*a, *b)))
                    .filter(|(a, b)| object(a, i) == object(b, j))
                    .collect();
                let objects: BTreeSet<&Name> = pairs.iter().map(|(a, _)| object(a, i)).collect();
                if objects.len() < 2 {
                    continue;
                }
                joins.push(LearnableAtom {
                    atom: (QuantifiedAtom::join(literals).expect("it has a variable")).into(),
                    mask: pairs.iter().flat_map(|(a, b)| [*a, *b]).collect(),
                    window: Some(Window::Join(pairs)),
                    ground: false,
                    cost: 2,
                });
            }
        }
    }
    joins
}

/// The atoms that edges of learnt machines are made of, in the order of the tie-break; quantified ones only in first-order mode.
pub fn learnable_atoms(signature: &Signature, first_order: bool) -> Result<Vec<Atom>> {
    let options = Options {
        first_order,
        ..Options::default()
    };
    let vocabulary = vocabulary(signature, &options)?;
    Ok(vocabulary.into_iter().map(|found| found.atom).collect())
}

/// A predicate and its arguments.
type Pattern = (Name, Vec<Term>);

/// The patterns of quantified atoms, with their instances: every predicate over all its arguments and, for several arguments, over some of
/// them where at least two atoms agree in the others. Of patterns with the same instances, which mean the same, the first: the tie-break
/// would prefer it. `None` if there are more than `most`.
fn patterns(signature: &Signature, most: usize) -> Option<Vec<(Pattern, AtomSet)>> {
    let mut known: HashSet<Pattern> = HashSet::new();
    let mut meanings: HashSet<Vec<AtomId>> = HashSet::new();
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
            let terms: Vec<Term> = (0..constants.len()).map(term).collect();
            let pattern = (atom.predicate().clone(), terms.clone());
            if !known.insert(pattern.clone()) {
                continue;
            }
            let instances = signature.instances(&Literal::now(pattern.0.clone(), terms));
            if meanings.insert(instances.iter().collect()) {
                patterns.push((pattern, instances));
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
        let vocabulary = vocabulary(&signature, &Options::default())?;
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
        // Whatever is fixed of the arguments in which the atoms agree, both are meant.
        assert_eq!(written(&wide(3)).unwrap().len(), 2 + 2);
        assert_eq!(written(&wide(11)).unwrap().len(), 2 + 2);
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
