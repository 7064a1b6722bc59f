//! Drawing figures, with `plotters`: the same picture as SVG and as PNG.
//!
//! `plotters` has only whole coordinates. A pixel of the picture is [`UNIT`] of them, so that lines are smooth; all sizes here are in
//! pixels until they are handed over.

use anyhow::{Result, anyhow};
use form_lab::Letters;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Canvas, FONT_FACTOR, Pixels};
use super::{Figure, Panel, Scale};

/// Coordinates a pixel.
const UNIT: u32 = 8;
/// Pixels of the PNG file for one of the picture: sharp on fine screens.
const FINENESS: usize = 2;
/// Width of a panel that has neighbours, and of one that has none.
const WIDTHS: (u32, u32) = (440, 640);
const HEIGHT: u32 = 310;
const LEGEND_ROW: u32 = 24;
const MARGIN: u32 = 12;
/// The letters of PNG files, and their likes in browsers.
const FONT: &str = "Roboto, Helvetica, Arial, sans-serif";
const TITLE: u32 = 15;
const LETTERS: u32 = 12;
const INK: RGBColor = RGBColor(51, 56, 64);
const PALE_INK: RGBColor = RGBColor(110, 117, 128);
const GRID: RGBColor = RGBColor(231, 234, 239);

/// The colours of the paper's figures: what a method is called on the command line and in legends.
const METHODS: [(&str, &str, RGBColor); 7] = [
    ("ppo", "PPO", RGBColor(31, 119, 180)),
    ("handcrafted", "handcrafted", RGBColor(255, 127, 14)),
    ("propositional", "propositional", RGBColor(44, 160, 44)),
    ("form", "FORM", RGBColor(214, 39, 40)),
    ("recurrent-ppo", "recurrent PPO", RGBColor(148, 103, 189)),
    ("single-policy", "single policy", RGBColor(140, 86, 75)),
    ("random", "random play", RGBColor(150, 150, 150)),
];
/// For what is none of these, in the order in which they come.
const OTHERS: [RGBColor; 4] = [
    RGBColor(23, 162, 184),
    RGBColor(227, 119, 194),
    RGBColor(188, 158, 24),
    RGBColor(95, 103, 115),
];

type Area<B> = DrawingArea<B, Shift>;

impl Figure {
    /// The picture as SVG.
    pub fn to_svg(&self) -> Result<String> {
        let letters = Letters::new()?;
        let (width, height) = self.size(&letters)?;
        let mut svg = String::new();
        let size = (width * UNIT, height * UNIT);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        self.draw(&area, &letters)
            .map_err(|error| anyhow!("{error}"))?;
        drop(area);
        // The size is that in pixels; the coordinates stay fine.
        let fine = format!("width=\"{}\" height=\"{}\" viewBox", size.0, size.1);
        Ok(svg.replacen(
            &fine,
            &format!("width=\"{width}\" height=\"{height}\" viewBox"),
            1,
        ))
    }

