//! Animated GIF files: the first frame is the whole picture, each further one the rectangle that has changed.

use gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};

use super::raster::Pixels;
use crate::error::{Error, Result};

/// A GIF file that is being made.
pub struct GifFile {
    encoder: Encoder<Vec<u8>>,
    before: Pixels,
}

/// How carefully the colours of a frame are chosen if it has more than 256: from 1, the best, to 30.
const QUALITY: i32 = 10;

impl GifFile {
    /// Begins with a picture, shown for that many hundredths of a second.
    pub fn new(first: Pixels, hundredths: u16) -> Result<Self> {
        let (width, height) = (side(first.width())?, side(first.height())?);
        if width == 0 || height == 0 {
            return Err(Error::Picture("it has no pixels".to_owned()));
        }
        let mut encoder =
            Encoder::new(Vec::new(), width, height, &[]).map_err(|error| failed(&error))?;
        encoder
            .set_repeat(Repeat::Infinite)
            .map_err(|error| failed(&error))?;
        write(&mut encoder, &first, [0, 0], hundredths)?;
        let before = first;
        Ok(Self { encoder, before })
    }

    /// Adds a picture of the same size.
    pub fn add(&mut self, picture: Pixels, hundredths: u16) -> Result<()> {
        let size = |picture: &Pixels| (picture.width(), picture.height());
        if size(&picture) != size(&self.before) {
            let found = "the pictures of a GIF file have different sizes";
            return Err(Error::Picture(found.to_owned()));
        }
        let (left, top, changed) = picture.difference(&self.before);
        write(&mut self.encoder, &changed, [left, top], hundredths)?;
        self.before = picture;
        Ok(())
    }

    /// The file.
    pub fn finish(self) -> Result<Vec<u8>> {
        let written = self.encoder.into_inner();
        written.map_err(|error| Error::Picture(error.to_string()))
    }
}

/// Writes a frame with a part of the picture.
fn write(
    encoder: &mut Encoder<Vec<u8>>,
    part: &Pixels,
    [left, top]: [usize; 2],
    hundredths: u16,
) -> Result<()> {
    let (wide, high) = (side(part.width())?, side(part.height())?);
    let mut frame = Frame::from_rgb_speed(wide, high, part.rgb(), QUALITY);
    (frame.left, frame.top) = (side(left)?, side(top)?);
    frame.delay = hundredths;
    frame.dispose = DisposalMethod::Keep;
    encoder.write_frame(&frame).map_err(|error| failed(&error))
}

fn side(length: usize) -> Result<u16> {
    u16::try_from(length).map_err(|_| Error::Picture("it is too large for a GIF file".to_owned()))
}

fn failed(error: &EncodingError) -> Error {
    Error::Picture(error.to_string())
}
