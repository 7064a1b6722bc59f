//! Joins bound to a signature: `exists X. (once key(X) and door(X))` as the list of its substitutions.
//!
//! A substitution is a conjunction of literals over ground atoms. The list is sorted by the atom of one positive literal, the *anchor*, of
//! the newest observation where there is one: a step looks only at the substitutions whose anchor was observed, and never allocates.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::logic::atom::{Atom, GroundAtom, Literal, QuantifiedAtom, Term};
use crate::logic::atom_set::{AtomId, AtomSet};
use crate::logic::identifier::Name;
use crate::logic::signature::Signature;

/// The maximum number of substitutions, and of pairs that are tried to find them.
const LIMIT: usize = 1 << 18;
const PAIRS: usize = 1 << 26;

/// A literal of a substitution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Condition {
    pub(crate) atom: AtomId,
    /// Whether it looks at the window, not only at the newest observation.
    pub(crate) once: bool,
    /// Whether it must be false.
    pub(crate) negated: bool,
}

/// A join bound to a signature.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Join {
    /// The literals of all substitutions, one after the other.
    conditions: Box<[Condition]>,
    /// Where each substitution starts in `conditions`, and where the last one ends.
    starts: Box<[u32]>,
    /// By atom: the number of substitutions with a smaller anchor.
    by_anchor: Box<[u32]>,
    anchors: AtomSet,
    /// Whether the anchor looks at the window.
    anchor_once: bool,
    window: AtomSet,
}

/// The values of variables, as far as they are known.
type Substitution<'a> = HashMap<u32, &'a Name>;

impl Join {
    /// Finds the substitutions that some buffer can satisfy. A signature that has none with all positive literals is an error.
    pub(crate) fn bind(atom: &QuantifiedAtom, signature: &Signature) -> Result<Self> {
        let substitutions = substitutions(atom, signature)?;
        let anchor = anchor(atom.literals());
        let mut rows: Vec<(AtomId, Vec<Condition>)> = (substitutions.iter())
            .filter_map(|substitution| {
                let value = |v: u32| substitution[&v];
                let id = |literal: &Literal| signature.id_of(&literal.instance(value));
                let conditions = conditions(atom.literals(), id)?;
                Some((id(&atom.literals()[anchor])?, conditions))
            })
            .collect();
        rows.sort();
        rows.dedup();
        let mut by_anchor = vec![0; signature.len() + 1];
        for (anchor, _) in &rows {
            by_anchor[anchor.index() + 1] += 1;
        }
        for i in 1..by_anchor.len() {
            by_anchor[i] += by_anchor[i - 1];
        }
        let mut starts = vec![0];
        for (_, conditions) in &rows {
            starts.push(starts[starts.len() - 1] + conditions.len() as u32);
        }
        let all = || rows.iter().flat_map(|(_, conditions)| conditions).copied();
        let anchor_once = atom.literals()[anchor].once;
        Ok(Self {
            window: (all().filter(|condition| condition.once))
                .map(|condition| condition.atom)
                .collect(),
            anchors: rows.iter().map(|(anchor, _)| *anchor).collect(),
            conditions: all().collect(),
            starts: starts.into(),
            by_anchor: by_anchor.into(),
            anchor_once,
        })
    }

    /// Whether some substitution makes all literals true.
    #[inline]
    pub(crate) fn holds(&self, newest: &AtomSet, seen: &AtomSet) -> bool {
        let observed = if self.anchor_once { seen } else { newest };
        self.anchors.common(observed).any(|anchor| {
            let i = anchor.index();
            (self.by_anchor[i]..self.by_anchor[i + 1]).any(|number| {
                self.conditions_of(number as usize).iter().all(|condition| {
                    let set = if condition.once { seen } else { newest };
                    set.contains(condition.atom) != condition.negated
                })
            })
        })
    }

    /// The literals of each substitution.
    pub(crate) fn substitutions(&self) -> impl Iterator<Item = &[Condition]> {
        (0..self.starts.len() - 1).map(|number| self.conditions_of(number))
    }

    /// All atoms of its literals.
    pub(crate) fn atoms(&self) -> AtomSet {
        self.conditions.iter().map(|c| c.atom).collect()
    }

    /// The atoms of which it matters whether they were observed since the state was entered.
    pub(crate) fn window(&self) -> &AtomSet {
        &self.window
    }

    /// Whether exchanging two atoms makes other substitutions of its own.
    pub(crate) fn tells_apart(&self, one: AtomId, other: AtomId) -> bool {
        !self.is_same_after(&HashMap::from([(one, other), (other, one)]))
    }

