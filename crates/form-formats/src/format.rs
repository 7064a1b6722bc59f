//! The formats of machine files: telling them apart by content, and reading and writing any of them.
//!
//! The two foreign ones were made to be read with Python's `eval`. Nothing is evaluated here: a small lexer reads the few
//! literals that occur, and every mistake is shown at its place. Where a format leaves something open, or is read
//! differently here, the machine comes with notes.

use form_core::syntax::is_name_char;
use form_core::{Error, Machine, Result};

use crate::Converted;
use crate::literal::{significant_lines, without_bom};
use crate::ltlf::read_ltlf;
use crate::reference::{read_reference, write_reference};
use crate::toro_icarte::{ToroIcarteOptions, read_toro_icarte, write_toro_icarte};

/// The format of a machine file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineFormat {
    /// The `.form` text of this project.
    Form,
    /// The JSON of this project.
    Json,
    /// The paper's reference code: quoted state names, conditions such as `'∃X0, green(X0);~lava'`.
    Reference,
    /// Toro Icarte et al., both generations: numbered states, propositional formulae, reward functions.
    ToroIcarte,
    /// A formula of LTLf, which is only read. Its content does not tell it from other texts: files end in `.ltlf`.
    Ltlf,
}

impl MachineFormat {
    /// Tells the format from the first two significant lines. `.form` if it is none of the others.
    ///
    /// ```
    /// use form_formats::MachineFormat;
    /// assert_eq!(MachineFormat::detect("0\n[1]\n(0,1,'a',1)"), MachineFormat::ToroIcarte);
    /// assert_eq!(MachineFormat::detect("'u0'\n('u0','u1','a')"), MachineFormat::Reference);
    /// assert_eq!(MachineFormat::detect("initial u0\naccept u1\nu0 -> u1 : a"), MachineFormat::Form);
    /// ```
    pub fn detect(text: &str) -> Self {
        if text.trim_start().starts_with('{') {
            return Self::Json;
        }
        let mut lines = significant_lines(without_bom(text)).map(|(_, line)| line);
        let first = lines.next().unwrap_or_default();
        let first = first.split('#').next().unwrap_or_default().trim();
        let digits = first.strip_prefix('-').unwrap_or(first);
        let all =
            |text: &str, allowed: fn(char) -> bool| !text.is_empty() && text.chars().all(allowed);
        // Neither a quotation mark nor a number can start a `.form`: later mistakes are for their readers to report.
        let bare = all(first, is_name_char);
        let second = lines.next().map(str::trim_start);
        if all(digits, |c| c.is_ascii_digit()) && second.is_some() {
            Self::ToroIcarte
        } else if first.starts_with(['\'', '"'])
            || bare && second.is_some_and(|line| line.starts_with('('))
        {
            Self::Reference
        } else {
            Self::Form
        }
    }

    /// Whether it is one of the formats of others.
    pub fn is_foreign(self) -> bool {
        matches!(self, Self::Reference | Self::ToroIcarte | Self::Ltlf)
    }
}

/// Reads a machine. The options are for [`MachineFormat::ToroIcarte`].
pub fn read_machine(
    text: &str,
    format: MachineFormat,
    options: &ToroIcarteOptions,
) -> Result<Converted> {
    let own = |machine| Converted {
        machine,
        notes: Vec::new(),
    };
    match format {
        MachineFormat::Form => text.parse().map(own),
        MachineFormat::Json => Machine::from_json(text).map(own),
        MachineFormat::Reference => read_reference(text),
        MachineFormat::ToroIcarte => read_toro_icarte(text, options),
        MachineFormat::Ltlf => read_ltlf(text),
    }
}

/// Writes a machine; an error says what the format cannot express.
pub fn write_machine(machine: &Machine, format: MachineFormat) -> Result<String> {
    Ok(match format {
        MachineFormat::Form => machine.to_string(),
        MachineFormat::Json => machine.to_json() + "\n",
        MachineFormat::Reference => write_reference(machine)?,
        MachineFormat::ToroIcarte => write_toro_icarte(machine)?,
        MachineFormat::Ltlf => {
            return Err(Error::Inexpressible {
                place: format!("machine {}", machine.name()),
                problem: "a machine cannot be written as a formula of LTLf".to_owned(),
            });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::MachineFormat::{self, Form, Json, Reference, ToroIcarte};

    #[test]
    fn formats_are_told_apart_by_content() {
        for (text, expected) in [
            ("0 # initial state\n[2] # terminal state\n", ToroIcarte),
            ("\u{feff}0\r\n(0,1,'a',1)\r\n", ToroIcarte),
            ("# a comment\n\n-1\n[]", ToroIcarte),
            ("'u0' # initial state\n('u0', 'u1', 'a') #", Reference),
            ("\"u0\"\n# note\n('u0', 'u1', 'a')", Reference),
            ("u0\n('u0', 'u1', 'a')", Reference),
            ("", Form),
            ("0", Form),
            ("0\n0,1,'a',1", ToroIcarte),
            ("'u0'", Reference),
            ("'u0\n('u0', 'u1', 'a')", Reference),
            ("u0", Form),
            ("{\"name\":\"m\",\"states\":[]}", Json),
            ("{\n(", Json),
            ("[0]\n(0)", Form),
            ("machine m\ninitial u0\naccept u1\nu0 -> u1 : a", Form),
            ("0 -> 1 : a\ninitial 0\naccept 1", Form),
            ("states\n0 -> 1 : a", Form),
        ] {
            assert_eq!(MachineFormat::detect(text), expected, "{text:?}");
        }
    }
}
