//! Policies that exploit first-order reward machines: the networks they are made of and how they are trained.

mod adam;
mod advantage;
mod choice;
mod error;
mod net;
mod ppo;

pub use adam::{Adam, clip_gradient};
pub use advantage::{Ending, Trajectory, advantages, normalise};
pub use choice::{greedy, log_softmax, sample};
pub use error::{Error, Result};
pub use net::{
    Batch, Engine, ImageConfig, Judged, LayerConfig, Loss, Network, NetworkConfig, Outputs,
    VectorConfig, matrix_flops,
};
pub use ppo::{PpoConfig, PpoLoss, PpoReport, PpoSums, Samples, ValueClip, update};
