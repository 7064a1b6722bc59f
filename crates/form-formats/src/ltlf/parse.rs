//! The parser of LTLf formulae: operator precedence with an explicit stack, linear in the text, never recursive.
//!
//! From the tightest: `!` and the unary operators `X WX F G Y O H`; `U R W S`, to the right; `&`; `|`; `->`, to the right; `<->`. A word
//! of operator letters alone, as `XF`, is these operators in a row. Atoms are those of machines.

use form_core::Atom;
use form_core::syntax::{self, Fault, Parsed, Span, is_name_char, shortened};

use super::formula::{Formula, Node, Tense};

/// The maximum number of operators and atoms.
const MOST_NODES: usize = 10_000;

#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    /// An operator without a left operand.
    Unary(Node),
    Binary(Binary),
    Open,
    Close,
    Word(&'a str),
    Quantifier,
    Unknown(char),
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binary {
    Iff,
    Implies,
    Or,
    And,
    Until,
    Release,
    WeakUntil,
    Since,
}

impl Binary {
    /// Tighter ones are greater.
    fn strength(self) -> u8 {
        match self {
            Self::Iff => 0,
            Self::Implies => 1,
            Self::Or => 2,
            Self::And => 3,
            Self::Until | Self::Release | Self::WeakUntil | Self::Since => 4,
        }
    }

    fn is_right_associative(self) -> bool {
        matches!(self.strength(), 1 | 4)
    }
}

/// An operator that waits for its right operand.
enum Pending {
    Parenthesis,
    Unary(Node),
    /// With the place in the postfix order where its left operand starts.
    Binary(Binary, usize),
}

/// Parses a formula; a mistake has its place in the text.
pub(super) fn parse(text: &str) -> Parsed<Formula> {
    let mut parser = Parser {
        lexer: Lexer { text, at: 0 },
        nodes: Vec::new(),
        pending: Vec::new(),
        starts: Vec::new(),
    };
    loop {
        parser.operand()?;
        if !parser.operator()? {
            break;
        }
    }
    let formula = Formula {
        nodes: parser.nodes,
    };
    past_is_about_the_past(&formula)?;
    Ok(formula)
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    nodes: Vec<(Node, Span)>,
    pending: Vec<(Pending, Span)>,
    /// Where each complete operand that waits for its operator starts in the postfix order.
    starts: Vec<usize>,
}

impl Parser<'_> {
    /// Reads one operand, with the unary operators and opening parentheses before it.
    fn operand(&mut self) -> Parsed<()> {
        loop {
            let before = self.lexer.at;
            let (token, at) = self.lexer.next();
            let node = match token {
                Token::Unary(node @ (Node::True | Node::False)) => node,
                Token::Unary(node) => {
                    self.pending.push((Pending::Unary(node), at));
                    continue;
                }
                Token::Open => {
                    self.pending.push((Pending::Parenthesis, at));
                    continue;
                }
                Token::Word("last") => {
                    // There is no next step.
                    let start = self.nodes.len();
                    self.push(Node::False, &at)?;
                    self.push(Node::WeakNext, &at)?;
                    self.starts.push(start);
                    return Ok(());
                }
                Token::Word("start") => {
                    // There is no step before.
                    let start = self.nodes.len();
                    self.push(Node::True, &at)?;
                    self.push(Node::Yesterday, &at)?;
                    self.push(Node::Not, &at)?;
                    self.starts.push(start);
                    return Ok(());
                }
                Token::Word(_) | Token::Quantifier => {
                    self.lexer.at = before;
                    Node::Atom(self.lexer.atom()?)
                }
                other => {
                    let problem = format!(
                        "expected an atom, `true`, `false`, `(`, `!` or one of the operators `X WX F G Y O H`, found {}",
                        describe(&other)
                    );
                    return Err(Fault::new(at, problem));
                }
            };
            self.starts.push(self.nodes.len());
            self.push(node, &at)?;
            return Ok(());
        }
    }

    /// Reads a binary operator after an operand, with the closing parentheses before it; `false` at the end.
    fn operator(&mut self) -> Parsed<bool> {
        loop {
            let (token, at) = self.lexer.next();
            match token {
                Token::Binary(operator) => {
                    self.reduce(Some(operator))?;
                    let start = self.starts.pop().unwrap_or_default();
                    self.pending.push((Pending::Binary(operator, start), at));
                    return Ok(true);
                }
                Token::Close => {
                    self.reduce(None)?;
                    if self.pending.pop().is_none() {
                        return Err(Fault::new(at, "this `)` closes nothing"));
                    }
                }
                Token::End => {
                    self.reduce(None)?;
                    return match self.pending.pop() {
                        None => Ok(false),
                        Some((_, open)) => Err(Fault::new(open, "this `(` is not closed")),
                    };
                }
                other => {
                    let problem = format!(
                        "expected `&`, `|`, `->`, `<->`, `U`, `R`, `W`, `S`, `)` or the end, found {}",
                        describe(&other)
                    );
                    return Err(Fault::new(at, problem));
                }
            }
        }
    }

    /// Completes the operators that bind the operand just read tighter than `next`, up to the innermost parenthesis.
    fn reduce(&mut self, next: Option<Binary>) -> Parsed<()> {
        loop {
            let binds = match self.pending.last() {
                None | Some((Pending::Parenthesis, _)) => false,
                Some((Pending::Unary(_), _)) => true,
                Some((Pending::Binary(operator, _), _)) => next.is_none_or(|next| {
                    operator.strength() > next.strength()
                        || operator.strength() == next.strength() && !next.is_right_associative()
                }),
            };
            if !binds {
                return Ok(());
            }
            match self.pending.pop() {
                Some((Pending::Unary(node), at)) => self.push(node, &at)?,
                Some((Pending::Binary(operator, left), at)) => {
                    let right = self.starts.pop().unwrap_or_default();
                    self.binary(operator, left, right, &at)?;
                    self.starts.push(left);
                }
                _ => return Ok(()),
            }
        }
    }

    fn binary(&mut self, operator: Binary, left: usize, right: usize, at: &Span) -> Parsed<()> {
        let node = match operator {
            Binary::Iff => Node::Iff,
            Binary::Implies => Node::Implies,
            Binary::Or => Node::Or,
            Binary::And => Node::And,
            Binary::Until => Node::Until,
            Binary::Release => Node::Release,
            Binary::Since => Node::Since,
            Binary::WeakUntil => {
                // a W b is b R (a | b).
                let one: Vec<(Node, Span)> = self.nodes[left..right].to_vec();
                let other: Vec<(Node, Span)> = self.nodes.drain(right..).collect();
                self.nodes.truncate(left);
                for (node, at) in other.iter().chain(&one).chain(&other) {
                    self.push(node.clone(), at)?;
                }
                self.push(Node::Or, at)?;
                Node::Release
            }
        };
        self.push(node, at)
    }

    fn push(&mut self, node: Node, at: &Span) -> Parsed<()> {
        if self.nodes.len() == MOST_NODES {
            let problem = format!("more than {MOST_NODES} operators and atoms, the limit");
            return Err(Fault::new(at.clone(), problem));
        }
        self.nodes.push((node, at.clone()));
        Ok(())
    }
}

