//! A recording as a file: an animated SVG or GIF, a PNG of its end with the way it took, or text.

use std::fmt::Write as _;

use anyhow::Result;
use form_env::{Coverage, Frame, GifFile, Pixels, Rgb, Walk};
use zeno::{Command, Fill, Mask, PathBuilder, Transform};

use super::Recording;
use super::panel::{Item, LEAST_HEIGHT, PAPER, Panel, WIDTH};
use crate::letters::Letters;

/// The duration of a step in hundredths of a second, and of the end in steps.
const STEP: u16 = 15;
const REST: u16 = 16;
/// Points of a cell in an SVG file.
const CELL: f32 = 32.0;

impl Recording {
    /// The first steps of the episode as text: the world at its start, and everything that happened.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "{}\n\n{}\n",
            self.title(),
            Frame::of_world(&self.start).to_text(false)
        );
        let machine = self.machine.machine();
        let mut before = None;
        for (step, moment) in self.steps.iter().enumerate() {
            let (state, seen) = (moment.monitor.state(), moment.monitor.seen());
            let buffer = self.machine.signature().describe(seen);
            let now = (state, buffer.clone());
            if before.as_ref() != Some(&now) || step == 0 {
                let action = moment.action.map_or("start", |action| action.as_str());
                let name = machine.state_name(state);
                let _ = writeln!(
                    text,
                    "{step:>5}  {action:<8} {:<18} {name:<8} buffer {buffer}",
                    moment.labels
                );
            }
            before = Some(now);
        }
        let _ = writeln!(text, "{}", self.outcome());
        text
    }

    /// An animated GIF of the first steps, at most this many, `scale` pixels per cell (from 4 to 256).
    pub fn to_gif(&self, scale: usize, most: usize) -> Result<Vec<u8>> {
        let canvas = self.canvas(scale)?;
        let steps = self.steps().min(most);
        let shown = |step: usize| if step == steps { STEP * REST } else { STEP };
        let mut file = GifFile::new(canvas.picture(0), shown(0))?;
        for step in 1..=steps {
            file.add(canvas.picture(step), shown(step))?;
        }
        Ok(file.finish()?)
    }

    /// The end of the episode, or of its first steps, as a PNG file, with the way the agent took.
    pub fn to_png(&self, scale: usize, most: usize) -> Result<Vec<u8>> {
        let canvas = self.canvas(scale)?;
        let step = self.steps().min(most);
        let mut pixels = canvas.picture(step);
        let place = Transform::scale(scale as f32, scale as f32);
        cover(&mut pixels, &self.way(step), place, [200, 40, 30], 150);
        Ok(pixels.to_png()?)
    }

    /// An animated SVG of the first steps, at most this many.
    pub fn to_svg(&self, most: usize) -> Result<String> {
        let letters = Letters::new()?;
        let steps = self.steps().min(most);
        let actions: Vec<usize> = (self.actions().take(steps))
            .map(|action| action as usize)
            .collect();
        let room = self.start.task().room();
        let (wide, high) = (room.width() as f32 * CELL, room.height() as f32 * CELL);
        let height = high.max(LEAST_HEIGHT);
        let world =
            Walk::new(&self.start, actions)?.timed(f64::from(STEP) / 100.0, usize::from(REST) - 1);
        let world = world.to_svg();
        // The drawing of the world, without the lines that make it a file.
        let inner = world
            .split_once("</title>\n")
            .map_or("", |(_, inner)| inner);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" width=\"{}\" height=\"{height}\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n<svg x=\"0\" y=\"{}\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {} {}\">\n{inner}",
            wide + WIDTH,
            wide + WIDTH,
            escaped(&self.title()),
            hex(PAPER),
            (height - high) / 2.0,
            room.width(),
            room.height(),
        );
        let _ = writeln!(
            svg,
            "<g transform=\"translate({wide} 0)\" font-family=\"Roboto, Helvetica, Arial, sans-serif\">"
        );
        let panel = Panel {
            recording: self,
            letters: &letters,
            height,
        };
        self.animate(&panel, steps, &mut svg);
        svg += "</g>\n</svg>\n";
        Ok(svg)
    }

    /// What stands beside the world, each part as long as it holds.
    fn animate(&self, panel: &Panel<'_>, steps: usize, svg: &mut String) {
        let frames = (steps + usize::from(REST)) as f64;
        let seconds = frames * f64::from(STEP) / 100.0;
        let mut shown: Vec<(Item, Vec<(usize, usize)>)> = Vec::new();
        for step in 0..=steps {
            for item in panel.items(step) {
                let until = step + 1;
                match shown.iter_mut().rev().find(|(known, _)| *known == item) {
                    Some((_, times)) => match times.last_mut() {
                        Some(last) if last.1 == step => last.1 = until,
                        _ => times.push((step, until)),
                    },
                    None => shown.push((item, vec![(step, until)])),
                }
            }
        }
        for (item, times) in shown {
            let always = times == [(0, steps + 1)];
            if always {
                svg.push_str(&element(&item, ""));
                continue;
            }
            let (mut at, mut values) = (String::from("0"), String::new());
            let visible = |on: bool| if on { "visible" } else { "hidden" };
            values += visible(times.first().is_some_and(|first| first.0 == 0));
            for (from, until) in &times {
                if *from > 0 {
                    let _ = write!(at, ";{:.5}", *from as f64 / frames);
                    values += ";visible";
                }
                if *until <= steps {
                    let _ = write!(at, ";{:.5}", *until as f64 / frames);
                    values += ";hidden";
                }
            }
            let animation = format!(
                "<animate attributeName=\"visibility\" calcMode=\"discrete\" dur=\"{seconds}s\" repeatCount=\"indefinite\" keyTimes=\"{at}\" values=\"{values}\"/>"
            );
            svg.push_str(&element(&item, &animation));
        }
    }

    /// The way of the agent through the middles of cells, as thin bars between them, in cells.
    fn way(&self, step: usize) -> Vec<Command> {
        let mut path: Vec<Command> = Vec::new();
        for pair in self.steps[..=step].windows(2) {
            let ((from, _), (to, _)) = (pair[0].place, pair[1].place);
            if from == to {
                continue;
            }
            let half = 0.05;
            let (left, right) = (from.x.min(to.x) as f32, from.x.max(to.x) as f32);
            let (top, bottom) = (from.y.min(to.y) as f32, from.y.max(to.y) as f32);
            path.add_rect(
                [left + 0.5 - half, top + 0.5 - half],
                right - left + 2.0 * half,
                bottom - top + 2.0 * half,
            );
        }
        path
    }

    fn canvas(&self, scale: usize) -> Result<Canvas<'_>> {
        let map = Frame::of_map(self.start.task(), self.start.map());
        let room = map.to_pixels(scale)?;
        // The panel is as large beside small cells as beside large ones: it has to be read.
        let panel_scale = (scale as f32 / CELL).max(1.0);
        Ok(Canvas {
            recording: self,
            letters: Letters::new()?,
            height: (room.height() as f32 / panel_scale).max(LEAST_HEIGHT),
            room,
            scale,
            panel_scale,
        })
    }
}

