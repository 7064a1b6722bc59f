//! Drawing as pixels, and PNG files. Whatever else stands in a picture is drawn with the same few operations.

use zeno::{Cap, Join, Mask, Stroke, Style, Transform};

use super::frame::Frame;
use super::palette::{BLACK, Rgb};
use super::scene::{self, Shape};
use crate::env::spec::Cell;
use crate::error::{Error, Result};
use crate::grid::pose::Direction;

/// The pixels of a picture, row by row, three bytes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

/// A rectangle of pixels, and how much of each is covered, row by row. It may lie outside the picture in part.
#[derive(Clone, Copy, Debug)]
pub struct Coverage<'a> {
    /// The column of the picture where it begins.
    pub left: i32,
    /// The row of the picture where it begins.
    pub top: i32,
    /// The pixels in a row.
    pub width: usize,
    /// From 0, not at all, to 255.
    pub mask: &'a [u8],
}

/// The sides a cell can have.
const SCALES: std::ops::RangeInclusive<usize> = 4..=256;
/// The longest side of a picture: that of GIF files.
const LONGEST: usize = u16::MAX as usize;
/// The most pixels of a picture.
const MOST: usize = 50_000_000;

impl Pixels {
    /// A picture of one colour.
    pub fn filled(width: usize, height: usize, colour: Rgb) -> Self {
        Self {
            width,
            height,
            rgb: colour.repeat(width * height),
        }
    }

    /// The room without the agent, `scale` pixels per cell.
    pub(crate) fn of_room(frame: &Frame<'_>, scale: usize) -> Result<Self> {
        let room = frame.task.room();
        let (width, height) = (room.width() * scale, room.height() * scale);
        if !SCALES.contains(&scale) || width.max(height) > LONGEST || width * height > MOST {
            return Err(Error::Picture(format!(
                "{scale} pixels a cell: from {} to {}, no side over {LONGEST}, and no more than {MOST} in all",
                SCALES.start(),
                SCALES.end()
            )));
        }
        let mut pixels = Self::filled(width, height, BLACK);
        pixels.draw(&scene::room(frame), scale);
        Ok(pixels)
    }

    /// The pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Three bytes per pixel, row by row.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    /// Puts a picture on top, as much of it as there is room for.
    pub fn put(&mut self, other: &Self, left: usize, top: usize) {
        let width = other.width.min(self.width.saturating_sub(left)) * 3;
        let rows = self.rgb.chunks_exact_mut(self.width.max(1) * 3).skip(top);
        let others = other.rgb.chunks_exact(other.width.max(1) * 3);
        for (row, other) in rows.zip(others).filter(|_| width > 0) {
            row[left * 3..][..width].copy_from_slice(&other[..width]);
        }
    }

    /// Puts the agent on top of a room, `scale` pixels per cell.
    pub fn put_agent(&mut self, cell: Cell, direction: Direction, scale: usize) {
        self.draw(&scene::agent(cell, direction), scale);
    }

    /// Covers pixels with a colour, each as far as the mask says, at most to this degree of 255: in 16 degrees, so that a picture has few enough
    /// colours for GIF files.
    pub fn cover(&mut self, coverage: Coverage<'_>, colour: Rgb, most: u8) {
        for (row, covered) in (coverage.mask.chunks_exact(coverage.width.max(1))).enumerate() {
            let Some(y) = within(coverage.top, row, self.height) else {
                continue;
            };
            for (column, cover) in covered.iter().enumerate().filter(|(_, cover)| **cover > 0) {
                if let Some(x) = within(coverage.left, column, self.width) {
                    let at = (y * self.width + x) * 3;
                    blend(&mut self.rgb[at..at + 3], colour, *cover, most);
                }
            }
        }
    }

    /// The smallest rectangle outside which two pictures of the same size are the same, and what is in it; one pixel if they are.
    pub(crate) fn difference(&self, before: &Self) -> (usize, usize, Self) {
        let rows = || {
            let stride = self.width.max(1) * 3;
            (self.rgb.chunks_exact(stride)).zip(before.rgb.chunks_exact(stride))
        };
        let differ = |(new, old): (&[u8], &[u8])| new != old;
        let top = rows().position(differ).unwrap_or(0);
        let bottom = rows().rposition(differ).map_or(1, |last| last + 1);
        let (mut left, mut right) = (self.width, 0);
        for (new, old) in rows()
            .take(bottom)
            .skip(top)
            .filter(|rows| rows.0 != rows.1)
        {
            let mut pixels = new.chunks_exact(3).zip(old.chunks_exact(3));
            left = left.min(pixels.position(differ).unwrap_or(left));
            let mut pixels = new.chunks_exact(3).zip(old.chunks_exact(3));
            right = right.max(pixels.rposition(differ).map_or(right, |last| last + 1));
        }
        if right == 0 {
            (left, right) = (0, 1);
        }
        let row = |y: usize| &self.rgb[(y * self.width + left) * 3..(y * self.width + right) * 3];
        let part = Self {
            width: right - left,
            height: bottom - top,
            rgb: (top..bottom).flat_map(row).copied().collect(),
        };
        (left, top, part)
    }

    /// Draws shapes on top.
    fn draw(&mut self, shapes: &[Shape], scale: usize) {
        let scale = scale as f32;
        for shape in shapes {
            let mut stroke = Stroke::new(shape.line.unwrap_or(0.0) * scale);
            stroke.cap(Cap::Round).join(Join::Round).scale(false);
            let style = match shape.line {
                Some(_) => Style::Stroke(stroke),
                None => Style::Fill(zeno::Fill::NonZero),
            };
            let (mask, place) = Mask::new(shape.path.as_str())
                .style(style)
                .transform(Some(Transform::scale(scale, scale)))
                .render();
            let coverage = Coverage {
                left: place.left,
                top: place.top,
                width: place.width as usize,
                mask: &mask,
            };
            self.cover(coverage, shape.colour, u8::MAX);
        }
    }

    /// The picture as a PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let written = (encoder.write_header()).and_then(|mut writer| {
            writer.write_image_data(&self.rgb)?;
            writer.finish()
        });
        written.map_err(|error| Error::Picture(error.to_string()))?;
        Ok(file)
    }
}

/// The row or column, if the picture has it.
fn within(start: i32, offset: usize, size: usize) -> Option<usize> {
    let position = usize::try_from(i64::from(start) + offset as i64).ok()?;
    (position < size).then_some(position)
}

/// Covers a pixel in part.
fn blend(pixel: &mut [u8], colour: Rgb, cover: u8, most: u8) {
    let cover = (u16::from(cover) + 8) / 17 * 17 * u16::from(most) / 255;
    for (old, new) in pixel.iter_mut().zip(colour) {
        let mixed = u16::from(*old) * (255 - cover) + u16::from(new) * cover;
        *old = ((mixed + 127) / 255) as u8;
    }
}

impl Frame<'_> {
    /// The picture as pixels, `scale` of them per cell (from 4 to 256).
    pub fn to_pixels(&self, scale: usize) -> Result<Pixels> {
        let mut pixels = Pixels::of_room(self, scale)?;
        if let Some((cell, direction)) = self.agent {
            pixels.put_agent(cell, direction, scale);
        }
        Ok(pixels)
    }

    /// The same row by row, three bytes per pixel.
    pub fn to_rgb(&self, scale: usize) -> Result<Vec<u8>> {
        Ok(self.to_pixels(scale)?.rgb)
    }

    /// The same as a PNG file.
    pub fn to_png(&self, scale: usize) -> Result<Vec<u8>> {
        self.to_pixels(scale)?.to_png()
    }
}
