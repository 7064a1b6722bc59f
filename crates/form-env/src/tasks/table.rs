//! Tables of TOML with the places of their keys and values, and messages that name what was expected.

use std::ops::Range;

use form_core::Snippet;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, Result};

/// A mistake at a place of a text.
pub(crate) fn fault(text: &str, at: Range<usize>, problem: impl Into<String>) -> Error {
    Error::Syntax(Box::new(Snippet::new(text, at, problem.into())))
}

/// A table all of whose keys are known ones.
pub(crate) struct Table<'a> {
    pub(crate) text: &'a str,
    entries: &'a DeTable<'a>,
    /// The place for errors about missing keys.
    place: Range<usize>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(
        text: &'a str,
        entries: &'a DeTable<'a>,
        place: Range<usize>,
        known: &[&str],
    ) -> Result<Self> {
        let unknown = (entries.keys())
            .filter(|key| !known.contains(&key.get_ref().as_ref()))
            .min_by_key(|key| key.span().start);
        if let Some(key) = unknown {
            let problem = format!(
                "no key `{}` here: there are {}",
                key.get_ref(),
                known.join(", ")
            );
            return Err(fault(text, key.span(), problem));
        }
        Ok(Self {
            text,
            entries,
            place,
        })
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        (self.entries.iter())
            .find(|(known, _)| known.get_ref().as_ref() == key)
            .map(|(_, value)| value)
    }

    pub(crate) fn required(&self, key: &str) -> Result<&'a Spanned<DeValue<'a>>> {
        let missing = || {
            fault(
                self.text,
                self.place.clone(),
                format!("the key `{key}` is missing"),
            )
        };
        self.get(key).ok_or_else(missing)
    }

    pub(crate) fn string(&self, value: &'a Spanned<DeValue<'a>>) -> Result<&'a str> {
        let text = value.get_ref().as_str();
        text.ok_or_else(|| self.expected("a text in quotes", value))
    }

    /// A whole number from 0, written in any base.
    pub(crate) fn number(&self, value: &Spanned<DeValue<'_>>) -> Result<usize> {
        (value.get_ref().as_integer())
            .and_then(|number| usize::from_str_radix(number.as_str(), number.radix()).ok())
            .ok_or_else(|| self.expected("a whole number, 0 or more", value))
    }

    pub(crate) fn array(
        &self,
        value: &'a Spanned<DeValue<'a>>,
        expected: &str,
    ) -> Result<&'a [Spanned<DeValue<'a>>]> {
        let array = value.get_ref().as_array();
        array
            .map(AsRef::as_ref)
            .ok_or_else(|| self.expected(expected, value))
    }

    /// A list of this number of integers.
    pub(crate) fn numbers<const N: usize>(
        &self,
        value: &'a Spanned<DeValue<'a>>,
        expected: &str,
    ) -> Result<[usize; N]> {
        let numbers = (self.array(value, expected)?.iter())
            .map(|number| self.number(number))
            .collect::<Result<Vec<usize>>>()?;
        numbers
            .try_into()
            .map_err(|_| self.expected(expected, value))
    }

    fn expected(&self, expected: &str, value: &Spanned<DeValue<'_>>) -> Error {
        let found = match value.get_ref() {
            DeValue::Integer(number) => {
                let problem = format!("expected {expected}, found {number}");
                return fault(self.text, value.span(), problem);
            }
            other => other.type_str(),
        };
        let article = if found.starts_with(['a', 'i']) {
            "an"
        } else {
            "a"
        };
        let problem = format!("expected {expected}, found {article} {found}");
        fault(self.text, value.span(), problem)
    }
}
