//! The interface of a labelled environment (the paper's Section 2: an MDP and a labelling function).

use std::sync::Arc;

use form_core::{AtomId, AtomSet, Signature, StepMode};
use rand::Rng;

use super::spec::{Cell, EpisodeOutcome, Spec};
use crate::error::Result;

/// A labelled environment: its labels are the atoms that a step makes true.
///
/// An episode goes from [`reset`](Self::reset) to the step whose outcome is no longer [`EpisodeOutcome::Running`]. What the
/// task is stays inside: a learner sees labels and outcomes, and never the machine behind them.
///
/// The contract, which [`check_environment`](crate::check_environment) tests:
/// - the same generator and the same actions give the same episode, independent of earlier episodes;
/// - labels are atoms of the signature, and of the episode's own if there is one, those right after `reset` included;
/// - an episode runs for at least one step; once it is over nothing happens any more: further steps give the same outcome,
///   no labels, and the same observation;
/// - an action that does not exist is an error and changes nothing.
pub trait Environment: Send + Sync {
    /// All atoms that can ever be among the labels.
    fn signature(&self) -> &Signature;

    /// The atoms that can be among the labels of this episode, if these are not all of the signature: where episodes have different
    /// objects, `forall` ranges over those of the episode.
    fn own_signature(&self) -> Option<&Arc<AtomSet>> {
        None
    }

    /// The atoms that can be among the labels of every episode, if episodes have different objects: machines may name these objects.
    fn shared_signature(&self) -> Option<&Arc<AtomSet>> {
        None
    }

    /// The shape of observations.
    fn spec(&self) -> &Spec;

    /// The names of the actions; an action is a position in this list.
    fn actions(&self) -> &[String];

    /// Starts an episode. All randomness of the episode comes from `random`.
    fn reset(&mut self, random: &mut dyn Rng) -> Result<()>;

    /// Takes an action.
    fn step(&mut self, action: usize) -> Result<EpisodeOutcome>;

    /// The atoms that the last step, or the reset, made true.
    fn labels(&self) -> &AtomSet;

    /// Writes the observation: [`Spec::planes_len`] bytes and [`Spec::vector_len`] numbers.
    fn observe(&self, planes: &mut [u8], vector: &mut [f32]);

    /// Which steps machines and traces of the environment have: every change of the labels, or every step.
    fn step_mode(&self) -> StepMode {
        StepMode::Changes
    }

    /// The cell of the planes that shows the object of an atom, if the environment knows it. With it, progress towards a `forall` can
    /// be encoded as an image plane of the missing objects, for any number of them.
    fn cell_of(&self, atom: AtomId) -> Option<Cell> {
        let _ = atom;
        None
    }

    /// All cells in which an atom is observed, if the environment knows them: none, one, or several. With them and
    /// the walls of a room, a `Planner` turns machines into cells to reach and to avoid.
    fn cells_of(&self, atom: AtomId) -> Option<Vec<Cell>> {
        self.cell_of(atom).map(|cell| vec![cell])
    }
}
