//! The parser of formulae: operator precedence with an explicit stack, linear in the text, never recursive.
//!
//! ```text
//! formula    ::= formula `or` formula | formula `and` formula | `not` formula | `(` formula `)` | `true` | atom
//! atom       ::= [`once`] ground | `exists` variables `.` scope | (`forall` | `atleast` number) variables `.` ground
//! scope      ::= [`once`] ground | `(` literal {`and` literal} `)`
//! literal    ::= [`not`] [`once`] ground
//! variables  ::= variable {[`,`] variable}
//! ground     ::= name [`(` name {`,` name} `)`]
//! ```
//! `not` binds tighter than `and`, `and` tighter than `or`; the scope of a quantifier is one atom or what its parentheses enclose.
//! `once` and `atleast` are names wherever a name makes sense: `once(a)` is an atom of a predicate called `once`.

use std::str::FromStr;

use super::atom::{Atom, GroundAtom, Literal, QuantifiedAtom, Quantifier, Term};
use super::formula::{Formula, Node};
use super::identifier::Name;
use super::lexer::{Lexer, Token};
use super::names::{Binder, Names, name};
use crate::error::{Error, Fault, Parsed, Result, Span};

/// A word between the parentheses of an atom and its place.
type Argument<'a> = (&'a str, Span);

/// Parses a formula; a mistake has its place in the text.
pub fn formula(text: &str) -> Parsed<Formula> {
    Parser::new(text).formula()
}

impl FromStr for Formula {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        formula(text).map_err(|fault| fault.located(text))
    }
}

impl FromStr for GroundAtom {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Parser::new(text)
            .lone_atom()
            .map_err(|fault| fault.located(text))
    }
}

