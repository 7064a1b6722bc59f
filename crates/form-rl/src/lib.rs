//! Policies that exploit first-order reward machines: the networks they are made of and how they are trained.
//!
//! A [`NetworkConfig`] says what a [`Network`] looks like; an [`Engine`] brings a [`Batch`] through it on all cores, for its
//! [`Outputs`] or for the gradient of a [`Loss`]. [`advantages`] and [`update`] are proximal policy optimisation:
//!
//! ```
//! use form_rl::{Batch, Engine, Network, NetworkConfig, Outputs, greedy};
//! use rand::SeedableRng;
//!
//! // The paper's network, for a grid of 13 × 13 cells with three bytes each, four indicators and seven actions.
//! let config = NetworkConfig::paper([13, 13, 3], &[("indicators", 4)], 7);
//! let network = Network::new(&config, &mut rand_pcg::Pcg64Mcg::seed_from_u64(1))?;
//! let (images, vectors) = (vec![0; 2 * network.image_len()], vec![0.0; 2 * network.vector_len()]);
//! let mut outputs = Outputs::default();
//! Engine::new(&network, 1).evaluate(&network, &Batch::all(&images, &vectors), &mut outputs)?;
//! assert_eq!(outputs.values.len(), 2);
//! assert!(greedy(&outputs.logits[..7]) < 7);
//! # Ok::<(), form_rl::Error>(())
//! ```
//!
//! A [`Cast`] says which [`Agent`] acts in which state of a machine and what it sees; in a [`Game`] they play in many worlds at
//! once; a [`Checkpoint`] is the file from which a run goes on.
//!
//! The same seed gives the same bits, whatever the number of threads.

mod adam;
mod advantage;
mod agents;
mod checkpoint;
mod choice;
mod error;
mod net;
mod ppo;
mod rollout;
mod speed;

pub use adam::{Adam, clip_gradient};
pub use advantage::{Ending, Trajectory, advantages, normalise};
pub use agents::agent::Agent;
pub use agents::cast::{Cast, Role, Roles, nothing_known};
pub use agents::sight::{Moment, Progress, Sight};
pub use agents::style::{ActivationStyle, NetworkStyle};
pub use checkpoint::checkpoint::{Checkpoint, Policy};
pub use choice::{greedy, log_softmax, sample};
pub use error::{Error, Result};
pub use net::{
    Batch, Engine, Fate, ImageConfig, Inheritance, Initial, Judged, LayerConfig, Loss, Network,
    NetworkConfig, Outputs, VectorConfig, matrix_flops,
};
pub use ppo::{PpoConfig, PpoLoss, PpoReport, PpoSums, Samples, ValueClip, update};
pub use rollout::experience::Experience;
pub use rollout::game::{Collected, Game};
pub use rollout::play::{PlayConfig, PlayProgress};
pub use rollout::rules::{Choice, Credit, Episode, GameConfig};
pub use speed::Workload;