/// What all pictures of a recording have in common.
struct Canvas<'a> {
    recording: &'a Recording,
    letters: Letters,
    /// The room without the agent, and the pixels per cell.
    room: Pixels,
    scale: usize,
    /// The height of the panel in points, and the pixels per point.
    height: f32,
    panel_scale: f32,
}

impl Canvas<'_> {
    /// The picture after a step.
    fn picture(&self, step: usize) -> Pixels {
        let mut world = self.room.clone();
        let (cell, direction) = self.recording.steps[step].place;
        world.put_agent(cell, direction, self.scale);
        let mut pixels = Pixels::filled(
            world.width() + (WIDTH * self.panel_scale) as usize,
            (self.height * self.panel_scale) as usize,
            PAPER,
        );
        pixels.put(&world, 0, (pixels.height() - world.height()) / 2);
        let panel = Panel {
            recording: self.recording,
            letters: &self.letters,
            height: self.height,
        };
        for item in panel.items(step) {
            self.draw(&mut pixels, &item, world.width() as f32);
        }
        pixels
    }

    fn draw(&self, pixels: &mut Pixels, item: &Item, left: f32) {
        let scale = self.panel_scale;
        let place = Transform::scale(scale, scale).then_translate(left, 0.0);
        match item {
            Item::Text {
                x,
                y,
                size,
                colour,
                text,
            } => {
                let path = self.letters.outline(text, [0.0, 0.0]);
                let place = Transform::scale(*size, *size)
                    .then_translate(*x, *y)
                    .then(&place);
                cover(pixels, &path, place, *colour, u8::MAX);
            }
            Item::Box {
                x,
                y,
                width,
                height,
                colour,
            } => {
                let mut path: Vec<Command> = Vec::new();
                path.add_rect([*x, *y], *width, *height);
                cover(pixels, &path, place, *colour, u8::MAX);
            }
        }
    }
}

/// Fills a path, at most to this degree of 255.
fn cover(pixels: &mut Pixels, path: &[Command], place: Transform, colour: Rgb, most: u8) {
    let (mask, at) = Mask::new(path)
        .style(Fill::NonZero)
        .transform(Some(place))
        .render();
    let coverage = Coverage {
        left: at.left,
        top: at.top,
        width: at.width as usize,
        mask: &mask,
    };
    pixels.cover(coverage, colour, most);
}

/// A part of the panel as an element of SVG, with what animates it.
fn element(item: &Item, animation: &str) -> String {
    let hidden = if animation.is_empty() {
        ""
    } else {
        " visibility=\"hidden\""
    };
    match item {
        Item::Text {
            x,
            y,
            size,
            colour,
            text,
        } => format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{}\"{hidden}>{}{animation}</text>\n",
            hex(*colour),
            escaped(text)
        ),
        Item::Box {
            x,
            y,
            width,
            height,
            colour,
        } => format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width:.2}\" height=\"{height}\" fill=\"{}\"{hidden}>{animation}</rect>\n",
            hex(*colour)
        ),
    }
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
