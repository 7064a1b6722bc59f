//! Ground atoms and quantified atoms: the atomic formulae.
//!
//! Definition 3.1 has `p(o)`, `exists X. p(X)` and `forall X. p(X)`. All others follow one scheme, a quantifier over literals that look
//! at the newest observation or, with `once`, at the window, the observations since the state was entered.
//!
//! A quantified atom stores its variables as numbers in order of first occurrence, so two atoms that differ only in
//! the names of their variables are equal, and printing chooses the names.

use std::collections::HashMap;
use std::fmt;

use super::identifier::Name;

/// A proposition `p` or a ground atom `p(c1, …, cn)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroundAtom {
    predicate: Name,
    constants: Box<[Name]>,
}

impl GroundAtom {
    /// The atom of `predicate` over `constants`; none makes it a proposition.
    pub fn new(predicate: Name, constants: impl IntoIterator<Item = Name>) -> Self {
        Self {
            predicate,
            constants: constants.into_iter().collect(),
        }
    }

    /// The predicate's name.
    pub fn predicate(&self) -> &Name {
        &self.predicate
    }

    /// Its arguments.
    pub fn constants(&self) -> &[Name] {
        &self.constants
    }

    /// Predicate and arity, as in `yellow/1`.
    pub(crate) fn family(&self) -> (&Name, usize) {
        (&self.predicate, self.constants.len())
    }
}

impl fmt::Display for GroundAtom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_application(f, &self.predicate, &self.constants)
    }
}

/// `p` or `p(a, b)`.
pub(crate) fn write_application(
    f: &mut fmt::Formatter<'_>,
    predicate: &Name,
    arguments: &[impl fmt::Display],
) -> fmt::Result {
    write!(f, "{predicate}")?;
    for (i, argument) in arguments.iter().enumerate() {
        f.write_str(if i == 0 { "(" } else { ", " })?;
        write!(f, "{argument}")?;
    }
    if arguments.is_empty() {
        Ok(())
    } else {
        f.write_str(")")
    }
}

/// Which substitutions of its variables must satisfy a quantified atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantifier {
    /// Some substitution makes all literals true.
    Exists,
    /// Every instance of the signature has been seen since the state was entered.
    Forall,
    /// At least this many instances, two or more, have been seen since the state was entered.
    AtLeast(u32),
}

/// An argument of a literal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term {
    /// A variable of the atom's own quantifier, numbered by first occurrence.
    Variable(u32),
    /// A constant.
    Constant(Name),
}

/// `[not] [once] p(t…)`: one of the literals that a quantified atom is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Literal {
    /// The predicate's name.
    pub predicate: Name,
    /// Its arguments.
    pub terms: Box<[Term]>,
    /// Whether it looks at the whole window, not only at the newest observation.
    pub once: bool,
    /// Whether it must be false.
    pub negated: bool,
}

impl Literal {
    /// The positive literal `p(t…)` of the newest observation.
    pub fn now(predicate: Name, terms: impl IntoIterator<Item = Term>) -> Self {
        Self {
            predicate,
            terms: terms.into_iter().collect(),
            once: false,
            negated: false,
        }
    }

    /// The positive literal `once p(t…)`.
    pub fn once(predicate: Name, terms: impl IntoIterator<Item = Term>) -> Self {
        Self {
            once: true,
            ..Self::now(predicate, terms)
        }
    }

    /// Its negation.
    #[must_use]
    pub fn negated(self) -> Self {
        Self {
            negated: !self.negated,
            ..self
        }
    }

    /// The constants among its arguments.
    pub fn constants(&self) -> impl Iterator<Item = &Name> {
        self.terms.iter().filter_map(|term| match term {
            Term::Constant(c) => Some(c),
            Term::Variable(_) => None,
        })
    }

    /// Whether `atom` is one of its ground instances: the same predicate, the same constants in their places, and
    /// equal constants wherever a variable is repeated.
    pub fn matches(&self, atom: &GroundAtom) -> bool {
        self.unify(atom, &mut HashMap::new())
    }

    /// As [`Self::matches`], where some variables have values already; those of the others are added. Where it fails, some may have been
    /// added too.
    pub(crate) fn unify<'a>(
        &self,
        atom: &'a GroundAtom,
        values: &mut HashMap<u32, &'a Name>,
    ) -> bool {
        atom.predicate == self.predicate
            && atom.constants.len() == self.terms.len()
            && (self.terms.iter().zip(&atom.constants)).all(|(term, c)| match term {
                Term::Constant(wanted) => wanted == c,
                Term::Variable(v) => *values.entry(*v).or_insert(c) == c,
            })
    }

    /// Its atom, if no argument is a variable.
    pub fn ground(&self) -> Option<GroundAtom> {
        let constants: Option<Vec<Name>> = (self.terms.iter())
            .map(|term| match term {
                Term::Constant(c) => Some(c.clone()),
                Term::Variable(_) => None,
            })
            .collect();
        Some(GroundAtom::new(self.predicate.clone(), constants?))
    }

    /// The instance in which variable `v` is `value(v)`.
    pub(crate) fn instance<'a>(&self, value: impl Fn(u32) -> &'a Name) -> GroundAtom {
        GroundAtom::new(
            self.predicate.clone(),
            self.terms.iter().map(|term| match term {
                Term::Constant(c) => c.clone(),
                Term::Variable(v) => value(*v).clone(),
            }),
        )
    }
}

/// A quantifier and its literals: `exists X. p(X)`, `forall X. p(X)`, `once p(o)`, `atleast 2 X. p(X)`,
/// `exists X. (once p(X) and q(X))`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuantifiedAtom {
    quantifier: Quantifier,
    literals: Box<[Literal]>,
    variables: u32,
}

