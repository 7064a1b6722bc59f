//! The six colours of checkpoints, in the order in which the paper numbers them.

use std::fmt;
use std::str::FromStr;

/// A colour of checkpoints; its name is the predicate of their atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Colour {
    /// Yellow.
    Yellow,
    /// Red.
    Red,
    /// Blue.
    Blue,
    /// Purple.
    Purple,
    /// Grey.
    Grey,
    /// Green.
    Green,
}

impl Colour {
    /// All colours, in the order in which checkpoints are numbered.
    pub const ALL: [Self; 6] = [
        Self::Yellow,
        Self::Red,
        Self::Blue,
        Self::Purple,
        Self::Grey,
        Self::Green,
    ];

    /// The predicate.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yellow => "yellow",
            Self::Red => "red",
            Self::Blue => "blue",
            Self::Purple => "purple",
            Self::Grey => "grey",
            Self::Green => "green",
        }
    }

    /// MiniGrid's number of the colour.
    pub fn symbol(self) -> u8 {
        match self {
            Self::Red => 0,
            Self::Green => 1,
            Self::Blue => 2,
            Self::Purple => 3,
            Self::Yellow => 4,
            Self::Grey => 5,
        }
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Colour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        (Self::ALL.into_iter().find(|colour| colour.as_str() == text)).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|colour| colour.as_str()).collect();
            format!("no colour `{text}`: there are {}", known.join(", "))
        })
    }
}
