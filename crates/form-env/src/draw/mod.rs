//! Pictures of worlds, with the paper's look: text, SVG, PNG, and episodes as animated SVG and GIF.

pub(crate) mod animation;
pub(crate) mod digits;
pub(crate) mod frame;
pub(crate) mod gif_file;
pub(crate) mod palette;
pub(crate) mod raster;
pub(crate) mod scene;
pub(crate) mod svg;
pub(crate) mod text;