    /// Whether it has the same substitutions after exchanging atoms.
    pub(crate) fn is_same_after(&self, exchange: &HashMap<AtomId, AtomId>) -> bool {
        let has = |conditions: &&[Condition]| {
            (conditions.iter()).any(|condition| exchange.contains_key(&condition.atom))
        };
        let mut changed = self.substitutions().filter(has).peekable();
        if changed.peek().is_none() {
            return true;
        }
        let known: HashSet<&[Condition]> = self.substitutions().collect();
        changed.all(|conditions| {
            let mut exchanged = conditions.to_vec();
            for condition in &mut exchanged {
                condition.atom = *exchange.get(&condition.atom).unwrap_or(&condition.atom);
            }
            exchanged.sort();
            known.contains(&exchanged[..])
        })
    }

    #[inline]
    fn conditions_of(&self, number: usize) -> &[Condition] {
        &self.conditions[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

/// The literal to look substitutions up by: positive, and of the newest observation if there is such a one.
fn anchor(literals: &[Literal]) -> usize {
    let first =
        |once: bool| (literals.iter()).position(|literal| !literal.negated && literal.once == once);
    first(false)
        .or_else(|| first(true))
        .expect("a join has a positive literal")
}

/// The literals of a substitution in order, without those that others imply; `None` if they contradict each other.
fn conditions(
    literals: &[Literal],
    id: impl Fn(&Literal) -> Option<AtomId>,
) -> Option<Vec<Condition>> {
    let mut conditions: Vec<Condition> = Vec::with_capacity(literals.len());
    for literal in literals {
        match id(literal) {
            Some(atom) => conditions.push(Condition {
                atom,
                once: literal.once,
                negated: literal.negated,
            }),
            // What cannot be observed is false.
            None if literal.negated => {}
            None => return None,
        }
    }
    conditions.sort();
    conditions.dedup();
    let has = |atom, once, negated| {
        conditions.contains(&Condition {
            atom,
            once,
            negated,
        })
    };
    for c in &conditions {
        // What is observed now was observed once.
        if !c.negated && (has(c.atom, c.once, true) || has(c.atom, true, true)) {
            return None;
        }
    }
    let implied = |c: &Condition| match c.negated {
        false => c.once && has(c.atom, false, false),
        true => !c.once && has(c.atom, true, true),
    };
    Some(conditions.iter().filter(|c| !implied(c)).copied().collect())
}

/// All substitutions with which every positive literal can be observed.
fn substitutions<'a>(
    atom: &QuantifiedAtom,
    signature: &'a Signature,
) -> Result<Vec<Substitution<'a>>> {
    let too_many = || Error::Limit {
        what: format!("substitutions of `{}`", Atom::from(atom.clone())),
        limit: LIMIT,
        hint: "use fewer variables, or a signature with fewer objects".to_owned(),
    };
    // The natural join of the positive literals' instances. The others must be known, too: a mistyped one never matters.
    let mut found: Vec<Substitution<'a>> = vec![HashMap::new()];
    for literal in atom.literals() {
        let instances = signature.extension(atom, literal)?;
        if literal.negated {
            continue;
        }
        if found.len().saturating_mul(instances.len()) > PAIRS {
            return Err(too_many());
        }
        let instances: Vec<&GroundAtom> = instances.iter().map(|id| signature.atom(id)).collect();
        let mut extended = Vec::new();
        for substitution in &found {
            for instance in &instances {
                let mut longer = substitution.clone();
                if literal.unify(instance, &mut longer) {
                    extended.push(longer);
                }
            }
            if extended.len() > LIMIT {
                return Err(too_many());
            }
        }
        found = extended;
    }
    if found.is_empty() {
        return Err(Error::NotInSignature {
            atom: Atom::from(atom.clone()).to_string(),
            problem: "no objects of the signature fit all its literals".to_owned(),
        });
    }
    // Variables of negative literals alone take every object that the signature has in their places.
    for variable in 0..atom.variables() {
        if found[0].contains_key(&variable) {
            continue;
        }
        let objects = objects(variable, atom, signature);
        if found.len().saturating_mul(objects.len()) > LIMIT {
            return Err(too_many());
        }
        found = (found.iter())
            .flat_map(|substitution| {
                objects.iter().map(|object| {
                    let mut longer = substitution.clone();
                    longer.insert(variable, *object);
                    longer
                })
            })
            .collect();
    }
    Ok(found)
}

/// The objects in the argument positions of a variable.
fn objects<'a>(variable: u32, atom: &QuantifiedAtom, signature: &'a Signature) -> Vec<&'a Name> {
    let mut objects: Vec<&Name> = (atom.literals().iter())
        .flat_map(|literal| {
            let places = (literal.terms.iter().enumerate())
                .filter(|(_, term)| **term == Term::Variable(variable));
            let family = (signature.atoms().iter())
                .filter(|atom| atom.family() == (&literal.predicate, literal.terms.len()));
            let family: Vec<&GroundAtom> = family.collect();
            places.flat_map(move |(place, _)| {
                let family = family.clone();
                family.into_iter().map(move |atom| &atom.constants()[place])
            })
        })
        .collect();
    objects.sort();
    objects.dedup();
    objects
}