    /// The picture as a PNG file, with two pixels where the SVG has one.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        let letters = Letters::new()?;
        let (width, height) = self.size(&letters)?;
        let mut pixels = Pixels::new(width as usize * FINENESS, height as usize * FINENESS);
        let area = Canvas::new(&letters, (width * UNIT, height * UNIT), &mut pixels);
        let area = area.into_drawing_area();
        self.draw(&area, &letters)
            .map_err(|error| anyhow!("{error}"))?;
        drop(area);
        pixels.to_png()
    }

    /// Width and height in pixels.
    fn size(&self, letters: &Letters) -> Result<(u32, u32)> {
        self.check()?;
        let rows = self.legend(letters).len() as u32;
        Ok((self.width(), HEIGHT + LEGEND_ROW * rows + MARGIN))
    }

    fn width(&self) -> u32 {
        match self.panels.len() {
            1 => WIDTHS.1,
            panels => WIDTHS.0 * panels as u32,
        }
    }

    fn draw<B: DrawingBackend>(
        &self,
        area: &Area<B>,
        letters: &Letters,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        area.fill(&WHITE)?;
        let (panels, legend) = area.split_vertically(HEIGHT * UNIT);
        for (area, panel) in panels
            .split_evenly((1, self.panels.len()))
            .iter()
            .zip(&self.panels)
        {
            self.draw_panel(area, panel)?;
        }
        self.draw_legend(&legend, letters)?;
        area.present()
    }

    fn draw_panel<B: DrawingBackend>(
        &self,
        area: &Area<B>,
        panel: &Panel,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let averages = panel.averages();
        let ((left, right), (bottom, top)) = (panel.x_range(), panel.y_range(&averages));
        let mut chart = ChartBuilder::on(area)
            .caption(&panel.title, text(TITLE, INK))
            .margin(MARGIN * UNIT)
            .margin_right(18 * UNIT)
            .x_label_area_size(40 * UNIT)
            .y_label_area_size(58 * UNIT)
            .build_cartesian_2d(left..right, bottom..top)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID.stroke_width(UNIT))
            .light_line_style(TRANSPARENT)
            .axis_style(PALE_INK.stroke_width(UNIT))
            .set_all_tick_mark_size(4 * UNIT)
            .x_labels(8)
            .y_labels(7)
            .x_label_formatter(&|x| number(*x, panel.x.scale))
            .y_label_formatter(&|y| number(*y, panel.y.scale))
            .label_style(text(LETTERS, PALE_INK))
            .axis_desc_style(text(LETTERS + 1, INK))
            .x_desc(&panel.x.label)
            .y_desc(&panel.y.label)
            .draw()?;
        let inside = |y: f64| y.clamp(bottom, top);
        let visible = |x: f64| (left..=right).contains(&x);
        let colours = self.colours();
        // All bands lie below all lines.
        for (curve, averages) in panel.curves.iter().zip(&averages) {
            let upper = averages.iter().map(|at| (at.x, inside(at.high)));
            let lower = averages.iter().rev().map(|at| (at.x, inside(at.low)));
            let band: Vec<(f64, f64)> = upper.chain(lower).filter(|at| visible(at.0)).collect();
            let colour = colour(&colours, &curve.method);
            chart.draw_series([Polygon::new(band, colour.mix(0.16))])?;
        }
        for (curve, averages) in panel.curves.iter().zip(&averages) {
            let line: Vec<(f64, f64)> = (averages.iter().map(|at| (at.x, inside(at.mean))))
                .filter(|at| visible(at.0))
                .collect();
            let style = colour(&colours, &curve.method).stroke_width(2 * UNIT);
            chart.draw_series([PathElement::new(line, style)])?;
        }
        Ok(())
    }

    /// Lines below the panels, each in the middle.
    fn draw_legend<B: DrawingBackend>(
        &self,
        area: &Area<B>,
        letters: &Letters,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let colours = self.colours();
        let left_middle = Pos::new(HPos::Left, VPos::Center);
        let fine = |pixels: f32| (pixels * UNIT as f32) as i32;
        for (row, entries) in self.legend(letters).iter().enumerate() {
            let width: f32 = entries.iter().map(|entry| entry.width).sum();
            let mut x = (self.width() as f32 - width + GAP) / 2.0;
            let y = (row as f32 + 0.5) * LEGEND_ROW as f32;
            for entry in entries {
                if let Some(method) = entry.method {
                    let colour = colour(&colours, method);
                    let ends = [(fine(x), fine(y)), (fine(x + SAMPLE), fine(y))];
                    let band = [(fine(x), fine(y - 6.0)), (fine(x + SAMPLE), fine(y + 6.0))];
                    area.draw(&Rectangle::new(band, colour.mix(0.16).filled()))?;
                    area.draw(&PathElement::new(ends, colour.stroke_width(2 * UNIT)))?;
                }
                let (start, colour) = match entry.method {
                    Some(_) => (x + SAMPLE + 7.0, INK),
                    None => (x, PALE_INK),
                };
                let style = text(LETTERS + 1, colour).pos(left_middle);
                area.draw(&Text::new(
                    entry.label.clone(),
                    (fine(start), fine(y)),
                    style,
                ))?;
                x += entry.width;
            }
        }
        Ok(())
    }

    /// The rows of the legend: as many entries as there is room for.
    fn legend(&self, letters: &Letters) -> Vec<Vec<Entry<'_>>> {
        let room = self.width() as f32 - 2.0 * MARGIN as f32;
        let entry = |method: Option<&'_ str>, label: String| {
            let sample = if method.is_some() { SAMPLE + 7.0 } else { 0.0 };
            let width = sample + letters.width(&label) * (LETTERS + 1) as f32 + GAP;
            (width, label)
        };
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for (method, _) in self.colours() {
            let (width, label) = entry(Some(method), label(method).to_owned());
            let method = Some(method);
            entries.push(Entry {
                method,
                label,
                width,
            });
        }
        if let Some(remark) = self.remark() {
            let (width, label) = entry(None, remark);
            let method = None;
            entries.push(Entry {
                method,
                label,
                width,
            });
        }
        let mut rows: Vec<Vec<Entry<'_>>> = Vec::new();
        let mut used = f32::INFINITY;
        for entry in entries {
            if used + entry.width > room + GAP {
                rows.push(Vec::new());
                used = 0.0;
            }
            used += entry.width;
            rows.last_mut()
                .into_iter()
                .for_each(|row| row.push(entry.clone()));
        }
        rows
    }

    /// What lines and bands mean, if there is more than one run.
    fn remark(&self) -> Option<String> {
        let curves = self.panels.iter().flat_map(|panel| &panel.curves);
        let runs = curves.map(|curve| curve.runs.len());
        let (fewest, most) = (runs.clone().min()?, runs.max()?);
        let runs = match (fewest, most) {
            (_, 0 | 1) => return None,
            (fewest, most) if fewest == most => most.to_string(),
            (fewest, most) => format!("{fewest} to {most}"),
        };
        Some(format!("(mean of {runs} runs and range)"))
    }

    /// The methods of all panels with their colours, in the order in which they come.
    fn colours(&self) -> Vec<(&str, RGBColor)> {
        let mut found: Vec<(&str, RGBColor)> = Vec::new();
        let mut others = OTHERS.into_iter().cycle();
        for curve in self.panels.iter().flat_map(|panel| &panel.curves) {
            let method = curve.method.as_str();
            if found.iter().any(|(known, _)| *known == method) {
                continue;
            }
            let known = METHODS.iter().find(|(name, ..)| *name == method);
            let colour = known.map(|(.., colour)| *colour);
            found.push((method, colour.or_else(|| others.next()).unwrap_or(BLACK)));
        }
        found
    }
}

