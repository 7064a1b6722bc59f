//! Conditions of the reference code: literals joined by `;`, a quantifier's variables ended by a comma or a dot.
//!
//! The tokens are those of this project's formulae, in another arrangement. Several variables and any number of
//! arguments are read as well, which the reference code cannot do itself.

use form_core::syntax::{Binder, Fault, Lexer, Names, Parsed, Span, Token, name};
use form_core::{Formula, GroundAtom, Name, QuantifiedAtom, Quantifier, Term};

/// Literals joined by `;`; none is `true`.
pub(super) fn condition(text: &str) -> Parsed<Formula> {
    if text.trim().is_empty() {
        return Ok(Formula::truth());
    }
    let mut reader = Condition::new(text);
    let mut literals = vec![reader.literal()?];
    while reader.token != Token::End {
        if reader.token != Token::Unknown(';') {
            return reader.expected("`;` or the end of the condition");
        }
        reader.advance();
        literals.push(reader.literal()?);
    }
    if let Some((word, at)) = reader.names.stray() {
        let problem =
            format!("`{word}` is a variable elsewhere in the condition, and not bound here");
        return Err(Fault::new(at.clone(), problem));
    }
    Ok(Formula::all(literals))
}

struct Condition<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    at: Span,
    names: Names<'a>,
}

impl<'a> Condition<'a> {
    fn new(text: &'a str) -> Self {
        let mut lexer = Lexer::new(text);
        let (token, at) = lexer.next();
        Self {
            lexer,
            token,
            at,
            names: Names::default(),
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
        while matches!(self.token, Token::Unknown('~') | Token::Not) {
            negative = !negative;
            self.advance();
        }
        let formula = match self.token {
            Token::Word(_) => self.application(None)?,
            Token::Quantifier(quantifier) => {
                self.advance();
                self.application(Some(quantifier))?
            }
            _ => return self.expected("an atom, `~`, `∃` or `∀`"),
        };
        Ok(if negative { formula.negated() } else { formula })
    }

    /// `p(o1)`, or `X0, X1, p(X0, X1)` after a quantifier.
    fn application(&mut self, quantifier: Option<Quantifier>) -> Parsed<Formula> {
        let mut binder = Binder::default();
        let (predicate, at) = loop {
            let (word, at) = self.word("a variable or a predicate")?;
            if quantifier.is_none() || !matches!(self.token, Token::Comma | Token::Dot) {
                break (word, at);
            }
            self.advance();
            self.names.bind(&mut binder, word, at)?;
        };
        if self.token != Token::Open && quantifier.is_none() {
            match predicate {
                "True" => return Ok(Formula::truth()),
                "False" => return Ok(Formula::falsehood()),
                _ => {}
            }
        }
        let predicate = name(predicate, &at)?;
        let mut arguments = Vec::new();
        if self.token == Token::Open {
            while arguments.is_empty() || self.token == Token::Comma {
                self.advance();
                arguments.push(self.word("an argument")?);
            }
            if self.token != Token::Close {
                return self.expected("`,` or `)` after the argument");
            }
            self.advance();
        }
        let Some(quantifier) = quantifier else {
            let constants: Vec<Name> = (arguments.into_iter())
                .map(|(word, at)| self.names.constant(word, at))
                .collect::<Parsed<_>>()?;
            return Ok(Formula::atom(GroundAtom::new(predicate, constants)));
        };
        let terms: Vec<Term> = (arguments.into_iter())
            .map(|(word, at)| self.names.term(&mut binder, word, at))
            .collect::<Parsed<_>>()?;
        if let Some((variable, at)) = binder.unused() {
            let problem = format!("the variable `{variable}` does not occur in the atom after it");
            return Err(Fault::new(at.clone(), problem));
        }
        QuantifiedAtom::new(quantifier, predicate, terms)
            .map(Formula::atom)
            .ok_or_else(|| Fault::new(at, "a quantifier needs a variable, as in `∃X0, p(X0)`"))
    }

    fn word(&mut self, what: &str) -> Parsed<(&'a str, Span)> {
        let Token::Word(word) = self.token else {
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