/// An operator on the stack that waits for its operands.
enum Pending {
    Parenthesis(Span),
    Not,
    /// The number of `and`s so far.
    And(u32),
    /// The number of `or`s so far.
    Or(u32),
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    at: Span,
    nodes: Vec<Node>,
    pending: Vec<Pending>,
    names: Names<'a>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let mut lexer = Lexer::new(text);
        let (token, at) = lexer.next();
        Self {
            lexer,
            token,
            at,
            nodes: Vec::new(),
            pending: Vec::new(),
            names: Names::default(),
        }
    }

    fn formula(mut self) -> Parsed<Formula> {
        loop {
            self.operand()?;
            if !self.operator()? {
                break;
            }
        }
        self.no_stray_variables()?;
        Ok(Formula::from_postfix(self.nodes))
    }

    /// Reads one operand, with the negations and opening parentheses before it.
    fn operand(&mut self) -> Parsed<()> {
        loop {
            match self.token {
                Token::Not => self.pending.push(Pending::Not),
                Token::Open => self.pending.push(Pending::Parenthesis(self.at.clone())),
                Token::True => {
                    self.nodes.push(Node::True);
                    self.advance();
                    return Ok(());
                }
                Token::Quantifier(quantifier) => {
                    let atom = self.quantified_atom(quantifier)?;
                    self.nodes.push(Node::Atom(atom.into()));
                    return Ok(());
                }
                Token::Word("atleast") if self.is_prefix() => {
                    let atom = self.quantified_atom(Quantifier::AtLeast(0))?;
                    self.nodes.push(Node::Atom(atom.into()));
                    return Ok(());
                }
                Token::Word("false") => {
                    return Err(self.fault("there is no `false`: write `not true`"));
                }
                Token::Word(_) | Token::Once => {
                    let atom = self.unquantified_atom()?;
                    self.nodes.push(Node::Atom(atom));
                    return Ok(());
                }
                _ => return Err(self.expected("an atom, `true`, `not`, `exists`, `forall` or `(`")),
            }
            self.advance();
        }
    }

    /// Reads the closing parentheses and the operator after an operand; `false` at the end of the text.
    fn operator(&mut self) -> Parsed<bool> {
        loop {
            self.reduce_negations();
            match self.token {
                Token::And => {
                    if let Some(Pending::And(seen)) = self.pending.last_mut() {
                        *seen += 1;
                    } else {
                        self.pending.push(Pending::And(1));
                    }
                }
                Token::Or => {
                    self.reduce_conjunction();
                    if let Some(Pending::Or(seen)) = self.pending.last_mut() {
                        *seen += 1;
                    } else {
                        self.pending.push(Pending::Or(1));
                    }
                }
                Token::Close => {
                    self.reduce_joins();
                    match self.pending.pop() {
                        Some(Pending::Parenthesis(_)) => {
                            self.advance();
                            continue;
                        }
                        _ => return Err(self.fault("this `)` closes nothing")),
                    }
                }
                Token::End => {
                    self.reduce_joins();
                    return match self.pending.pop() {
                        Some(Pending::Parenthesis(at)) => {
                            Err(Fault::new(at, "this `(` is never closed"))
                        }
                        _ => Ok(false),
                    };
                }
                _ => return Err(self.expected("`and`, `or` or the end of the formula")),
            }
            self.advance();
            return Ok(true);
        }
    }

    fn reduce_negations(&mut self) {
        while let Some(Pending::Not) = self.pending.last() {
            self.pending.pop();
            self.nodes.push(Node::Not);
        }
    }

    fn reduce_conjunction(&mut self) {
        if let Some(Pending::And(seen)) = self.pending.last() {
            self.nodes.push(Node::And(seen + 1));
            self.pending.pop();
        }
    }

    fn reduce_joins(&mut self) {
        self.reduce_conjunction();
        if let Some(Pending::Or(seen)) = self.pending.last() {
            self.nodes.push(Node::Or(seen + 1));
            self.pending.pop();
        }
    }

    /// Whether the word `once` or `atleast` stands before what it is about: otherwise it is a name.
    fn is_prefix(&self) -> bool {
        let follows = self.lexer.peek();
        !matches!(
            follows,
            Token::And
                | Token::Or
                | Token::Open
                | Token::Close
                | Token::Comma
                | Token::Dot
                | Token::End
        ) && !matches!(follows, Token::Unknown(_))
    }

    /// Skips a `once`, if there is one before an atom.
    fn once(&mut self) -> Parsed<bool> {
        let once = match self.token {
            Token::Once => true,
            Token::Word("once") => self.is_prefix(),
            _ => false,
        };
        if once {
            self.advance();
            if !matches!(self.token, Token::Word(_)) {
                return Err(self.expected("the atom that `once` is about"));
            }
        }
        Ok(once)
    }

    /// `p(o)` or `once p(o)`.
    fn unquantified_atom(&mut self) -> Parsed<Atom> {
        let once = self.once()?;
        let (predicate, arguments) = self.application()?;
        let constants: Vec<Name> = (arguments.into_iter())
            .map(|(word, at)| self.names.constant(word, at))
            .collect::<Parsed<_>>()?;
        Ok(match once {
            true => {
                QuantifiedAtom::once(predicate, constants.into_iter().map(Term::Constant)).into()
            }
            false => GroundAtom::new(predicate, constants).into(),
        })
    }

    fn quantified_atom(&mut self, quantifier: Quantifier) -> Parsed<QuantifiedAtom> {
        let counts = matches!(quantifier, Quantifier::AtLeast(_))
            || quantifier == Quantifier::Exists && self.lexer.peek() == Token::AtLeast;
        let mut word = self.token.describe();
        self.advance();
        if self.token == Token::AtLeast {
            self.advance();
        }
        let quantifier = match counts {
            true => {
                word = "`atleast`".to_owned();
                Quantifier::AtLeast(self.count()?)
            }
            false => quantifier,
        };
        let mut binder = self.variables(&word)?;
        let atom = match quantifier {
            Quantifier::Exists if self.token == Token::Open => self.join(&mut binder)?,
            Quantifier::Exists => {
                let literal = self.literal(&mut binder, &word)?;
                QuantifiedAtom::join([literal])
            }
            _ => {
                if self.token == Token::Open {
                    let problem = format!(
                        "{word} is about one atom: only `exists` takes literals in parentheses"
                    );
                    return Err(self.fault(&problem));
                }
                let at = self.at.clone();
                let literal = self.literal(&mut binder, &word)?;
                if literal.once {
                    let problem =
                        format!("{word} looks at the whole window by itself: leave out the `once`");
                    return Err(Fault::new(at, problem));
                }
                QuantifiedAtom::new(quantifier, literal.predicate, literal.terms)
            }
        };
        if let Some((variable, at)) = binder.unused() {
            let problem =
                format!("the variable `{variable}` does not occur in the atom after the `.`");
            return Err(Fault::new(at.clone(), problem));
        }
        Ok(atom.expect("every variable occurs, and there is one, and a positive literal"))
    }

    /// The number after `atleast`.
    fn count(&mut self) -> Parsed<u32> {
        let Token::Word(digits) = self.token else {
            return Err(self.expected("a number after `atleast`"));
        };
        if !digits.chars().all(|c| c.is_ascii_digit()) {
            return Err(self.expected("a number after `atleast`"));
        }
        let count = match digits.parse() {
            Ok(0) => return Err(self.fault("at least 0 always holds: write `true`")),
            Ok(count) => count,
            Err(_) => return Err(self.fault("this number is too large")),
        };
        self.advance();
        Ok(count)
    }

    /// The variables of a quantifier and its `.`.
    fn variables(&mut self, word: &str) -> Parsed<Binder<'a>> {
        let mut binder = Binder::default();
        loop {
            match self.token {
                Token::Word(variable) => {
                    self.names.bind(&mut binder, variable, self.at.clone())?;
                    self.advance();
                    if self.token == Token::Comma {
                        self.advance();
                        if self.token == Token::Dot {
                            return Err(self.expected("a variable after `,`"));
                        }
                    }
                }
                Token::Dot if !binder.is_empty() => break,
                _ if binder.is_empty() => {
                    return Err(self.expected(&format!("a variable after {word}")));
                }
                _ => return Err(self.expected(&format!("another variable or the `.` of {word}"))),
            }
        }
        self.advance();
        Ok(binder)
    }

    /// `[once] p(t…)` in the scope of a quantifier.
    fn literal(&mut self, binder: &mut Binder<'a>, word: &str) -> Parsed<Literal> {
        let once = self.once()?;
        if !matches!(self.token, Token::Word(_)) {
            return Err(self.expected(&format!("the atom that {word} is about")));
        }
        let (predicate, arguments) = self.application()?;
        let terms: Vec<Term> = (arguments.into_iter())
            .map(|(word, at)| self.names.term(binder, word, at))
            .collect::<Parsed<_>>()?;
        Ok(Literal {
            once,
            ..Literal::now(predicate, terms)
        })
    }

    /// `(literal and …)`.
    fn join(&mut self, binder: &mut Binder<'a>) -> Parsed<Option<QuantifiedAtom>> {
        let start = self.at.start;
        let mut literals: Vec<Literal> = Vec::new();
        loop {
            self.advance();
            let mut negated = false;
            while self.token == Token::Not {
                negated = !negated;
                self.advance();
            }
            if !matches!(self.token, Token::Word(_) | Token::Once) {
                return Err(
                    self.expected("a literal, `[not] [once] p(X)`, in the parentheses of `exists`")
                );
            }
            let literal = self.literal(binder, "`exists`")?;
            literals.push(Literal { negated, ..literal });
            match self.token {
                Token::And => {}
                Token::Close => break,
                Token::Or => {
                    let problem = "the parentheses of `exists` take literals joined by `and`: write `or` between two `exists`";
                    return Err(self.fault(problem));
                }
                _ => return Err(self.expected("`and` or the `)` of `exists`")),
            }
        }
        let at = start..self.at.end;
        self.advance();
        if literals.iter().all(|literal| literal.negated) {
            let problem =
                "one literal here must be without `not`: nothing says which objects to look for";
            return Err(Fault::new(at, problem));
        }
        Ok(QuantifiedAtom::join(literals))
    }

    /// `p` or `p(w, …)`: the predicate and its arguments with their places.
    fn application(&mut self) -> Parsed<(Name, Vec<Argument<'a>>)> {
        let Token::Word(predicate) = self.token else {
            return Err(self.expected("an atom"));
        };
        let predicate = name(predicate, &self.at)?;
        self.advance();
        let mut arguments = Vec::new();
        if self.token == Token::Open {
            loop {
                self.advance();
                if self.token == Token::Close && arguments.is_empty() {
                    let problem = format!("`{predicate}()` has no arguments: write `{predicate}`");
                    return Err(self.fault(&problem));
                }
                let Token::Word(argument) = self.token else {
                    return Err(self.expected("a constant or a variable"));
                };
                arguments.push((argument, self.at.clone()));
                self.advance();
                match self.token {
                    Token::Comma => {}
                    Token::Close => break,
                    _ => return Err(self.expected("`,` or `)`")),
                }
            }
            self.advance();
        }
        Ok((predicate, arguments))
    }

    /// A text that is one ground atom.
    fn lone_atom(mut self) -> Parsed<GroundAtom> {
        if !matches!(self.token, Token::Word(_)) {
            return Err(self.expected("a ground atom"));
        }
        let (predicate, arguments) = self.application()?;
        if self.token != Token::End {
            return Err(self.expected("the end of the atom"));
        }
        let constants: Vec<Name> = (arguments.iter())
            .map(|(word, at)| name(word, at))
            .collect::<Parsed<_>>()?;
        Ok(GroundAtom::new(predicate, constants))
    }

    fn no_stray_variables(&self) -> Parsed<()> {
        match self.names.stray() {
            None => Ok(()),
            Some((word, at)) => Err(Fault::new(
                at.clone(),
                format!(
                    "`{word}` is a variable elsewhere in this formula, but no quantifier binds it here: the scope of a quantifier is one atom, or what its parentheses enclose, as in `exists X. (p(X) and q(X))`"
                ),
            )),
        }
    }

    fn advance(&mut self) {
        (self.token, self.at) = self.lexer.next();
    }

    fn fault(&self, problem: &str) -> Fault {
        Fault::new(self.at.clone(), problem)
    }

    fn expected(&self, what: &str) -> Fault {
        self.fault(&format!("expected {what}, found {}", self.token.describe()))
    }
}
