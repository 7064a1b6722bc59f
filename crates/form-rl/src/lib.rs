//! Policies that exploit first-order reward machines: the networks they are made of and how they are trained.

mod error;
mod net;

pub use error::{Error, Result};
pub use net::{
    Batch, Engine, ImageConfig, Judged, LayerConfig, Loss, Network, NetworkConfig, Outputs,
    VectorConfig,
};
