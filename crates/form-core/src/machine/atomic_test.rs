//! Tests: atomic formulae bound to a signature, evaluated by bit masks on the newest observation and on the union of the window.
//!
//! Each kind of atom becomes one masked operation; a [join](super::join) is the list of its substitutions.

use std::sync::Arc;

use super::join::Join;
use crate::error::{Error, Result};
use crate::logic::atom::{Atom, QuantifiedAtom, Quantifier};
use crate::logic::atom_set::{AtomId, AtomSet};
use crate::logic::signature::Signature;

/// When a test holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// Some atom of the mask is in the newest observation: ground atoms, propositions, `exists`.
    AnyNewest,
    /// Every atom of the mask has been seen since the state was entered: `forall`.
    AllSeen,
    /// Some atom of the mask has been seen: `once`.
    AnySeen,
    /// At least this many atoms of the mask have been seen: `atleast`.
    AtLeast(u32),
    /// One substitution makes several literals true.
    Join(Arc<Join>),
}

/// An atomic formula bound to a signature.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Test {
    pub(crate) scope: Scope,
    /// All atoms that matter to it.
    pub(crate) mask: AtomSet,
}

impl Test {
    /// Binds an atom; an error says what the signature lacks. If `own` are the atoms that can be observed, `forall` ranges over these.
    pub(crate) fn bind(atom: &Atom, signature: &Signature, own: Option<&AtomSet>) -> Result<Self> {
        let quantified = match atom {
            Atom::Ground(ground) => {
                return Ok(Self {
                    scope: Scope::AnyNewest,
                    mask: [signature.named(ground)?].into_iter().collect(),
                });
            }
            Atom::Quantified(quantified) => quantified,
        };
        let Some(literal) = quantified.single() else {
            let join = Join::bind(quantified, signature)?;
            return Ok(Self {
                mask: join.atoms(),
                scope: Scope::Join(Arc::new(join)),
            });
        };
        let mut mask = signature.extension(quantified, literal)?;
        if let (Quantifier::Forall, Some(own)) = (quantified.quantifier(), own) {
            mask = mask.intersection(own);
            if mask.is_empty() {
                // Over no object, `forall` does not hold.
                let scope = Scope::AnyNewest;
                return Ok(Self { scope, mask });
            }
        }
        let scope = match quantified.quantifier() {
            Quantifier::Exists if literal.once => Scope::AnySeen,
            Quantifier::Exists => Scope::AnyNewest,
            Quantifier::Forall => Scope::AllSeen,
            Quantifier::AtLeast(count) => counted(quantified, count, mask.len())?,
        };
        Ok(Self { scope, mask })
    }

    /// Whether it holds on a buffer with this newest observation and this union.
    #[inline]
    pub(crate) fn holds(&self, newest: &AtomSet, seen: &AtomSet) -> bool {
        match &self.scope {
            Scope::AnyNewest => self.mask.intersects(newest),
            Scope::AllSeen => self.mask.is_subset(seen),
            Scope::AnySeen => self.mask.intersects(seen),
            Scope::AtLeast(count) => self.mask.shares(seen, *count as usize),
            Scope::Join(join) => join.holds(newest, seen),
        }
    }

    /// The atoms of which it matters whether they were observed since the state was entered.
    pub(crate) fn window(&self) -> Option<&AtomSet> {
        match &self.scope {
            Scope::AnyNewest => None,
            Scope::AllSeen | Scope::AnySeen | Scope::AtLeast(_) => Some(&self.mask),
            Scope::Join(join) => Some(join.window()),
        }
    }

    /// The atoms whose observation would still change something: not yet observed, and the test is not settled for as long as the state
    /// lasts.
    pub(crate) fn awaited(&self, seen: &AtomSet) -> AtomSet {
        match (&self.scope, self.window()) {
            (_, None) => AtomSet::new(),
            (Scope::Join(_), Some(window)) => window.difference(seen),
            (_, Some(_)) if self.holds(seen, seen) => AtomSet::new(),
            (_, Some(window)) => window.difference(seen),
        }
    }

    /// Whether it changes when two atoms are exchanged in all observations.
    pub(crate) fn tells_apart(&self, one: AtomId, other: AtomId) -> bool {
        match &self.scope {
            Scope::Join(join) => join.tells_apart(one, other),
            _ => self.mask.contains(one) != self.mask.contains(other),
        }
    }
}

/// At least `count` of this number of instances.
fn counted(atom: &QuantifiedAtom, count: u32, instances: usize) -> Result<Scope> {
    match instances.cmp(&(count as usize)) {
        std::cmp::Ordering::Greater => Ok(Scope::AtLeast(count)),
        std::cmp::Ordering::Equal => Ok(Scope::AllSeen),
        std::cmp::Ordering::Less => Err(Error::NotInSignature {
            atom: Atom::from(atom.clone()).to_string(),
            problem: match instances {
                1 => "the signature has only 1 instance of it, so it can never hold".to_owned(),
                n => format!("the signature has only {n} instances of it, so it can never hold"),
            },
        }),
    }
}
