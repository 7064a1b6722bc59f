//! The lexer: the text of a formula as tokens, in Unicode or ASCII notation.

use super::atom::Quantifier;
use super::identifier::is_name_char;
use crate::error::{Span, shortened};

/// A token of the formula language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Token<'a> {
    Word(&'a str),
    True,
    Not,
    And,
    Or,
    /// `exists` or `forall`; `atleast` is a word until a number follows.
    Quantifier(Quantifier),
    /// The `◆` of the Unicode notation; `once` is a word until an atom follows.
    Once,
    /// The `≥` of `∃≥2`.
    AtLeast,
    Open,
    Close,
    Comma,
    Dot,
    /// A character that is no part of the language.
    Unknown(char),
    End,
}

impl Token<'_> {
    /// The token as an error message names it.
    pub fn describe(self) -> String {
        match self {
            Self::Word(word) => format!("`{}`", shortened(word)),
            Self::True => "`true`".to_owned(),
            Self::Not => "`not`".to_owned(),
            Self::And => "`and`".to_owned(),
            Self::Or => "`or`".to_owned(),
            Self::Quantifier(Quantifier::Exists) => "`exists`".to_owned(),
            Self::Quantifier(Quantifier::Forall) => "`forall`".to_owned(),
            Self::Quantifier(Quantifier::AtLeast(_)) => "`atleast`".to_owned(),
            Self::Once => "`once`".to_owned(),
            Self::AtLeast => "`≥`".to_owned(),
            Self::Open => "`(`".to_owned(),
            Self::Close => "`)`".to_owned(),
            Self::Comma => "`,`".to_owned(),
            Self::Dot => "`.`".to_owned(),
            Self::Unknown(c) if c.is_control() => format!("the character U+{:04X}", c as u32),
            Self::Unknown(c) => format!("`{c}`"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Reads tokens one at a time.
#[derive(Clone)]
pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning of the text.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next token, which stays the next.
    pub fn peek(&self) -> Token<'a> {
        self.clone().next().0
    }

    /// The next token and its place; [`Token::End`] again and again after the last one.
    #[allow(
        clippy::should_implement_trait,
        reason = "the last token repeats, it is no iterator"
    )]
    pub fn next(&mut self) -> (Token<'a>, Span) {
        let rest = self.text[self.at..].trim_start();
        let start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            self.at = self.text.len();
            return (Token::End, self.text.trim_end().len()..self.text.len());
        };
        let (token, length) = if is_name_char(first) {
            let length = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
            (word(&rest[..length]), length)
        } else {
            let doubled = rest.starts_with("&&") || rest.starts_with("||");
            let length = first.len_utf8() + usize::from(doubled);
            (symbol(first), length)
        };
        self.at = start + length;
        (token, start..self.at)
    }
}

fn word(text: &str) -> Token<'_> {
    match text {
        "true" => Token::True,
        "not" => Token::Not,
        "and" => Token::And,
        "or" => Token::Or,
        "exists" => Token::Quantifier(Quantifier::Exists),
        "forall" => Token::Quantifier(Quantifier::Forall),
        _ => Token::Word(text),
    }
}

fn symbol(c: char) -> Token<'static> {
    match c {
        '⊤' => Token::True,
        '¬' | '!' => Token::Not,
        '∧' | '&' => Token::And,
        '∨' | '|' => Token::Or,
        '∃' => Token::Quantifier(Quantifier::Exists),
        '∀' => Token::Quantifier(Quantifier::Forall),
        '◆' => Token::Once,
        '≥' => Token::AtLeast,
        '(' => Token::Open,
        ')' => Token::Close,
        ',' => Token::Comma,
        '.' => Token::Dot,
        c => Token::Unknown(c),
    }
}
