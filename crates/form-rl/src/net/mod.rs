//! Networks: layers with explicit forward and backward passes, on blocks of samples that stay in cache.
//!
//! The only module that knows the processor's vector registers (`pulp`). `layer` is the trait; one file per layer (`dense`, `conv`, `pool`, `tanh`, `relu`,
//! `lstm`), over `tile` and `strip`, which keep sums in vector registers, and `aligned` buffers; `sparse` is for images of mostly zeros.
//! `config` describes and builds layers, `chain` runs them in sequence, `network` joins image, vectors, trunk and heads, `initial`
//! initialises weights, `inherit` transfers them, `normalise` is the running normalisation of observations, `batch` the samples,
//! `engine` evaluates them on all cores, `weights` is the file.

mod activation;
mod aligned;
mod batch;
mod chain;
mod config;
mod conv;
mod dense;
mod engine;
mod inherit;
mod initial;
mod layer;
mod lstm;
mod network;
mod normalise;
mod peak;
mod pool;
mod relu;
mod sparse;
mod strip;
mod tanh;
mod tile;
mod transpose;
mod vector;
mod weights;

pub use batch::{Batch, Loss, LossInput, Outputs};
pub use config::{ImageConfig, LayerConfig, NetworkConfig, VectorConfig};
pub use engine::Engine;
pub(crate) use engine::{Evaluator, SHARDS};
pub use inherit::{Inheritance, WeightOrigin};
pub use initial::Initial;
pub use network::Network;
pub use peak::peak_flops;
pub use vector::only_avx2;
pub(crate) use vector::vectorised;
