//! Names, ground atoms and quantified atoms: the atomic formulae of Definition 3.1.
//!
//! A quantified atom stores its variables as numbers in order of first occurrence, so two atoms that differ only in
//! the names of their variables are equal, and printing chooses the names.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};

/// An identifier: the name of a predicate, a constant or a state.
///
/// Letters (of any script), digits and `_`; reserved words (`true`, `not`, …) are not names.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Name(Arc<str>);

/// The reserved words of the language.
pub(crate) const RESERVED: [&str; 7] = ["true", "false", "not", "and", "or", "exists", "forall"];

/// Whether a name may contain `c`.
pub fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Name {
    /// Checks that `text` is an identifier.
    pub fn new(text: &str) -> Result<Self> {
        if text.is_empty() || !text.chars().all(is_name_char) {
            return Err(Error::BadName {
                name: text.to_owned(),
                problem: "a name consists of letters, digits and `_`".to_owned(),
            });
        }
        if RESERVED.contains(&text) {
            return Err(Error::BadName {
                name: text.to_owned(),
                problem: "it is a reserved word".to_owned(),
            });
        }
        Ok(Self(text.into()))
    }

    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Natural order: runs of digits compare as numbers, so `o2` comes before `o10`.
impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        natural_order(&self.0, &other.0)
    }
}

fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (Some(x), Some(y)) = (left.chars().next(), right.chars().next()) else {
            return left.len().cmp(&right.len()).then_with(|| a.cmp(b));
        };
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let (number_x, rest_x) = split_number(left);
            let (number_y, rest_y) = split_number(right);
            let order = number_x
                .len()
                .cmp(&number_y.len())
                .then(number_x.cmp(number_y));
            if order != Ordering::Equal {
                return order;
            }
            (left, right) = (rest_x, rest_y);
        } else if x == y {
            (left, right) = (&left[x.len_utf8()..], &right[y.len_utf8()..]);
        } else {
            return x.cmp(&y);
        }
    }
}

/// The leading run of digits without its zeros, and what follows it.
fn split_number(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    (text[..end].trim_start_matches('0'), &text[end..])
}

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

/// `exists` or `forall`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantifier {
    /// Some instance is in the newest observation.
    Exists,
    /// Every instance of the signature has been seen since the state was entered.
    Forall,
}

/// An argument of a quantified atom.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term {
    /// A variable of the atom's own quantifier, numbered by first occurrence.
    Variable(u32),
    /// A constant.
    Constant(Name),
}

/// `exists X… . p(t…)` or `forall X… . p(t…)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuantifiedAtom {
    quantifier: Quantifier,
    predicate: Name,
    terms: Box<[Term]>,
    variables: u32,
}

impl QuantifiedAtom {
    /// Builds the atom, renumbering its variables by first occurrence.
    ///
    /// Returns `None` if no term is a variable: there would be nothing to quantify.
    pub fn new(
        quantifier: Quantifier,
        predicate: Name,
        terms: impl IntoIterator<Item = Term>,
    ) -> Option<Self> {
        let mut seen: Vec<u32> = Vec::new();
        let mut number_of = std::collections::HashMap::new();
        let terms: Box<[Term]> = terms
            .into_iter()
            .map(|term| match term {
                Term::Variable(v) => Term::Variable(*number_of.entry(v).or_insert_with(|| {
                    seen.push(v);
                    seen.len() as u32 - 1
                })),
                constant @ Term::Constant(_) => constant,
            })
            .collect();
        (!seen.is_empty()).then_some(Self {
            quantifier,
            predicate,
            terms,
            variables: seen.len() as u32,
        })
    }

    /// `exists` or `forall`.
    pub fn quantifier(&self) -> Quantifier {
        self.quantifier
    }

    /// The predicate's name.
    pub fn predicate(&self) -> &Name {
        &self.predicate
    }

    /// The arguments.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// How many different variables it has, at least one.
    pub fn variables(&self) -> u32 {
        self.variables
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
        if atom.predicate != self.predicate || atom.constants.len() != self.terms.len() {
            return false;
        }
        let mut value: Vec<Option<&Name>> = vec![None; self.variables as usize];
        self.terms
            .iter()
            .zip(&atom.constants)
            .all(|(term, c)| match term {
                Term::Constant(wanted) => wanted == c,
                Term::Variable(v) => *value[*v as usize].get_or_insert(c) == c,
            })
    }

    /// The instance in which variable `v` is `values[v]`.
    pub(crate) fn instance(&self, values: &[Name]) -> GroundAtom {
        GroundAtom::new(
            self.predicate.clone(),
            self.terms.iter().map(|term| match term {
                Term::Constant(c) => c.clone(),
                Term::Variable(v) => values[*v as usize].clone(),
            }),
        )
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
    /// The predicate's name.
    pub fn predicate(&self) -> &Name {
        match self {
            Self::Ground(atom) => atom.predicate(),
            Self::Quantified(atom) => atom.predicate(),
        }
    }

    /// How many arguments the predicate has.
    pub fn arity(&self) -> usize {
        match self {
            Self::Ground(atom) => atom.constants().len(),
            Self::Quantified(atom) => atom.terms().len(),
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
    fn names_sort_as_people_count() {
        let mut names: Vec<Name> = ["o10", "o2", "a", "o02", "o1x", "o1"].map(name).to_vec();
        names.sort();
        let texts: Vec<&str> = names.iter().map(Name::as_str).collect();
        assert_eq!(texts, ["a", "o1", "o1x", "o02", "o2", "o10"]);
    }

    #[test]
    fn reserved_and_malformed_names_are_refused() {
        for bad in ["", "true", "forall", "a b", "a-b", "p(", "<script>"] {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
        for good in ["u0", "12", "Größe", "_", "黄"] {
            assert!(Name::new(good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn instances_respect_constants_and_repeated_variables() {
        let on = |a: &str, b: &str| GroundAtom::new(name("on"), [name(a), name(b)]);
        let on_table = QuantifiedAtom::new(
            Quantifier::Exists,
            name("on"),
            [Term::Variable(7), Term::Constant(name("table"))],
        )
        .unwrap();
        assert!(on_table.matches(&on("a", "table")));
        assert!(!on_table.matches(&on("table", "a")));
        let itself = QuantifiedAtom::new(
            Quantifier::Exists,
            name("on"),
            [Term::Variable(3), Term::Variable(3)],
        )
        .unwrap();
        assert!(itself.matches(&on("a", "a")));
        assert!(!itself.matches(&on("a", "b")));
        assert_eq!(itself.variables(), 1);
        assert!(QuantifiedAtom::new(Quantifier::Exists, name("p"), []).is_none());
    }
}