/// The length of the line beside a name, and the space behind one.
const SAMPLE: f32 = 24.0;
const GAP: f32 = 22.0;

/// A word of the legend.
#[derive(Clone)]
struct Entry<'a> {
    /// Whose colour stands before it, if it is a method's name.
    method: Option<&'a str>,
    label: String,
    /// With the space behind it.
    width: f32,
}

fn label(method: &str) -> &str {
    let known = METHODS.iter().find(|(name, ..)| *name == method);
    known.map_or(method, |(_, label, _)| label)
}

fn colour(colours: &[(&str, RGBColor)], method: &str) -> RGBColor {
    let found = colours.iter().find(|(name, _)| *name == method);
    found.map_or(BLACK, |(_, colour)| *colour)
}

fn text(size: u32, colour: RGBColor) -> TextStyle<'static> {
    let size = f64::from(size * UNIT) * FONT_FACTOR;
    let mut style = TextStyle::from((FONT, size).into_font());
    style.color = colour.to_backend_color();
    style
}

/// A number at an axis.
fn number(value: f64, scale: Scale) -> String {
    // Ticks are multiples of a step that has no exact value: what is nearly zero is.
    let short = |value: f64| {
        let text = format!("{value:.3}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        (if text == "-0" { "0" } else { text }).replace('-', "−")
    };
    match scale {
        Scale::Percent => format!("{} %", short(value * 100.0)),
        Scale::Number if value.abs() >= 1e6 => format!("{} M", short(value / 1e6)),
        Scale::Number if value.abs() >= 1e3 => format!("{} k", short(value / 1e3)),
        Scale::Number => short(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_axes() {
        let check = |value, scale, expected: &str| assert_eq!(number(value, scale), expected);
        check(0.0, Scale::Number, "0");
        check(-1e-17, Scale::Number, "0");
        check(-0.25, Scale::Number, "−0.25");
        check(150.0, Scale::Number, "150");
        check(20_000.0, Scale::Number, "20 k");
        check(1_500_000.0, Scale::Number, "1.5 M");
        check(0.6000000000000001, Scale::Percent, "60 %");
        check(1.0, Scale::Percent, "100 %");
    }
}
