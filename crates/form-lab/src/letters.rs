//! Text as outlines, with an embedded font: a picture looks the same on every system.

use ab_glyph::{Font, FontRef, OutlineCurve, Point};
use anyhow::{Context, Result};
use zeno::{Command, PathBuilder};

static FONT: &[u8] = include_bytes!("../fonts/roboto.ttf");

/// The embedded font of all pictures.
pub struct Letters {
    font: FontRef<'static>,
}

impl Letters {
    /// Reads the embedded font.
    pub fn new() -> Result<Self> {
        let font = FontRef::try_from_slice(FONT).context("the embedded font is damaged")?;
        Ok(Self { font })
    }

    /// The width of a text at font size 1.
    pub fn width(&self, text: &str) -> f32 {
        let units = self.font.units_per_em().unwrap_or(1.0);
        let advance = |letter| self.font.h_advance_unscaled(self.font.glyph_id(letter));
        text.chars().map(advance).sum::<f32>() / units
    }

    /// The outlines of a text at font size 1, from a point on its baseline.
    pub fn outline(&self, text: &str, [left, baseline]: [f32; 2]) -> Vec<Command> {
        let scale = 1.0 / self.font.units_per_em().unwrap_or(1.0);
        let mut path: Vec<Command> = Vec::new();
        let mut x = 0.0;
        for letter in text.chars() {
            let glyph = self.font.glyph_id(letter);
            // In a font, y goes up.
            let place = |point: Point| [left + (x + point.x) * scale, baseline - point.y * scale];
            let mut end = None;
            for curve in self.font.outline(glyph).into_iter().flat_map(|o| o.curves) {
                let (from, to) = match curve {
                    OutlineCurve::Line(from, to)
                    | OutlineCurve::Quad(from, _, to)
                    | OutlineCurve::Cubic(from, _, _, to) => (from, to),
                };
                if end != Some(from) {
                    path.move_to(place(from));
                }
                match curve {
                    OutlineCurve::Line(_, to) => path.line_to(place(to)),
                    OutlineCurve::Quad(_, by, to) => path.quad_to(place(by), place(to)),
                    OutlineCurve::Cubic(_, a, b, to) => {
                        path.curve_to(place(a), place(b), place(to))
                    }
                };
                end = Some(to);
            }
            x += self.font.h_advance_unscaled(glyph);
        }
        path
    }
}
