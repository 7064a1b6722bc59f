//! Where `plotters` draws for a PNG file: shapes and letters, with soft edges.
//!
//! `plotters` has only whole coordinates. They are finer than the pixels here, so that lines are smooth.

use std::convert::Infallible;

use anyhow::Result;
use form_lab::Letters;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};
use zeno::{Angle, Cap, Command, Fill, Join, Mask, PathBuilder, Stroke, Style, Transform};

/// `plotters` draws letters smaller than the given font size by this factor.
pub(super) const FONT_FACTOR: f64 = 1.24;

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// A picture that is being drawn.
pub(super) struct Canvas<'a> {
    letters: &'a Letters,
    /// The size in the coordinates of `plotters`.
    size: (u32, u32),
    /// Pixels a coordinate.
    scale: f32,
    pixels: &'a mut Pixels,
}

/// The pixels row by row, three bytes each.
pub(super) struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Pixels {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            rgb: vec![255; width * height * 3],
        }
    }

    /// A PNG file.
    pub(super) fn to_png(&self) -> Result<Vec<u8>> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        writer.finish()?;
        Ok(file)
    }

    fn blend(&mut self, x: i32, y: i32, color: BackendColor, cover: u8) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
            return;
        };
        if x >= self.width || y >= self.height {
            return;
        }
        let cover = color.alpha * f64::from(cover) / 255.0;
        let at = (y * self.width + x) * 3;
        let (r, g, b) = color.rgb;
        for (old, new) in self.rgb[at..at + 3].iter_mut().zip([r, g, b]) {
            let mixed = f64::from(*old) * (1.0 - cover) + f64::from(new) * cover;
            *old = mixed.round() as u8;
        }
    }
}

impl<'a> Canvas<'a> {
    /// Draws onto these pixels, which are `units` coordinates wide.
    pub(super) fn new(letters: &'a Letters, size: (u32, u32), pixels: &'a mut Pixels) -> Self {
        let scale = pixels.width as f32 / size.0 as f32;
        Self {
            letters,
            size,
            scale,
            pixels,
        }
    }

    fn shape(
        &mut self,
        path: &[Command],
        style: impl Into<Style<'static>>,
        transform: Transform,
        color: BackendColor,
    ) {
        let transform = transform.then_scale(self.scale, self.scale);
        let (mask, place) = Mask::new(path)
            .style(style.into())
            .transform(Some(transform))
            .render();
        let width = place.width.max(1) as usize;
        for (y, row) in (place.top..).zip(mask.chunks_exact(width)) {
            for (x, cover) in (place.left..).zip(row) {
                self.pixels.blend(x, y, color, *cover);
            }
        }
    }

    fn line<S: BackendStyle>(&mut self, path: &[Command], style: &S) {
        let mut stroke = Stroke::new(style.stroke_width() as f32);
        stroke.cap(Cap::Butt).join(Join::Round);
        self.shape(path, stroke, Transform::IDENTITY, style.color());
    }

    fn fill<S: BackendStyle>(&mut self, path: &[Command], style: &S) {
        self.shape(path, Fill::NonZero, Transform::IDENTITY, style.color());
    }
}

fn place((x, y): BackendCoord) -> [f32; 2] {
    [x as f32, y as f32]
}

fn through(points: impl IntoIterator<Item = BackendCoord>) -> Vec<Command> {
    let mut path = Vec::new();
    for (i, point) in points.into_iter().enumerate() {
        if i == 0 {
            path.move_to(place(point));
        } else {
            path.line_to(place(point));
        }
    }
    path
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        let path = through([(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)]);
        self.shape(&path, Fill::NonZero, Transform::IDENTITY, color);
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn {
        self.line(&through([from, to]), style);
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let mut path = through([(left, top), (right, top), (right, bottom), (left, bottom)]);
        path.close();
        if fill {
            self.fill(&path, style);
        } else {
            self.line(&path, style);
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.line(&through(path), style);
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let mut path: Vec<Command> = Vec::new();
        path.add_circle(place(center), radius as f32);
        if fill {
            self.fill(&path, style);
        } else {
            self.line(&path, style);
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn {
        let mut path = through(corners);
        path.close();
        self.fill(&path, style);
        Ok(())
    }

    /// Where the backend for SVG has it.
    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Drawn {
        let size = (style.size() / FONT_FACTOR) as f32;
        let right = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -0.5,
            HPos::Right => -1.0,
        };
        // An `ex`, the height of the letter x, is about half the size.
        let down = match style.anchor().v_pos {
            VPos::Top => 0.76,
            VPos::Center => 0.265,
            VPos::Bottom => -0.265,
        };
        let degrees = match style.transform() {
            FontTransform::None => 0.0,
            FontTransform::Rotate90 => 90.0,
            FontTransform::Rotate180 => 180.0,
            FontTransform::Rotate270 => 270.0,
        };
        let path = (self.letters).outline(text, [right * self.letters.width(text), down]);
        let transform = Transform::scale(size, size)
            .then_rotate(Angle::from_degrees(degrees))
            .then_translate(x as f32, y as f32);
        self.shape(&path, Fill::NonZero, transform, style.color());
        Ok(())
    }
}
