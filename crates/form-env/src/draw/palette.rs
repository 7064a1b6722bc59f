//! The colours of the paper's figures.

use crate::grid::colour::Colour;

/// Red, green and blue.
pub type Rgb = [u8; 3];

pub(crate) const BLACK: Rgb = [0, 0, 0];
pub(crate) const WHITE: Rgb = [255, 255, 255];
pub(crate) const LINES: Rgb = [64, 64, 64];
pub(crate) const WALL: Rgb = [128, 128, 128];
pub(crate) const GOAL: Rgb = [0, 220, 0];
pub(crate) const LAVA: Rgb = [255, 128, 0];
pub(crate) const AGENT: Rgb = [255, 0, 0];

impl Colour {
    /// The colour of a checkpoint in pictures.
    pub fn rgb(self) -> Rgb {
        match self {
            Self::Yellow => [255, 240, 0],
            Self::Red => [235, 60, 60],
            Self::Blue => [40, 80, 255],
            Self::Purple => [150, 60, 200],
            Self::Grey => [191, 191, 191],
            Self::Green => [80, 200, 80],
        }
    }

    /// The colour of the number on a checkpoint.
    pub(crate) fn ink(self) -> Rgb {
        match self {
            Self::Blue | Self::Purple => WHITE,
            Self::Yellow | Self::Red | Self::Grey | Self::Green => BLACK,
        }
    }
}
