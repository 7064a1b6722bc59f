//! Policies that exploit first-order reward machines: their networks, and their training with proximal policy optimisation.
//!
//! A [`NetworkConfig`] describes a [`Network`]; an [`Engine`] evaluates a [`Batch`] on all cores, for its [`Outputs`] or for the
//! gradient of a [`Loss`]. [`gae`] estimates advantages, and [`update`] is one update of PPO:
//!
//! ```
//! use form_rl::{Batch, Engine, Network, NetworkConfig, Outputs, greedy};
//! use rand::SeedableRng;
//!
//! // The paper's network, for a grid of 13 × 13 cells with 3 bytes per cell, 4 indicators and 7 actions.
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
//! An [`AgentAssignment`] says which [`Agent`] acts in which state of a machine and what it observes; a [`Game`] steps many worlds
//! with these agents, and a [`Player`] asks them in a world that someone else steps; a [`Checkpoint`] is the file from which a run resumes.
//!
//! A [`QLearner`] is tabular Q-learning with counterfactual experience, an [`Optimum`] what it can reach.
//!
//! The same seed gives the same bits, with any number of threads.

mod adam;
mod advantage;
mod agents;
mod bundle;
mod categorical;
mod checkpoint;
mod error;
mod experience;
mod net;
mod ppo;
mod reach_avoid;
mod rollout;
mod speed;
mod tabular;

pub use adam::Adam;
pub use advantage::{Trajectory, TrajectoryEnd, gae};
pub use agents::agent::Agent;
pub use agents::agent_assignment::{AgentAssignment, AssignmentMode, Role, nothing_known};
pub use agents::architecture::{Activation, Architecture};
pub use agents::observation_encoder::{MachineState, ObservationEncoder, ProgressEncoding};
pub(crate) use categorical::sample_at;
pub use categorical::{greedy, log_softmax, sample};
pub use checkpoint::{Checkpoint, Policy};
pub use error::{Error, Result};
pub use experience::Experience;
pub use net::{
    Batch, Engine, ImageConfig, Inheritance, Initial, LayerConfig, Loss, LossInput, Network,
    NetworkConfig, Outputs, VectorConfig, WeightOrigin, only_avx2, peak_flops,
};
pub use ppo::{PpoConfig, PpoLoss, PpoReport, PpoSums, Samples, ValueClip, update};
pub use reach_avoid::course::Course;
pub use reach_avoid::distances::Distances;
pub use reach_avoid::evaluation::{Chooser, SubTaskOutcomes, evaluate_sub_tasks};
pub use reach_avoid::imitation::{Imitation, ImitationConfig, ImitationReport};
pub use reach_avoid::navigator::Navigator;
pub use reach_avoid::policy::{ActionValues, PolicyOrigin, ReachAvoidPolicy};
pub use reach_avoid::sub_tasks::{SubTask, SubTasks};
pub use rollout::game::{Collected, Game};
pub use rollout::game_config::{Choice, Credit, EndPotential, Episode, GameConfig};
pub use rollout::label_noise::{LabelNoise, WrongLabels, observable};
pub use rollout::play::{PlayConfig, PlayProgress};
pub use rollout::player::Player;
pub use speed::Workload;
pub use tabular::curve::learning_curve;
pub use tabular::optimum::Optimum;
pub use tabular::q_learning::{QEpisode, QLearner, QSettings};
