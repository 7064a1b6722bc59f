//! The errors of the crate: what is wrong, where, and what to do about it.

use std::fmt;
use std::ops::Range;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text that does not follow its grammar, with the place and an excerpt.
    #[error("{0}")]
    Syntax(Box<Snippet>),

    /// A word that cannot be a name.
    #[error("`{}` is not a name: {problem}", shortened(name))]
    BadName {
        /// The word.
        name: String,
        /// Why not.
        problem: String,
    },

    /// An observation with an atom that the signature does not list.
    #[error("`{atom}` is not in the signature: {hint}")]
    UnknownAtom {
        /// The atom.
        atom: String,
        /// What the signature has instead.
        hint: String,
    },

    /// A formula about atoms that the signature does not list.
    #[error("`{atom}` cannot be observed: {problem}")]
    NotInSignature {
        /// The atom.
        atom: String,
        /// What is missing.
        problem: String,
    },

    /// An invalid machine: an unknown state, an edge out of a terminal state, ….
    #[error("{place}: {problem}")]
    Machine {
        /// The invalid part, as `edge 3 (u0 -> u9)` or `state 2 (u1)`.
        place: String,
        /// What is wrong with it.
        problem: String,
    },

    /// An error inside a part of something larger.
    #[error("{place}: {source}")]
    Within {
        /// The part, as `edge 3 (u0 -> u1)`.
        place: String,
        /// What is wrong with it.
        source: Box<Error>,
    },

    /// JSON that is malformed or of the wrong shape.
    #[error("{file}:{line}:{column}: {problem}")]
    Json {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        problem: String,
    },

    /// A file that cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The error of the system.
        source: std::io::Error,
    },

    /// Work that would exceed a limit.
    #[error("{what}: more than the limit of {limit}; {hint}")]
    Limit {
        /// What was counted.
        what: String,
        /// The maximum number.
        limit: usize,
        /// What to do instead.
        hint: String,
    },

    /// Machines or traces of which one counts every step and the other every change.
    #[error(
        "{what} has `steps {steps}`, but {other} has `steps {other_steps}`: both must count every step, or every change"
    )]
    MixedSteps {
        /// The first of them.
        what: String,
        /// What it counts: `all` or `changes`.
        steps: &'static str,
        /// The second.
        other: String,
        /// What that counts.
        other_steps: &'static str,
    },

    /// A conversion into a format that cannot express the machine.
    #[error("{place}: {problem}")]
    Inexpressible {
        /// The part that cannot be expressed.
        place: String,
        /// Why.
        problem: String,
    },
}

impl Error {
    /// Adds the name of the file, unless the error has one.
    #[must_use]
    pub fn in_file(self, name: &str) -> Self {
        match self {
            Self::Syntax(snippet) => Self::Syntax(Box::new(snippet.in_file(name))),
            Self::Json {
                file,
                line,
                column,
                problem,
            } if file.is_empty() => Self::Json {
                file: name.to_owned(),
                line,
                column,
                problem,
            },
            error @ (Self::Json { .. } | Self::Io { .. }) => error,
            other => other.within(name.to_owned()),
        }
    }

    /// Adds the part of something larger in which the error is.
    #[must_use]
    pub(crate) fn within(self, place: String) -> Self {
        Self::Within {
            place,
            source: Box::new(self),
        }
    }

    /// The file, if it is known.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Syntax(snippet) => snippet.file(),
            Self::Json { file, .. } => Some(file.as_str()).filter(|file| !file.is_empty()),
            Self::Io { path, .. } => Some(path),
            Self::Within { source, .. } => source.file(),
            _ => None,
        }
    }

    /// Line and column, from 1, if they are known.
    pub fn position(&self) -> Option<(usize, usize)> {
        match self {
            Self::Syntax(snippet) => Some(snippet.position()),
            Self::Json { line, column, .. } => Some((*line, *column)),
            Self::Within { source, .. } => source.position(),
            _ => None,
        }
    }
}

/// A range of bytes of the text being read.
pub type Span = Range<usize>;

/// What was read, or the mistake in it.
pub type Parsed<T> = std::result::Result<T, Fault>;

