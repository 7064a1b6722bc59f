//! Signatures: the ground atoms that can be observed, grouped by predicate (the paper's Herbrand base, restricted to
//! what is observable).
//!
//! A signature is a set: its atoms are kept in natural order, so equal sets are equal signatures and number their
//! atoms alike.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use super::atom::{Atom, GroundAtom, Literal, QuantifiedAtom};
use super::atom_set::{AtomId, AtomSet};
use super::identifier::Name;
use crate::error::{Error, Result};

/// The set of observable ground atoms, each with a number.
#[derive(Clone, Default)]
pub struct Signature {
    atoms: Vec<GroundAtom>,
    by_text: HashMap<Box<str>, AtomId>,
}

impl Signature {
    /// The signature of these atoms, in natural order, without repetitions.
    pub fn new(atoms: impl IntoIterator<Item = GroundAtom>) -> Self {
        let atoms: BTreeSet<GroundAtom> = atoms.into_iter().collect();
        let atoms: Vec<GroundAtom> = atoms.into_iter().collect();
        let mut by_text = HashMap::new();
        for (i, atom) in atoms.iter().enumerate() {
            let text = atom.to_string();
            by_text.insert(text.replace(' ', "").into(), AtomId(i as u32));
            by_text.insert(text.into(), AtomId(i as u32));
        }
        Self { atoms, by_text }
    }

    /// The signature of some of its atoms, which get new numbers.
    #[must_use]
    pub fn restricted(&self, atoms: &AtomSet) -> Self {
        Self::new(atoms.iter().map(|id| self.atom(id).clone()))
    }

    /// Reads atoms such as `yellow(o1)`.
    ///
    /// ```
    /// let signature = form_core::Signature::parse(["yellow(o0)", "yellow(o1)", "goal"])?;
    /// assert_eq!(signature.len(), 3);
    /// # Ok::<(), form_core::Error>(())
    /// ```
    pub fn parse<T: AsRef<str>>(atoms: impl IntoIterator<Item = T>) -> Result<Self> {
        let atoms: Vec<GroundAtom> = atoms
            .into_iter()
            .map(|text| text.as_ref().parse())
            .collect::<Result<_>>()?;
        Ok(Self::new(atoms))
    }

    /// The number of atoms.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    /// Whether it has no atom.
    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// The atoms in order.
    pub fn atoms(&self) -> &[GroundAtom] {
        &self.atoms
    }

    /// The atom with this number.
    pub fn atom(&self, id: AtomId) -> &GroundAtom {
        &self.atoms[id.index()]
    }

    /// The number of `atom`, if it is observable.
    pub fn id_of(&self, atom: &GroundAtom) -> Option<AtomId> {
        self.atoms
            .binary_search(atom)
            .ok()
            .map(|i| AtomId(i as u32))
    }

    /// The number of an atom in canonical text form, with or without spaces after its commas.
    #[inline]
    pub fn id_of_text(&self, text: &str) -> Option<AtomId> {
        self.by_text.get(text).copied()
    }

    /// The observation that consists of these atoms.
    ///
    /// ```
    /// # let signature = form_core::Signature::parse(["yellow(o0)", "goal"])?;
    /// let observation = signature.observation(["goal"])?;
    /// assert_eq!(signature.describe(&observation), "{goal}");
    /// # Ok::<(), form_core::Error>(())
    /// ```
    pub fn observation<T: AsRef<str>>(
        &self,
        atoms: impl IntoIterator<Item = T>,
    ) -> Result<AtomSet> {
        atoms
            .into_iter()
            .map(|text| self.id_of_written(text.as_ref()))
            .collect()
    }

    /// The number of an atom in any accepted text form.
    pub fn id_of_written(&self, text: &str) -> Result<AtomId> {
        match self.id_of_text(text) {
            Some(id) => Ok(id),
            None => {
                let atom: GroundAtom = text.parse()?;
                self.id_of(&atom).ok_or_else(|| Error::UnknownAtom {
                    atom: atom.to_string(),
                    hint: self.hint_for(&atom),
                })
            }
        }
    }

    /// The numbers of all atoms.
    pub fn ids(&self) -> impl Iterator<Item = AtomId> + use<> {
        (0..self.atoms.len() as u32).map(AtomId)
    }

    /// All atoms that are instances of a literal's atom.
    pub fn instances(&self, literal: &Literal) -> AtomSet {
        self.family(&literal.predicate, literal.terms.len())
            .filter(|id| literal.matches(self.atom(*id)))
            .collect()
    }

    /// The number of a ground atom that a formula names; an error says what the signature lacks.
    pub(crate) fn named(&self, atom: &GroundAtom) -> Result<AtomId> {
        self.id_of(atom).ok_or_else(|| Error::NotInSignature {
            atom: atom.to_string(),
            problem: self.why_missing(atom.family(), atom.constants(), "does not list this atom"),
        })
    }