impl QuantifiedAtom {
    /// `exists X… . p(t…)`, `forall X… . p(t…)` or `atleast k X… . p(t…)`; at least one is `exists X… . once p(t…)`.
    ///
    /// Returns `None` if no term is a variable, since there would be nothing to quantify, and for `atleast 0`.
    pub fn new(
        quantifier: Quantifier,
        predicate: Name,
        terms: impl IntoIterator<Item = Term>,
    ) -> Option<Self> {
        let (quantifier, once) = match quantifier {
            Quantifier::Exists => (quantifier, false),
            Quantifier::AtLeast(0) => return None,
            Quantifier::AtLeast(1) => (Quantifier::Exists, true),
            Quantifier::Forall | Quantifier::AtLeast(_) => (quantifier, true),
        };
        let literal = Literal {
            once,
            ..Literal::now(predicate, terms)
        };
        Some(Self::build(quantifier, [literal])).filter(|atom| atom.variables > 0)
    }

    /// `once p(t…)` or, with variables, `exists X… . once p(t…)`.
    pub fn once(predicate: Name, terms: impl IntoIterator<Item = Term>) -> Self {
        Self::build(Quantifier::Exists, [Literal::once(predicate, terms)])
    }

    /// `exists X… . (… and …)`: one substitution makes all literals true. `None` without a variable or without a positive literal.
    pub fn join(literals: impl IntoIterator<Item = Literal>) -> Option<Self> {
        Some(Self::build(Quantifier::Exists, literals))
            .filter(|atom| atom.variables > 0 && !atom.literals.iter().all(|part| part.negated))
    }

    /// Renumbers the variables by first occurrence.
    fn build(quantifier: Quantifier, literals: impl IntoIterator<Item = Literal>) -> Self {
        let mut number_of: HashMap<u32, u32> = HashMap::new();
        let mut literals: Box<[Literal]> = literals.into_iter().collect();
        for term in literals.iter_mut().flat_map(|literal| &mut literal.terms) {
            if let Term::Variable(v) = term {
                let next = number_of.len() as u32;
                *v = *number_of.entry(*v).or_insert(next);
            }
        }
        Self {
            quantifier,
            literals,
            variables: number_of.len() as u32,
        }
    }

    /// Its quantifier.
    pub fn quantifier(&self) -> Quantifier {
        self.quantifier
    }

    /// Its literals, at least one. Those of `forall` and `atleast` have `once`.
    pub fn literals(&self) -> &[Literal] {
        &self.literals
    }

    /// Its literal, if it has one alone: it is no join.
    pub fn single(&self) -> Option<&Literal> {
        match &*self.literals {
            [literal] => Some(literal),
            _ => None,
        }
    }

    /// How many different variables it has: none in `once p(o)`.
    pub fn variables(&self) -> u32 {
        self.variables
    }

    /// The constants among the arguments.
    pub fn constants(&self) -> impl Iterator<Item = &Name> {
        self.literals.iter().flat_map(Literal::constants)
    }
}

/// An atomic formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A proposition or a ground atom: looks at the newest observation.
    Ground(GroundAtom),
    /// A quantified atom.
    Quantified(QuantifiedAtom),
}

impl Atom {
    /// The names of its predicates, with the numbers of their arguments.
    pub fn predicates(&self) -> Vec<(&Name, usize)> {
        match self {
            Self::Ground(atom) => vec![atom.family()],
            Self::Quantified(atom) => (atom.literals.iter())
                .map(|literal| (&literal.predicate, literal.terms.len()))
                .collect(),
        }
    }

    /// The constants it names.
    pub fn constants(&self) -> Vec<&Name> {
        match self {
            Self::Ground(atom) => atom.constants().iter().collect(),
            Self::Quantified(atom) => atom.constants().collect(),
        }
    }
}

impl From<GroundAtom> for Atom {
    fn from(atom: GroundAtom) -> Self {
        Self::Ground(atom)
    }
}

impl From<QuantifiedAtom> for Atom {
    fn from(atom: QuantifiedAtom) -> Self {
        Self::Quantified(atom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    #[test]
    fn instances_respect_constants_and_repeated_variables() {
        let on = |a: &str, b: &str| GroundAtom::new(name("on"), [name(a), name(b)]);
        let on_table = Literal::now(
            name("on"),
            [Term::Variable(7), Term::Constant(name("table"))],
        );
        assert!(on_table.matches(&on("a", "table")));
        assert!(!on_table.matches(&on("table", "a")));
        let itself = Literal::now(name("on"), [Term::Variable(3), Term::Variable(3)]);
        assert!(itself.matches(&on("a", "a")));
        assert!(!itself.matches(&on("a", "b")));
    }

    #[test]
    fn atoms_that_cannot_be() {
        let p = |v| Literal::now(name("p"), [Term::Variable(v)]);
        assert_eq!(QuantifiedAtom::join([p(3), p(3)]).unwrap().variables(), 1);
        assert!(QuantifiedAtom::join([p(3).negated()]).is_none());
        assert!(QuantifiedAtom::join([Literal::now(name("p"), [])]).is_none());
        let counted =
            |k| QuantifiedAtom::new(Quantifier::AtLeast(k), name("p"), [Term::Variable(0)]);
        assert!(counted(0).is_none());
        let once = QuantifiedAtom::once(name("p"), [Term::Variable(4)]);
        assert_eq!(counted(1), Some(once));
        assert!(QuantifiedAtom::new(Quantifier::Exists, name("p"), []).is_none());
    }
}
