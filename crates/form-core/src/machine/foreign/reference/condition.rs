//! Conditions of the reference code: literals joined by `;`, a quantifier's variables ended by a comma or a dot.
//!
//! The tokens are those of our own formulae; only their arrangement differs. Several variables and any number of
//! arguments are read as well, which the reference code cannot do itself.

use crate::error::{Fault, Parsed, Span};
use crate::logic::atom::{GroundAtom, Name, QuantifiedAtom, Quantifier, Term};
use crate::logic::formula::Formula;
use crate::logic::lexer::{Lexer, Token as Symbol};
use crate::logic::words::{Bound, Words, name};

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
    if let Some((word, at)) = reader.words.stray() {
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
    words: Words<'a>,
}

impl<'a> Condition<'a> {
    fn new(text: &'a str) -> Self {
        let mut lexer = Lexer::new(text);
        let (token, at) = lexer.next();
        Self {
            lexer,
            token,
            at,
            words: Words::default(),
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
        let mut bound = Bound::default();
        let (predicate, at) = loop {
            let (word, at) = self.word("a variable or a predicate")?;
            if quantifier.is_none() || !matches!(self.token, Symbol::Comma | Symbol::Dot) {
                break (word, at);
            }
            self.advance();
            self.words.bind(&mut bound, word, at)?;
        };
        if self.token != Symbol::Open && quantifier.is_none() {
            match predicate {
                "True" => return Ok(Formula::truth()),
                "False" => return Ok(Formula::falsehood()),
                _ => {}
            }
        }
        let predicate = name(predicate, &at)?;
        let mut arguments = Vec::new();
        if self.token == Symbol::Open {
            while arguments.is_empty() || self.token == Symbol::Comma {
                self.advance();
                arguments.push(self.word("an argument")?);
            }
            if self.token != Symbol::Close {
                return self.expected("`,` or `)` after the argument");
            }
            self.advance();
        }
        let Some(quantifier) = quantifier else {
            let constants: Vec<Name> = (arguments.into_iter())
                .map(|(word, at)| self.words.constant(word, at))
                .collect::<Parsed<_>>()?;
            return Ok(Formula::atom(GroundAtom::new(predicate, constants)));
        };
        let terms: Vec<Term> = (arguments.into_iter())
            .map(|(word, at)| self.words.term(&mut bound, word, at))
            .collect::<Parsed<_>>()?;
        if let Some((variable, at)) = bound.unused() {
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