    /// The instances of one of a quantified atom's literals; an error says what the signature lacks.
    pub(crate) fn extension(&self, atom: &QuantifiedAtom, literal: &Literal) -> Result<AtomSet> {
        let instances = self.instances(literal);
        if instances.is_empty() {
            let family = (&literal.predicate, literal.terms.len());
            return Err(Error::NotInSignature {
                atom: Atom::from(atom.clone()).to_string(),
                problem: self.why_missing(family, literal.constants(), "has no instance of it"),
            });
        }
        Ok(instances)
    }

    /// The set in text form: `{blue(o4), goal}`.
    pub fn describe(&self, set: &AtomSet) -> String {
        format!("{{{}}}", self.texts(set).join(", "))
    }

    /// The atoms of a set, as trace files write them.
    pub fn texts(&self, set: &AtomSet) -> Vec<String> {
        set.iter().map(|id| self.atom(id).to_string()).collect()
    }

    /// The union of two signatures.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::new(self.atoms.iter().chain(&other.atoms).cloned())
    }

    fn family<'a>(
        &'a self,
        predicate: &'a Name,
        arity: usize,
    ) -> impl Iterator<Item = AtomId> + 'a {
        // Atoms are sorted by predicate first: a predicate's atoms are contiguous.
        let start = self
            .atoms
            .partition_point(|atom| atom.predicate() < predicate);
        self.atoms[start..]
            .iter()
            .enumerate()
            .take_while(move |(_, atom)| atom.predicate() == predicate)
            .filter(move |(_, atom)| atom.constants().len() == arity)
            .map(move |(i, _)| AtomId((start + i) as u32))
    }

    fn why_missing<'a>(
        &self,
        (predicate, arity): (&Name, usize),
        constants: impl IntoIterator<Item = &'a Name>,
        otherwise: &str,
    ) -> String {
        let arities: BTreeSet<usize> = (self.atoms.iter())
            .filter(|a| a.predicate() == predicate)
            .map(|a| a.constants().len())
            .collect();
        if arities.is_empty() {
            return format!("the signature has no predicate `{predicate}`");
        }
        if !arities.contains(&arity) {
            let known: Vec<String> = arities
                .iter()
                .map(|n| format!("`{predicate}/{n}`"))
                .collect();
            return format!(
                "the signature has no predicate `{predicate}/{arity}`, only {}",
                known.join(" and ")
            );
        }
        for constant in constants {
            let known = self
                .family(predicate, arity)
                .any(|id| self.atom(id).constants().contains(constant));
            if !known {
                return format!(
                    "the signature has no atom of `{predicate}` with the constant `{constant}`"
                );
            }
        }
        format!("the signature {otherwise}")
    }

    /// Similar atoms of the signature, for an error message.
    fn hint_for(&self, atom: &GroundAtom) -> String {
        let alike: Vec<String> = (self.atoms.iter())
            .filter(|known| known.family() == atom.family())
            .take(4)
            .map(|known| format!("`{known}`"))
            .collect();
        if alike.is_empty() {
            self.why_missing(atom.family(), atom.constants(), "does not list this atom")
        } else {
            format!(
                "of `{}` the signature has {}, …",
                atom.predicate(),
                alike.join(", ")
            )
        }
    }
}

impl PartialEq for Signature {
    fn eq(&self, other: &Self) -> bool {
        self.atoms == other.atoms
    }
}

impl Eq for Signature {}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.atoms.iter().map(ToString::to_string))
            .finish()
    }
}

impl FromIterator<GroundAtom> for Signature {
    fn from_iter<I: IntoIterator<Item = GroundAtom>>(atoms: I) -> Self {
        Self::new(atoms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_are_equal_signatures() {
        let a = Signature::parse(["goal", "yellow(o10)", "yellow(o2)", "on(a, b)"]).unwrap();
        let b = Signature::parse(["yellow(o2)", "on(a,b)", "goal", "yellow(o10)", "goal"]).unwrap();
        assert_eq!(a, b);
        let order: Vec<String> = a.atoms().iter().map(ToString::to_string).collect();
        assert_eq!(order, ["goal", "on(a, b)", "yellow(o2)", "yellow(o10)"]);
        assert_eq!(a.id_of_text("on(a,b)"), a.id_of_text("on(a, b)"));
        assert!(a.id_of_text("on(a,b)").is_some());
    }

    #[test]
    fn missing_things_are_named() {
        let signature =
            Signature::parse(["yellow(o0)", "yellow(o1)", "goal", "on(a,table)"]).unwrap();
        let why = |text: &str| {
            let formula: crate::Formula = text.parse().unwrap();
            let error = match formula.atoms().next().unwrap() {
                Atom::Ground(atom) => signature.named(atom).unwrap_err(),
                Atom::Quantified(atom) => {
                    (signature.extension(atom, &atom.literals()[0])).unwrap_err()
                }
            };
            error.to_string()
        };
        assert!(why("lava").contains("no predicate `lava`"));
        assert!(why("goal(x)").contains("no predicate `goal/1`, only `goal/0`"));
        assert!(why("yellow(o7)").contains("constant `o7`"));
        assert!(why("exists X. on(X, floor)").contains("constant `floor`"));
        assert!(why("exists X. on(X, X)").contains("no instance"));
        assert!(why("on(table, a)").contains("does not list this atom"));
    }
}
