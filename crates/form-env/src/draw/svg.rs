//! Drawing as SVG.

use std::fmt::Write;

use super::frame::Frame;
use super::palette::Rgb;
use super::scene::{self, Shape};

/// Points per cell.
const SCALE: usize = 32;

impl Frame<'_> {
    /// The picture as an SVG file.
    pub fn to_svg(&self) -> String {
        let mut svg = open(self);
        svg += &shapes(&scene::room(self));
        if let Some((cell, direction)) = self.agent {
            svg += &shapes(&scene::agent(cell, direction));
        }
        svg + "</svg>\n"
    }
}

/// The first lines of a file.
pub(crate) fn open(frame: &Frame<'_>) -> String {
    let (width, height) = (frame.task.room().width(), frame.task.room().height());
    let (points_wide, points_high) = (width * SCALE, height * SCALE);
    let name = frame.task.name();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"form-room\" viewBox=\"0 0 {width} {height}\" width=\"{points_wide}\" height=\"{points_high}\">\n<title>{name}</title>\n"
    )
}

pub(crate) fn shapes(shapes: &[Shape]) -> String {
    let mut svg = String::new();
    for shape in shapes {
        let Shape { class, path, .. } = shape;
        let colour = hex(shape.colour);
        let _ = match shape.line {
            None => writeln!(
                svg,
                "<path class=\"{class}\" d=\"{path}\" fill=\"{colour}\"/>"
            ),
            Some(width) => writeln!(
                svg,
                "<path class=\"{class}\" d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linecap=\"round\" stroke-linejoin=\"round\"/>"
            ),
        };
    }
    svg
}

fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