/// Refuses a future operator under one about the past: what was, cannot depend on what will be.
fn past_is_about_the_past(formula: &Formula) -> Parsed<()> {
    // Whether each complete operand has a future operator.
    let mut future: Vec<bool> = Vec::new();
    for (node, at) in &formula.nodes {
        let operands = future.split_off(future.len() - node.operands());
        let has_future = operands.contains(&true);
        if node.tense() == Tense::Past && has_future {
            let problem = "a past operator may have no future operator under it";
            return Err(Fault::new(at.clone(), problem));
        }
        future.push(has_future || node.tense() == Tense::Future);
    }
    Ok(())
}

fn describe(token: &Token<'_>) -> String {
    match token {
        Token::Unary(node) => format!("`{}`", unary(node)),
        Token::Binary(operator) => format!("the operator `{}`", written(*operator)),
        Token::Open => "`(`".to_owned(),
        Token::Close => "`)`".to_owned(),
        Token::Word(word) => format!("`{}`", shortened(word)),
        Token::Quantifier => "a quantifier".to_owned(),
        Token::Unknown(c) if c.is_control() => format!("the character U+{:04X}", *c as u32),
        Token::Unknown(c) => format!("`{c}`"),
        Token::End => "the end".to_owned(),
    }
}

fn unary(node: &Node) -> &'static str {
    match node {
        Node::True => "true",
        Node::False => "false",
        Node::Next => "X",
        Node::WeakNext => "WX",
        Node::Finally => "F",
        Node::Globally => "G",
        Node::Yesterday => "Y",
        Node::Once => "O",
        Node::Historically => "H",
        _ => "!",
    }
}

fn written(operator: Binary) -> &'static str {
    match operator {
        Binary::Iff => "<->",
        Binary::Implies => "->",
        Binary::Or => "|",
        Binary::And => "&",
        Binary::Until => "U",
        Binary::Release => "R",
        Binary::WeakUntil => "W",
        Binary::Since => "S",
    }
}

