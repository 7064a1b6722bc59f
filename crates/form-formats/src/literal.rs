//! The lexer of the Python literals that the foreign formats consist of, one line at a time: strings, numbers, names and
//! punctuation, each with its place in the whole text. Escapes in strings and expressions are errors.

use form_core::syntax::{Fault, Parsed, Span, is_name_char, shortened};

/// The text without a byte-order mark.
pub(crate) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The lines that are neither blank nor comments, each with where it starts.
pub(crate) fn significant_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    let lines = text.split('\n').map(move |line| {
        let start = next;
        next += line.len() + 1;
        (start, line)
    });
    lines.filter(|(_, line)| !matches!(line.trim_start().chars().next(), None | Some('#')))
}

/// A token of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// The content between the quotes, and its place.
    Text(&'a str),
    Number(&'a str),
    Word(&'a str),
    Sign(char),
    /// The end of the line, or the comment that ends it.
    End,
}

impl Token<'_> {
    fn describe(self) -> String {
        match self {
            Self::Text(text) => format!("the string '{}'", shortened(text)),
            Self::Number(text) | Self::Word(text) => format!("`{}`", shortened(text)),
            Self::Sign(c) if c.is_control() => format!("the character U+{:04X}", c as u32),
            Self::Sign(c) => format!("`{c}`"),
            Self::End => "the end of the line".to_owned(),
        }
    }
}

/// Reads the tokens of one line, looking one ahead.
pub(crate) struct Line<'a> {
    line: &'a str,
    start: usize,
    at: usize,
    pub(crate) token: Token<'a>,
    pub(crate) span: Span,
}

impl<'a> Line<'a> {
    /// The tokens of `line`, which starts `start` bytes into the text.
    pub(crate) fn new((start, line): (usize, &'a str)) -> Parsed<Self> {
        let mut tokens = Self {
            line,
            start,
            at: 0,
            token: Token::End,
            span: start..start,
        };
        tokens.advance()?;
        Ok(tokens)
    }

    pub(crate) fn advance(&mut self) -> Parsed<()> {
        let rest = self.line[self.at..].trim_start();
        let from = self.line.len() - rest.len();
        let (token, length) = match rest.chars().next() {
            None | Some('#') => {
                self.at = self.line.len();
                let end = self.start + self.line[..from].trim_end().len();
                (self.token, self.span) = (Token::End, end..end);
                return Ok(());
            }
            Some(quote @ ('\'' | '"')) => return self.string(from, quote),
            Some(c) if c.is_ascii_digit() || (c == '.' && digit_follows(&rest[1..])) => {
                let length = number_length(rest);
                (Token::Number(&rest[..length]), length)
            }
            Some(c) if is_name_char(c) => {
                let length = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
                (Token::Word(&rest[..length]), length)
            }
            Some(c) => (Token::Sign(c), c.len_utf8()),
        };
        self.at = from + length;
        (self.token, self.span) = (token, self.start + from..self.start + self.at);
        Ok(())
    }

    fn string(&mut self, from: usize, quote: char) -> Parsed<()> {
        let inner = &self.line[from + 1..];
        let open = self.start + from;
        let stop = inner.find([quote, '\\']).ok_or_else(|| {
            let problem = format!("this {quote} is never closed on its line");
            Fault::new(open..open + 1, problem)
        })?;
        if inner[stop..].starts_with('\\') {
            let at = open + 1 + stop;
            return Err(Fault::new(
                at..at + 1,
                "escapes are not read: remove the `\\`",
            ));
        }
        self.at = from + 1 + stop + 1;
        self.token = Token::Text(&inner[..stop]);
        self.span = open + 1..open + 1 + stop;
        Ok(())
    }

    pub(crate) fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = self.token.describe();
        Err(Fault::new(
            self.span.clone(),
            format!("expected {what}, found {found}"),
        ))
    }

    /// Reads the punctuation `wanted`.
    pub(crate) fn sign(&mut self, wanted: char, after: &str) -> Parsed<()> {
        if self.token != Token::Sign(wanted) {
            return self.expected(&format!("`{wanted}` {after}"));
        }
        self.advance()
    }

    /// Reads a string.
    pub(crate) fn text(&mut self, what: &str) -> Parsed<(&'a str, Span)> {
        let Token::Text(text) = self.token else {
            return self.expected(what);
        };
        let span = self.span.clone();
        self.advance()?;
        Ok((text, span))
    }

