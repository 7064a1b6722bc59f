//! How many traces a machine may misjudge, and how that is written: `3`, `2%`, `auto`.

use std::fmt;
use std::str::FromStr;

/// How many traces a machine may misjudge. Duplicates count as often as they were added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// At most this number.
    AtMost(u64),
    /// At most this share of the traces, from 0 to 1.
    Share(f64),
    /// As many as the machine misjudges that has the shortest description together with the traces it misjudges.
    Auto,
}

impl FromStr for Tolerance {
    type Err = String;

    /// Reads `3`, `2%` or `auto`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "expected a number of traces such as 3, a percentage such as 2%, or `auto`";
        if text == "auto" {
            return Ok(Self::Auto);
        }
        if text.starts_with('-') {
            return Err(format!("a tolerance is not negative: {wanted}"));
        }
        if let Some(percent) = text.strip_suffix('%') {
            let percent: f64 = percent.trim().parse().map_err(|_| wanted.to_owned())?;
            if !(0.0..100.0).contains(&percent) {
                return Err(format!("{text} is not below 100%: {wanted}"));
            }
            return Ok(Self::Share(percent / 100.0));
        }
        let number = text.parse().map_err(|_| wanted.to_owned())?;
        Ok(Self::AtMost(number))
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(number) => number.fmt(f),
            // Without the digits that a division by 100 adds.
            Self::Share(share) => write!(f, "{}%", (share * 1e8).round() / 1e6),
            Self::Auto => f.write_str("auto"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["0", "3", "2%", "0.5%", "7%", "auto"] {
            assert_eq!(text.parse::<Tolerance>().unwrap().to_string(), text);
        }
        for wrong in ["-1", "-2%", "100%", "NaN%", "x", "", "1.5", "auto%"] {
            assert!(wrong.parse::<Tolerance>().is_err(), "{wrong}");
        }
    }
}
