//! Name resolution while a formula is read: which words are variables, and which are constants.

use std::collections::{HashMap, HashSet};

use super::atom::Term;
use super::identifier::Name;
use crate::error::{Fault, Parsed, Span, shortened};

/// The variables that one quantifier binds, in order.
#[derive(Default)]
pub struct Binder<'a> {
    /// The number of each variable, its place, and whether it has occurred.
    variables: HashMap<&'a str, (u32, Span, bool)>,
}

impl Binder<'_> {
    /// Whether it binds no variable yet.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// The first variable that has not occurred, and its place.
    pub fn unused(&self) -> Option<(&str, &Span)> {
        (self.variables.iter().filter(|(_, (_, _, used))| !used))
            .min_by_key(|(_, (number, ..))| *number)
            .map(|(word, (_, at, _))| (*word, at))
    }
}

/// All variables and constants of a formula.
#[derive(Default)]
pub struct Names<'a> {
    variables: HashSet<&'a str>,
    /// Where each constant was first written.
    constants: HashMap<&'a str, Span>,
}

impl<'a> Names<'a> {
    /// Binds a variable.
    pub fn bind(&mut self, binder: &mut Binder<'a>, word: &'a str, at: Span) -> Parsed<()> {
        if binder.variables.contains_key(word) {
            return Err(Fault::new(
                at,
                format!("`{}` is bound twice", shortened(word)),
            ));
        }
        let number = binder.variables.len() as u32;
        binder.variables.insert(word, (number, at, false));
        self.variables.insert(word);
        Ok(())
    }

    /// An argument of the atom in the quantifier's scope.
    pub fn term(&mut self, binder: &mut Binder<'a>, word: &'a str, at: Span) -> Parsed<Term> {
        if let Some((number, _, used)) = binder.variables.get_mut(word) {
            *used = true;
            return Ok(Term::Variable(*number));
        }
        self.constant(word, at).map(Term::Constant)
    }

    /// An argument of a ground atom.
    pub fn constant(&mut self, word: &'a str, at: Span) -> Parsed<Name> {
        let constant = name(word, &at)?;
        self.constants.entry(word).or_insert(at);
        Ok(constant)
    }

    /// The first constant with the name of a variable, and its place: in `exists X. p(X) and q(X)` no quantifier binds the
    /// second `X`.
    pub fn stray(&self) -> Option<(&'a str, &Span)> {
        (self.constants.iter())
            .filter(|(word, _)| self.variables.contains(**word))
            .min_by_key(|(_, at)| at.start)
            .map(|(word, at)| (*word, at))
    }
}

/// Checks that a word is a name.
pub fn name(word: &str, at: &Span) -> Parsed<Name> {
    Name::new(word).map_err(|error| Fault::new(at.clone(), error.to_string()))
}
