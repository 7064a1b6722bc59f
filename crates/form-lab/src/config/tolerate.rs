//! The setting `learning.tolerate` in a file: `"auto"`, `"2%"`, or a number.

use form_learn::Tolerance;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The value without which the setting is left out: every trace counts.
pub(super) const NONE: Tolerance = Tolerance::AtMost(0);

pub(super) fn none() -> Tolerance {
    NONE
}

pub(super) fn is_none(tolerance: &Tolerance) -> bool {
    *tolerance == NONE
}

pub(super) fn serialize<S: Serializer>(
    tolerance: &Tolerance,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    tolerance.to_string().serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Tolerance, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(u64),
        Text(String),
    }
    let wrong = |_| D::Error::custom("expected a number of traces, \"2%\" or \"auto\"");
    match Written::deserialize(deserializer).map_err(wrong)? {
        Written::Number(number) => Ok(Tolerance::AtMost(number)),
        Written::Text(text) => text.parse().map_err(D::Error::custom),
    }
}
