//! The text formats of others: the machines of the paper's reference code, and those of Toro Icarte et al.
//!
//! Both were made to be read with Python's `eval`. Here nothing is evaluated: a small lexer reads the few literals that
//! occur, and every mistake is shown at its place. What a format leaves open, or what is read differently here, comes
//! back as notes beside the machine.

mod literal;
mod reference;
#[cfg(test)]
mod round_trip;
mod toro_icarte;

pub use reference::{read_reference, write_reference};
pub use toro_icarte::{ToroIcarteOptions, Undefined, read_toro_icarte, write_toro_icarte};

use super::machine::Machine;

/// A machine read from a foreign format.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The machine.
    pub machine: Machine,
    /// What the reader should know: defaults that differ, parts that were added or left out.
    pub notes: Vec<String>,
}

/// A foreign text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignFormat {
    /// The paper's reference code: quoted state names, conditions such as `'∃X0, green(X0);~lava'`.
    Reference,
    /// Toro Icarte et al., both generations: numbered states, propositional formulae, reward functions.
    ToroIcarte,
}

/// Tells the format from the first two significant lines; `None` for everything else, `.form` and JSON objects included.
///
/// ```
/// use form_core::{ForeignFormat, detect};
/// assert_eq!(detect("0\n[1]\n(0,1,'a',1)"), Some(ForeignFormat::ToroIcarte));
/// assert_eq!(detect("'u0'\n('u0','u1','a')"), Some(ForeignFormat::Reference));
/// assert_eq!(detect("initial u0\naccept u1\nu0 -> u1 : a"), None);
/// ```
pub fn detect(text: &str) -> Option<ForeignFormat> {
    let mut lines = literal::significant_lines(literal::without_bom(text)).map(|(_, line)| line);
    let first = lines.next()?;
    let first = first.split('#').next().unwrap_or_default().trim();
    let digits = first.strip_prefix('-').unwrap_or(first);
    let all = |text: &str, allowed: fn(char) -> bool| !text.is_empty() && text.chars().all(allowed);
    // Neither a quotation mark nor a number can start a `.form`: what is wrong further on is for their readers to say.
    let bare = all(first, crate::logic::atom::is_name_char);
    let second = lines.next().map(str::trim_start);
    if all(digits, |c| c.is_ascii_digit()) && second.is_some() {
        Some(ForeignFormat::ToroIcarte)
    } else if first.starts_with(['\'', '"']) || bare && second.is_some_and(|l| l.starts_with('(')) {
        Some(ForeignFormat::Reference)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart_by_content() {
        let toro = Some(ForeignFormat::ToroIcarte);
        let reference = Some(ForeignFormat::Reference);
        for (text, expected) in [
            ("0 # initial state\n[2] # terminal state\n", toro),
            ("\u{feff}0\r\n(0,1,'a',1)\r\n", toro),
            ("# a comment\n\n-1\n[]", toro),
            ("'u0' # initial state\n('u0', 'u1', 'a') #", reference),
            ("\"u0\"\n# note\n('u0', 'u1', 'a')", reference),
            ("u0\n('u0', 'u1', 'a')", reference),
            ("", None),
            ("0", None),
            ("0\n0,1,'a',1", toro),
            ("'u0'", reference),
            ("'u0\n('u0', 'u1', 'a')", reference),
            ("u0", None),
            ("{\"name\":\"m\",\"states\":[]}", None),
            ("{\n(", None),
            ("[0]\n(0)", None),
            ("machine m\ninitial u0\naccept u1\nu0 -> u1 : a", None),
            ("0 -> 1 : a\ninitial 0\naccept 1", None),
            ("states\n0 -> 1 : a", None),
        ] {
            assert_eq!(detect(text), expected, "{text:?}");
        }
    }
}
