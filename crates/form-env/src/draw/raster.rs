//! Drawing as pixels, and PNG files.

use zeno::{Cap, Join, Mask, Stroke, Style, Transform};

use super::frame::Frame;
use super::scene::{self, Shape};
use crate::error::{Error, Result};

/// The pixels of a picture, row by row, three bytes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pixels {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) rgb: Vec<u8>,
}

/// The sides a cell can have.
const SCALES: std::ops::RangeInclusive<usize> = 4..=256;
/// The longest side of a picture: that of GIF files.
const LONGEST: usize = u16::MAX as usize;
/// The most pixels of a picture.
const MOST: usize = 50_000_000;

impl Pixels {
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
        let mut pixels = Self {
            width,
            height,
            rgb: vec![0; width * height * 3],
        };
        pixels.draw(&scene::room(frame), scale);
        Ok(pixels)
    }

    /// A rectangle of the picture.
    pub(crate) fn part(&self, left: usize, top: usize, right: usize, bottom: usize) -> Self {
        let row = |y: usize| &self.rgb[(y * self.width + left) * 3..(y * self.width + right) * 3];
        Self {
            width: right - left,
            height: bottom - top,
            rgb: (top..bottom).flat_map(row).copied().collect(),
        }
    }

    /// Draws shapes on top.
    pub(crate) fn draw(&mut self, shapes: &[Shape], scale: usize) {
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
            for (row, covered) in mask.chunks_exact(place.width.max(1) as usize).enumerate() {
                let Some(y) = within(place.top, row, self.height) else {
                    continue;
                };
                for (column, cover) in covered.iter().enumerate() {
                    if let Some(x) = within(place.left, column, self.width) {
                        let at = (y * self.width + x) * 3;
                        blend(&mut self.rgb[at..at + 3], shape.colour, *cover);
                    }
                }
            }
        }
    }
}

/// The row or column, if the picture has it.
fn within(start: i32, offset: usize, size: usize) -> Option<usize> {
    let position = usize::try_from(i64::from(start) + offset as i64).ok()?;
    (position < size).then_some(position)
}

/// Covers a pixel in part: in 16 degrees, so that a picture has few enough colours for GIF files.
fn blend(pixel: &mut [u8], colour: [u8; 3], cover: u8) {
    let cover = (u16::from(cover) + 8) / 17 * 17;
    for (old, new) in pixel.iter_mut().zip(colour) {
        let mixed = u16::from(*old) * (255 - cover) + u16::from(new) * cover;
        *old = ((mixed + 127) / 255) as u8;
    }
}

impl Frame<'_> {
    fn pixels(&self, scale: usize) -> Result<Pixels> {
        let mut pixels = Pixels::of_room(self, scale)?;
        if let Some((cell, direction)) = self.agent {
            pixels.draw(&scene::agent(cell, direction), scale);
        }
        Ok(pixels)
    }

    /// The picture as pixels, `scale` of them per cell (from 4 to 256): row by row, three bytes each.
    pub fn to_rgb(&self, scale: usize) -> Result<Vec<u8>> {
        Ok(self.pixels(scale)?.rgb)
    }

    /// The picture as a PNG file, `scale` pixels per cell (from 4 to 256).
    pub fn to_png(&self, scale: usize) -> Result<Vec<u8>> {
        let pixels = self.pixels(scale)?;
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, pixels.width as u32, pixels.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let written = (encoder.write_header()).and_then(|mut writer| {
            writer.write_image_data(&pixels.rgb)?;
            writer.finish()
        });
        written.map_err(|error| Error::Picture(error.to_string()))?;
        Ok(file)
    }
}
