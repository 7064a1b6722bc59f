//! The words of a formula while it is read: which are variables, and which are constants.

use std::collections::{HashMap, HashSet};

use super::atom::{Name, Term};
use crate::error::{Fault, Parsed, Span, shortened};

/// The variables of one quantifier, in the order they are bound.
#[derive(Default)]
pub(crate) struct Bound<'a> {
    /// The number of each, its place, and whether it has occurred.
    variables: HashMap<&'a str, (u32, Span, bool)>,
}

impl Bound<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// The first variable that has not occurred, and its place.
    pub(crate) fn unused(&self) -> Option<(&str, &Span)> {
        (self.variables.iter().filter(|(_, (_, _, used))| !used))
            .min_by_key(|(_, (number, ..))| *number)
            .map(|(word, (_, at, _))| (*word, at))
    }
}

/// All variables and constants of a formula.
#[derive(Default)]
pub(crate) struct Words<'a> {
    variables: HashSet<&'a str>,
    /// Where each constant was first written.
    constants: HashMap<&'a str, Span>,
}

impl<'a> Words<'a> {
    /// Another variable of a quantifier.
    pub(crate) fn bind(&mut self, bound: &mut Bound<'a>, word: &'a str, at: Span) -> Parsed<()> {
        if bound.variables.contains_key(word) {
            return Err(Fault::new(
                at,
                format!("`{}` is bound twice", shortened(word)),
            ));
        }
        let number = bound.variables.len() as u32;
        bound.variables.insert(word, (number, at, false));
        self.variables.insert(word);
        Ok(())
    }

    /// An argument of the atom that the quantifier governs.
    pub(crate) fn term(&mut self, bound: &mut Bound<'a>, word: &'a str, at: Span) -> Parsed<Term> {
        if let Some((number, _, used)) = bound.variables.get_mut(word) {
            *used = true;
            return Ok(Term::Variable(*number));
        }
        self.constant(word, at).map(Term::Constant)
    }

    /// An argument of a ground atom.
    pub(crate) fn constant(&mut self, word: &'a str, at: Span) -> Parsed<Name> {
        let constant = name(word, &at)?;
        self.constants.entry(word).or_insert(at);
        Ok(constant)
    }

    /// The first constant with the name of a variable, and its place: in `exists X. p(X) and q(X)` the second `X` would
    /// silently be one.
    pub(crate) fn stray(&self) -> Option<(&'a str, &Span)> {
        (self.constants.iter())
            .filter(|(word, _)| self.variables.contains(**word))
            .min_by_key(|(_, at)| at.start)
            .map(|(word, at)| (*word, at))
    }
}

/// The word as a name.
pub(crate) fn name(word: &str, at: &Span) -> Parsed<Name> {
    Name::new(word).map_err(|error| Fault::new(at.clone(), error.to_string()))
}