/// Reads tokens one at a time. `#` starts a comment.
struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> (Token<'a>, Span) {
        self.skip();
        let rest = &self.text[self.at..];
        let start = self.at;
        let Some(first) = rest.chars().next() else {
            let end = self.text.trim_end().len();
            return (Token::End, end..self.text.len());
        };
        let symbol = SYMBOLS.iter().find(|(text, _)| rest.starts_with(text));
        let (token, length) = if let Some((text, token)) = symbol {
            (token.clone(), text.len())
        } else if is_name_char(first) {
            let length = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
            word(&rest[..length])
        } else {
            (Token::Unknown(first), first.len_utf8())
        };
        self.at += length;
        (token, start..self.at)
    }

    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            if !self.text[self.at..].starts_with('#') {
                return;
            }
            let rest = &self.text[self.at..];
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// An atom of machines: `p`, `p(o)` or `exists X. p(X)`.
    fn atom(&mut self) -> Parsed<Atom> {
        self.skip();
        let start = self.at;
        let rest = &self.text[start..];
        let is_quantified = matches!(self.next(), (Token::Quantifier, _));
        let mut length = self.at - start;
        if is_quantified {
            // Its variables end at the dot.
            let dot = rest.find('.').map_or(rest.len(), |dot| dot + 1);
            let after = &rest[dot..];
            let name = after.len() - after.trim_start().len();
            length = dot + name;
            length += rest[length..]
                .find(|c| !is_name_char(c))
                .unwrap_or(rest.len() - length);
        }
        // The arguments, if there are any.
        let after = &rest[length..];
        if after.trim_start().starts_with('(') {
            length += after.find(')').map_or(after.len(), |close| close + 1);
        }
        self.at = start + length;
        let formula = syntax::formula(&rest[..length]).map_err(|fault| fault.shifted(start))?;
        let mut atoms = formula.atoms();
        match (atoms.next(), formula.nodes().len()) {
            (Some(Atom::Quantified(quantified)), 1)
                if quantified.literals().iter().any(|literal| literal.once) =>
            {
                let problem = match quantified.quantifier() {
                    form_core::Quantifier::Forall => {
                        "`forall` looks at several steps: write `O p(a) & O p(b)`, or `F` of each"
                    }
                    _ => "this atom looks at several steps: write `O p(a)`, or `F` of it",
                };
                Err(Fault::new(start..self.at, problem))
            }
            (Some(atom), 1) => Ok(atom.clone()),
            _ => Err(Fault::new(start..self.at, "expected an atom")),
        }
    }
}

/// The operators that are not words; longer ones before their beginnings.
const SYMBOLS: [(&str, Token<'static>); 24] = [
    ("<->", Token::Binary(Binary::Iff)),
    ("<=>", Token::Binary(Binary::Iff)),
    ("↔", Token::Binary(Binary::Iff)),
    ("->", Token::Binary(Binary::Implies)),
    ("=>", Token::Binary(Binary::Implies)),
    ("→", Token::Binary(Binary::Implies)),
    ("||", Token::Binary(Binary::Or)),
    ("|", Token::Binary(Binary::Or)),
    ("∨", Token::Binary(Binary::Or)),
    ("&&", Token::Binary(Binary::And)),
    ("&", Token::Binary(Binary::And)),
    ("∧", Token::Binary(Binary::And)),
    ("!", Token::Unary(Node::Not)),
    ("~", Token::Unary(Node::Not)),
    ("¬", Token::Unary(Node::Not)),
    ("⊤", Token::Unary(Node::True)),
    ("⊥", Token::Unary(Node::False)),
    ("(", Token::Open),
    (")", Token::Close),
    ("∃", Token::Quantifier),
    ("∀", Token::Quantifier),
    ("◇", Token::Unary(Node::Finally)),
    ("□", Token::Unary(Node::Globally)),
    ("○", Token::Unary(Node::Next)),
];

/// A word and the length of its first token: of operators in a row only the first one is taken.
fn word(text: &str) -> (Token<'_>, usize) {
    let token = match text {
        "true" => Token::Unary(Node::True),
        "false" => Token::Unary(Node::False),
        "not" => Token::Unary(Node::Not),
        "and" => Token::Binary(Binary::And),
        "or" => Token::Binary(Binary::Or),
        "exists" | "forall" => Token::Quantifier,
        "U" => Token::Binary(Binary::Until),
        "R" | "V" => Token::Binary(Binary::Release),
        "W" => Token::Binary(Binary::WeakUntil),
        "S" => Token::Binary(Binary::Since),
        _ => match operators(text) {
            Some((node, length)) => return (Token::Unary(node), length),
            None => Token::Word(text),
        },
    };
    (token, text.len())
}

/// The first of unary operators in a row, and its length, if a word consists of them.
fn operators(text: &str) -> Option<(Node, usize)> {
    let mut first = None;
    let mut rest = text;
    while !rest.is_empty() {
        let (node, length) = match rest.as_bytes() {
            [b'W', b'X', ..] => (Node::WeakNext, 2),
            [b'X', ..] => (Node::Next, 1),
            [b'F', ..] => (Node::Finally, 1),
            [b'G', ..] => (Node::Globally, 1),
            [b'Y', ..] => (Node::Yesterday, 1),
            [b'O', ..] => (Node::Once, 1),
            [b'H', ..] => (Node::Historically, 1),
            _ => return None,
        };
        first.get_or_insert((node, length));
        rest = &rest[length..];
    }
    first
}
