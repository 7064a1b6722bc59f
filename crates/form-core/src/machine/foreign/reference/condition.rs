//! Conditions of the reference code: literals joined by `;`, a quantifier's variables ended by a comma or a dot.
//!
//! The tokens are those of our own formulae; only their arrangement differs. Several variables and any number of
//! arguments are read as well, which the reference code cannot do itself.

use std::collections::{HashMap, HashSet};

use crate::error::{Fault, Parsed, Span};
use crate::logic::atom::{GroundAtom, Name, QuantifiedAtom, Quantifier, Term};
use crate::logic::formula::Formula;
use crate::logic::lexer::{Lexer, Token as Symbol};

/// Literals joined by `;`; none is `true`.
pub(super) fn condition(text: &str) -> Parsed<Formula> {
    if text.trim().is_empty() {
        return Ok(Formula::truth());
    }
    let mut reader = Condition::new(text);
    let mut literals = vec![reader.literal()?];
    while reader.token != Symbol::End {
        if reader.token != Symbol::Unknown(';') {
            return reader.expected("`;` or the end of the condition");
        }
        reader.advance();
        literals.push(reader.literal()?);
    }
    let stray = (reader.constants.iter()).find(|(word, _)| reader.variables.contains(*word));
    if let Some((word, at)) = stray {
        let problem =
            format!("`{word}` is a variable elsewhere in the condition, and not bound here");
        return Err(Fault::new(at.clone(), problem));
    }
    Ok(Formula::all(literals))
}

struct Condition<'a> {
    lexer: Lexer<'a>,
    token: Symbol<'a>,
    at: Span,
    variables: HashSet<&'a str>,
    /// In the order they are written.
    constants: Vec<(&'a str, Span)>,
}

impl<'a> Condition<'a> {
    fn new(text: &'a str) -> Self {
        let mut lexer = Lexer::new(text);
        let (token, at) = lexer.next();
        Self {
            lexer,
            token,
            at,
            variables: HashSet::new(),
            constants: Vec::new(),
        }
    }

    fn advance(&mut self) {
        (self.token, self.at) = self.lexer.next();
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        let problem = format!("expected {what}, found {}", self.token.describe());
        Err(Fault::new(self.at.clone(), problem))
    }

    fn literal(&mut self) -> Parsed<Formula> {
        let mut negative = false;
        while matches!(self.token, Symbol::Unknown('~') | Symbol::Not) {
            negative = !negative;
            self.advance();
        }
        let formula = match self.token {
            Symbol::Word(_) => self.application(None)?,
            Symbol::Quantifier(quantifier) => {
                self.advance();
                self.application(Some(quantifier))?
            }
            _ => return self.expected("an atom, `~`, `∃` or `∀`"),
        };
        Ok(if negative { formula.negated() } else { formula })
    }

    /// `p(o1)`, or `X0, X1, p(X0, X1)` after a quantifier.
    fn application(&mut self, quantifier: Option<Quantifier>) -> Parsed<Formula> {
        let mut variables: HashMap<&str, (u32, Span, bool)> = HashMap::new();
        let (predicate, at) = loop {
            let (word, at) = self.word("a variable or a predicate")?;
            if quantifier.is_none() || !matches!(self.token, Symbol::Comma | Symbol::Dot) {
                break (word, at);
            }
            self.advance();
            let number = variables.len() as u32;
            if variables
                .insert(word, (number, at.clone(), false))
                .is_some()
            {
                return Err(Fault::new(at, format!("`{word}` is bound twice")));
            }
            self.variables.insert(word);
        };
        if self.token != Symbol::Open && quantifier.is_none() {
            match predicate {
                "True" => return Ok(Formula::truth()),
                "False" => return Ok(Formula::falsehood()),
                _ => {}
            }
        }
        let predicate = checked_name(predicate, &at)?;
        let mut terms = Vec::new();
        if self.token == Symbol::Open {
            while terms.is_empty() || self.token == Symbol::Comma {
                self.advance();
                let (word, at) = self.word("an argument")?;
                if let Some((number, _, used)) = variables.get_mut(word) {
                    *used = true;
                    terms.push(Term::Variable(*number));
                } else {
                    terms.push(Term::Constant(checked_name(word, &at)?));
                    self.constants.push((word, at));
                }
            }
            if self.token != Symbol::Close {
                return self.expected("`,` or `)` after the argument");
            }
            self.advance();
        }
        let Some(quantifier) = quantifier else {
            let constants = terms.into_iter().filter_map(|term| match term {
                Term::Constant(constant) => Some(constant),
                Term::Variable(_) => None,
            });
            return Ok(Formula::atom(GroundAtom::new(predicate, constants)));
        };
        let unused = (variables.iter().filter(|(_, (_, _, used))| !used))
            .min_by_key(|(_, (number, ..))| *number);
        if let Some((variable, (_, at, _))) = unused {
            let problem = format!("the variable `{variable}` does not occur in the atom after it");
            return Err(Fault::new(at.clone(), problem));
        }
        QuantifiedAtom::new(quantifier, predicate, terms)
            .map(Formula::atom)
            .ok_or_else(|| Fault::new(at, "a quantifier needs a variable, as in `∃X0, p(X0)`"))
    }

    fn word(&mut self, what: &str) -> Parsed<(&'a str, Span)> {
        let Symbol::Word(word) = self.token else {
            return self.expected(what);
        };
        let at = self.at.clone();
        self.advance();
        Ok((word, at))
    }
}

fn checked_name(word: &str, at: &Span) -> Parsed<Name> {
    Name::new(word).map_err(|error| Fault::new(at.clone(), error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions() {
        for (text, expected) in [
            ("", "true"),
            ("True", "true"),
            ("~False", "true"),
            ("~∃X0, p(X0)", "not exists X. p(X)"),
            ("∀X0. p(X0) ; ~ q", "forall X. p(X) and not q"),
            ("∀X0,X1, on(X0,X1)", "forall X, Y. on(X, Y)"),
            (
                "∃X1, on(table, X1);on(a,b)",
                "exists X. on(table, X) and on(a, b)",
            ),
            ("~~a", "a"),
        ] {
            assert_eq!(condition(text).unwrap().to_string(), expected, "{text}");
        }
        for bad in [
            "a;",
            ";",
            "a b",
            "∃X0 p(X0)",
            "∃X0",
            "∃X0, goal",
            "∃X0,X0, p(X0)",
            "p(",
            "p()",
            "p(a",
            "((((",
            "a&b",
            "∃X0, p(X0);q(X0)",
            "and",
            "a\0",
            "~",
        ] {
            assert!(condition(bad).is_err(), "{bad}");
        }
    }
}