/// The place of a part that is a slice of `text`.
pub(crate) fn place(text: &str, part: &str) -> Span {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// A mistake at a place of the text being read; becomes an [`Error`] with a [`Snippet`] once the whole text is known.
#[derive(Debug)]
pub struct Fault {
    /// The place.
    pub at: Span,
    /// The mistake.
    pub problem: String,
}

impl Fault {
    /// A mistake at a place.
    pub fn new(at: Span, problem: impl Into<String>) -> Self {
        Self {
            at,
            problem: problem.into(),
        }
    }

    /// The same mistake in a larger text, in which this text starts at byte `by`.
    #[must_use]
    pub fn shifted(self, by: usize) -> Self {
        Self {
            at: self.at.start + by..self.at.end + by,
            problem: self.problem,
        }
    }

    /// An error of serde about the JSON `text`, reworded; a wrong string is marked as a whole.
    pub(crate) fn json(text: &[u8], error: &serde_json::Error) -> Self {
        let said = error.to_string();
        let said = said
            .rsplit_once(" at line ")
            .map_or(said.as_str(), |(problem, _)| problem);
        let problem = match said {
            "expected value" => "expected a JSON value".to_owned(),
            "trailing characters" => "expected nothing more after the closing `}`".to_owned(),
            "invalid unicode code point" => "not UTF-8 text".to_owned(),
            said => match said.strip_prefix("EOF while parsing ") {
                Some(what) => format!("the text ends in the middle of {what}"),
                None => said
                    .replace("invalid type: sequence", "invalid type: list")
                    .replace(", expected a sequence", ", expected a list"),
            },
        };
        let newlines = (text.iter().enumerate()).filter(|(_, byte)| **byte == b'\n');
        let mut line_starts = std::iter::once(0).chain(newlines.map(|(i, _)| i + 1));
        let line_start = (line_starts.nth(error.line().saturating_sub(1))).unwrap_or(text.len());
        // Serde counts the bytes read: the place is the last of them, except at the end of the text.
        let end = (line_start + error.column()).min(text.len());
        let last = end.saturating_sub(usize::from(!error.is_eof()));
        let mut start = last.max(line_start.min(end));
        if error.is_data() && text.get(start) == Some(&b'"') {
            let opening = text[..start].iter().rposition(|byte| *byte == b'"');
            start = opening.map_or(start, |opening| opening.max(line_start));
        }
        Self::new(start..end, problem)
    }

    /// The error with an excerpt of `text` at its place.
    pub fn located(self, text: &str) -> Error {
        Error::Syntax(Box::new(Snippet::new(text, self.at, self.problem)))
    }
}

/// A place in a text, the line it is on, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    file: Option<String>,
    line: usize,
    column: usize,
    problem: String,
    excerpt: String,
    indent: usize,
    width: usize,
}

/// The number of characters shown on either side of the place in a long line.
const CONTEXT: usize = 60;

impl Snippet {
    /// The mistake at a range of bytes of `text`.
    pub fn new(text: &str, at: Range<usize>, problem: String) -> Self {
        let start = floor_char(text, at.start);
        let end = floor_char(text, at.end.max(start));
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let before: Vec<char> = text[line_start..start].chars().collect();
        let marked = text[start..end.min(line_end)].chars().count();
        let after: Vec<char> = text[start..line_end]
            .trim_end()
            .chars()
            .take(2 * CONTEXT)
            .collect();

        let cut = before.len().saturating_sub(CONTEXT);
        let mut excerpt = String::new();
        if cut > 0 {
            excerpt.push('…');
        }
        let shown = &before[cut..];
        excerpt.extend(shown.iter().map(|c| visible(*c)));
        let indent = excerpt.chars().count();
        excerpt.extend(after.iter().take(CONTEXT).map(|c| visible(*c)));
        if after.len() > CONTEXT {
            excerpt.push('…');
        }
        Self {
            file: None,
            line: text[..line_start].matches('\n').count() + 1,
            column: before.len() + 1,
            problem,
            excerpt,
            indent,
            width: marked.clamp(1, CONTEXT),
        }
    }

    /// Adds the name of the file, unless there is one.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        self.file.get_or_insert_with(|| name.to_owned());
        self
    }

    /// The file, if it is known.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Line and column, from 1.
    pub fn position(&self) -> (usize, usize) {
        (self.line, self.column)
    }
}

/// The beginning of a text, for messages.
pub fn shortened(text: &str) -> String {
    let mut chars = text.chars();
    let short: String = chars.by_ref().take(40).collect();
    if chars.next().is_some() {
        short + "…"
    } else {
        short
    }
}

/// The character as a terminal can show it: no control characters.
fn visible(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

fn floor_char(text: &str, mut i: usize) -> usize {
    i = i.min(text.len());
    while !text.is_char_boundary(i) {
        i -= 1;
    }
    i
}

impl fmt::Display for Snippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        writeln!(f, "{}:{}: {}", self.line, self.column, self.problem)?;
        writeln!(f, " {gutter} |")?;
        writeln!(f, " {number} | {}", self.excerpt)?;
        let (indent, carets) = (" ".repeat(self.indent), "^".repeat(self.width));
        write!(f, " {gutter} | {indent}{carets}")
    }
}
