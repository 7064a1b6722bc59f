//! Networks: layers with explicit forward and backward passes, in blocks that stay in cache.
//!
//! The only room that knows the matrix library. `layer` says what a layer is; each layer is a file (`dense`, `conv`,
//! `pool`, `tanh`, `relu`, `lstm`), written over `tile` and `strip`, which keep sums in vector registers, or over `matmul`;
//! `sparse` is for images of mostly zeros; `config` builds them, `chain` runs them one after another, `network` puts image, vectors,
//! trunk and heads together, `initial` draws their first weights, `inherit` takes another network's, `normalise` knows what
//! observations look like on average, `batch` runs many samples on all cores, `weights` is the file.

mod activation;
mod batch;
mod chain;
mod config;
mod conv;
mod dense;
mod inherit;
mod initial;
mod layer;
mod lstm;
mod matmul;
mod network;
mod normalise;
mod pool;
mod relu;
mod sparse;
mod strip;
mod tanh;
mod tile;
mod vector;
mod weights;

pub use batch::{Batch, Engine, Loss, LossInput, Outputs};
pub use config::{ImageConfig, LayerConfig, NetworkConfig, VectorConfig};
pub use inherit::{Inheritance, WeightOrigin};
pub use initial::Initial;
pub use matmul::matrix_flops;
pub use network::Network;
pub(crate) use vector::vectorised;