    /// Reads an integer.
    pub(crate) fn integer(&mut self, what: &str) -> Parsed<(i64, Span)> {
        let (negative, start) = self.minus()?;
        let Token::Number(digits) = self.token else {
            return self.expected(what);
        };
        let span = start..self.span.end;
        let digits = digits.replace('_', "");
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return self.expected(what);
        }
        let value: i64 = (digits.parse())
            .map_err(|_| Fault::new(span.clone(), format!("{what} is out of range")))?;
        self.advance()?;
        Ok((if negative { -value } else { value }, span))
    }

    /// Reads a number.
    pub(crate) fn number(&mut self, what: &str) -> Parsed<(f64, Span)> {
        let (negative, start) = self.minus()?;
        let Token::Number(text) = self.token else {
            return self.expected(what);
        };
        let span = start..self.span.end;
        let Some(value) = python_number(text) else {
            return self.expected(what);
        };
        if !value.is_finite() {
            return Err(Fault::new(span, format!("{what} is out of range")));
        }
        self.advance()?;
        Ok((if negative { -value } else { value }, span))
    }

    /// Reads the signs before a number; whether they negate it, and where it starts.
    fn minus(&mut self) -> Parsed<(bool, usize)> {
        let start = self.span.start;
        let mut negative = false;
        while let Token::Sign(sign @ ('-' | '+')) = self.token {
            negative ^= sign == '-';
            self.advance()?;
        }
        Ok((negative, start))
    }

    /// Makes sure that nothing but a comment follows.
    pub(crate) fn end(&self, what: &str) -> Parsed<()> {
        match self.token {
            Token::End => Ok(()),
            _ => self.expected(&format!("the line to end after {what}")),
        }
    }
}

fn digit_follows(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_digit())
}

/// The length of the number that `text` starts with, as Python would split it off.
fn number_length(text: &str) -> usize {
    let radix =
        text.len() > 1 && matches!(text.as_bytes()[1], b'x' | b'X' | b'b' | b'B' | b'o' | b'O');
    let mut exponent = false;
    let end = text.find(|c: char| {
        let part = is_name_char(c) || c == '.' || (exponent && matches!(c, '+' | '-'));
        exponent = !radix && matches!(c, 'e' | 'E');
        !part
    });
    end.unwrap_or(text.len())
}

/// The value of a Python number, imaginary ones excepted.
fn python_number(text: &str) -> Option<f64> {
    if text.starts_with('_') || text.ends_with('_') || text.contains("__") {
        return None;
    }
    let text = text.replace('_', "").to_ascii_lowercase();
    let radix = match text.get(..2) {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        // Rust also reads words such as `inf`, but those do not start with a digit.
        _ => return text.parse().ok(),
    };
    let digits = text[2..].chars().map(|c| c.to_digit(radix).map(f64::from));
    let value = digits
        .into_iter()
        .try_fold(0.0, |value, digit| Some(value * f64::from(radix) + digit?))?;
    (text.len() > 2).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_pythons() {
        for (text, value) in [
            ("0", 0.0),
            ("-1", -1.0),
            ("+.5", 0.5),
            ("--2.", 2.0),
            ("1_000", 1000.0),
            ("1e-3", 0.001),
            ("-2.5E+2", -250.0),
            ("0x1F", 31.0),
            ("0b101", 5.0),
        ] {
            let mut line = Line::new((0, text)).unwrap();
            assert_eq!(line.number("a number").unwrap().0, value, "{text}");
            assert!(line.end("it").is_ok(), "{text}");
        }
        for text in [
            "1j", "0x", "1__0", "1.2.3", "inf", "'1'", "-", "1e999", "0xg", "１",
        ] {
            assert!(
                Line::new((0, text)).unwrap().number("a number").is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn places_are_those_of_the_whole_text() {
        let mut line = Line::new((10, " ('é', -7) # rest")).unwrap();
        line.sign('(', "first").unwrap();
        assert_eq!(line.text("a string").unwrap(), ("é", 13..15));
        line.sign(',', "then").unwrap();
        assert_eq!(line.integer("an integer").unwrap(), (-7, 18..20));
        line.sign(')', "last").unwrap();
        assert_eq!((line.token, line.span), (Token::End, 21..21));
    }
}
