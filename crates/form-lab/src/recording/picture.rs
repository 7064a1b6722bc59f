//! A recording as a file: an animated SVG or GIF, a PNG of its end with the way it took, or text.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use form_env::{Frame, Walk};
use zeno::{Command, Fill, Mask, PathBuilder, Transform};

use super::Recording;
use super::panel::{Item, LEAST_HEIGHT, PAPER, Panel, WIDTH};
use crate::letters::Letters;

/// The duration of a step in hundredths of a second, and of the end in steps.
const STEP: u16 = 15;
const REST: u16 = 16;
/// Points of a cell in an SVG file.
const CELL: f32 = 32.0;
/// How carefully the colours of a frame are chosen if it has more than 256: from 1, the best, to 30.
const QUALITY: i32 = 10;

/// Pixels row by row, three bytes each.
#[derive(Clone, PartialEq)]
struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

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
        let letters = Letters::new()?;
        let steps = self.steps().min(most);
        let mut file = Vec::new();
        let first = self.pixels(&letters, scale, 0)?;
        let side =
            |length: usize| u16::try_from(length).context("the picture is too large for a GIF");
        let (width, height) = (side(first.width)?, side(first.height)?);
        let mut encoder = gif::Encoder::new(&mut file, width, height, &[])?;
        encoder.set_repeat(gif::Repeat::Infinite)?;
        let mut before: Option<Pixels> = None;
        for step in 0..=steps {
            let now = match step {
                0 => first.clone(),
                step => self.pixels(&letters, scale, step)?,
            };
            let (left, top, part) = match &before {
                None => (0, 0, now.clone()),
                Some(before) => now.difference(before),
            };
            let (wide, high) = (side(part.width)?, side(part.height)?);
            let mut frame = gif::Frame::from_rgb_speed(wide, high, &part.rgb, QUALITY);
            (frame.left, frame.top) = (side(left)?, side(top)?);
            frame.delay = if step == steps { STEP * REST } else { STEP };
            frame.dispose = gif::DisposalMethod::Keep;
            encoder.write_frame(&frame)?;
            before = Some(now);
        }
        drop(encoder);
        Ok(file)
    }

    /// The end of the episode, or of its first steps, as a PNG file, with the way the agent took.
    pub fn to_png(&self, scale: usize, most: usize) -> Result<Vec<u8>> {
        let letters = Letters::new()?;
        let step = self.steps().min(most);
        let mut pixels = self.pixels(&letters, scale, step)?;
        pixels.fill(&self.way(step), scale as f32, [200, 40, 30], 150);
        pixels.to_png()
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

    /// The picture after a step.
    fn pixels(&self, letters: &Letters, scale: usize, step: usize) -> Result<Pixels> {
        let frame = Frame {
            task: self.start.task(),
            map: self.start.map(),
            agent: Some(self.steps[step].place),
        };
        let world = frame.to_rgb(scale)?;
        let room = self.start.task().room();
        let (wide, high) = (room.width() * scale, room.height() * scale);
        // The panel is as large beside small cells as beside large ones: it has to be read.
        let panel_scale = (scale as f32 / CELL).max(1.0);
        let height = (high as f32 / panel_scale).max(LEAST_HEIGHT);
        let mut pixels = Pixels::new(
            wide + (WIDTH * panel_scale) as usize,
            (height * panel_scale) as usize,
        );
        let top = (pixels.height - high) / 2;
        for (row, line) in world.chunks_exact(wide * 3).enumerate() {
            let at = (top + row) * pixels.width * 3;
            pixels.rgb[at..at + line.len()].copy_from_slice(line);
        }
        let panel = Panel {
            recording: self,
            letters,
            height,
        };
        for item in panel.items(step) {
            pixels.draw(&item, letters, wide as f32, panel_scale);
        }
        Ok(pixels)
    }
}

impl Pixels {
    fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            rgb: PAPER.repeat(width * height),
        }
    }

    fn draw(&mut self, item: &Item, letters: &Letters, left: f32, scale: f32) {
        match item {
            Item::Text {
                x,
                y,
                size,
                colour,
                text,
            } => {
                let path = letters.outline(text, [0.0, 0.0]);
                let place = Transform::scale(*size, *size)
                    .then_translate(*x, *y)
                    .then_scale(scale, scale)
                    .then_translate(left, 0.0);
                self.mask(&path, place, *colour, 255);
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
                let place = Transform::scale(scale, scale).then_translate(left, 0.0);
                self.mask(&path, place, *colour, 255);
            }
        }
    }

    /// A path in cells, in part transparent.
    fn fill(&mut self, path: &[Command], scale: f32, colour: [u8; 3], cover: u8) {
        self.mask(path, Transform::scale(scale, scale), colour, cover);
    }

    fn mask(&mut self, path: &[Command], place: Transform, colour: [u8; 3], most: u8) {
        let (mask, at) = Mask::new(path)
            .style(Fill::NonZero)
            .transform(Some(place))
            .render();
        for (row, covers) in mask.chunks_exact(at.width.max(1) as usize).enumerate() {
            for (column, cover) in covers.iter().enumerate() {
                let (x, y) = (at.left + column as i32, at.top + row as i32);
                let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
                    continue;
                };
                if x >= self.width || y >= self.height {
                    continue;
                }
                // In 16 degrees, so that a picture has few colours, as GIF files want it.
                let cover = (u16::from(*cover) + 8) / 17 * 17 * u16::from(most) / 255;
                let from = (y * self.width + x) * 3;
                for (old, new) in self.rgb[from..from + 3].iter_mut().zip(colour) {
                    let mixed = u16::from(*old) * (255 - cover) + u16::from(new) * cover;
                    *old = ((mixed + 127) / 255) as u8;
                }
            }
        }
    }

    /// The smallest rectangle outside which two pictures of the same size are the same, and what is in it; one pixel if they are.
    fn difference(&self, before: &Self) -> (usize, usize, Self) {
        let (mut left, mut right, mut top, mut bottom) = (self.width, 0, self.height, 0);
        for (place, (new, old)) in
            (self.rgb.chunks_exact(3).zip(before.rgb.chunks_exact(3))).enumerate()
        {
            if new != old {
                let (x, y) = (place % self.width, place / self.width);
                (left, right) = (left.min(x), right.max(x + 1));
                (top, bottom) = (top.min(y), bottom.max(y + 1));
            }
        }
        if right == 0 {
            (left, right, top, bottom) = (0, 1, 0, 1);
        }
        let row = |y: usize| &self.rgb[(y * self.width + left) * 3..(y * self.width + right) * 3];
        let part = Self {
            width: right - left,
            height: bottom - top,
            rgb: (top..bottom).flat_map(row).copied().collect(),
        };
        (left, top, part)
    }

    fn to_png(&self) -> Result<Vec<u8>> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        writer.finish()?;
        Ok(file)
    }
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
