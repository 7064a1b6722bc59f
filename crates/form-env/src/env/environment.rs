//! The interface of a labelled environment (the paper's Section 2: an MDP and a labelling function).

use form_core::{AtomId, AtomSet, Signature};
use rand::Rng;

use super::spec::{Cell, EpisodeOutcome, Spec};
use crate::error::Result;

/// An environment that says in labels what happens in it.
///
/// An episode goes from [`reset`](Self::reset) to the step whose outcome is no longer [`EpisodeOutcome::Running`]. What the
/// task is stays inside: a learner sees labels and outcomes, and never the machine behind them.
///
/// What the methods promise is what [`check_environment`](crate::check_environment) tests:
/// - the same generator and the same actions give the same episode, whatever was played before;
/// - labels are atoms of the signature, those right after `reset` included;
/// - an episode runs for at least one step; once it is over nothing happens any more: further steps give the same outcome,
///   no labels, and the same observation;
/// - an action that does not exist is an error and changes nothing.
pub trait Environment: Send + Sync {
    /// All atoms that can ever be among the labels.
    fn signature(&self) -> &Signature;

    /// The shape of observations.
    fn spec(&self) -> &Spec;

    /// The names of the actions; an action is a position in this list.
    fn actions(&self) -> &[String];

    /// Starts an episode. All randomness of the episode comes from `random`.
    fn reset(&mut self, random: &mut dyn Rng) -> Result<()>;

    /// Takes an action.
    fn step(&mut self, action: usize) -> Result<EpisodeOutcome>;

    /// What the last step, or the reset, made true.
    fn labels(&self) -> &AtomSet;

    /// Writes the observation: [`Spec::planes_len`] bytes and [`Spec::vector_len`] numbers.
    fn observe(&self, planes: &mut [u8], vector: &mut [f32]);

    /// The cell of the object that an atom is about, where the environment can say so. With it, progress towards a `forall`
    /// can be shown to a policy as a plane over the objects still to be seen, whatever their number.
    fn cell_of(&self, atom: AtomId) -> Option<Cell> {
        let _ = atom;
        None
    }
}
