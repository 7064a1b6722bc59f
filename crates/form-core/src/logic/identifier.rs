//! Names, the identifiers of the language, and their natural order.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};

/// An identifier: the name of a predicate, a constant or a state.
///
/// Letters (of any script), digits and `_`; reserved words (`true`, `not`, …) are not names.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Name(Arc<str>);

/// The reserved words of the language.
pub(crate) const RESERVED: [&str; 7] = ["true", "false", "not", "and", "or", "exists", "forall"];

/// Whether a name may contain `c`.
pub fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Name {
    /// Checks that `text` is an identifier.
    pub fn new(text: &str) -> Result<Self> {
        if text.is_empty() || !text.chars().all(is_name_char) {
            return Err(Error::BadName {
                name: text.to_owned(),
                problem: "a name consists of letters, digits and `_`".to_owned(),
            });
        }
        if RESERVED.contains(&text) {
            return Err(Error::BadName {
                name: text.to_owned(),
                problem: "it is a reserved word".to_owned(),
            });
        }
        Ok(Self(text.into()))
    }

    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Natural order: runs of digits compare as numbers, so `o2` comes before `o10`.
impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        natural_order(&self.0, &other.0)
    }
}

fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (Some(x), Some(y)) = (left.chars().next(), right.chars().next()) else {
            return left.len().cmp(&right.len()).then_with(|| a.cmp(b));
        };
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let (number_x, rest_x) = split_number(left);
            let (number_y, rest_y) = split_number(right);
            let order = number_x
                .len()
                .cmp(&number_y.len())
                .then(number_x.cmp(number_y));
            if order != Ordering::Equal {
                return order;
            }
            (left, right) = (rest_x, rest_y);
        } else if x == y {
            (left, right) = (&left[x.len_utf8()..], &right[y.len_utf8()..]);
        } else {
            return x.cmp(&y);
        }
    }
}

/// The leading run of digits without its zeros, and what follows it.
fn split_number(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    (text[..end].trim_start_matches('0'), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    #[test]
    fn names_sort_as_people_count() {
        let mut names: Vec<Name> = ["o10", "o2", "a", "o02", "o1x", "o1"].map(name).to_vec();
        names.sort();
        let texts: Vec<&str> = names.iter().map(Name::as_str).collect();
        assert_eq!(texts, ["a", "o1", "o1x", "o02", "o2", "o10"]);
    }

    #[test]
    fn reserved_and_malformed_names_are_refused() {
        for bad in ["", "true", "forall", "a b", "a-b", "p(", "<script>"] {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
        for good in ["u0", "12", "Größe", "_", "黄"] {
            assert!(Name::new(good).is_ok(), "{good:?}");
        }
    }
}
