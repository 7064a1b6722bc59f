//! Recording an episode as a compressed trace.

use super::trace::{Kind, Trace};
use crate::logic::atom_set::AtomSet;
use crate::machine::run::Compressor;

/// Records the observations of an episode, the one at reset included.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    compressor: Compressor,
    steps: Vec<AtomSet>,
}

impl Recorder {
    /// A recorder at the start of an episode.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one observation; `true` if it became a step of the trace.
    pub fn observe(&mut self, observation: &AtomSet) -> bool {
        let new = self.compressor.admits(observation);
        if new {
            self.steps.push(observation.clone());
        }
        new
    }

    /// The steps so far.
    pub fn steps(&self) -> &[AtomSet] {
        &self.steps
    }

    /// The trace of the episode, which ended with `kind`; the recorder is ready for the next one.
    pub fn finish(&mut self, kind: Kind) -> Trace {
        self.compressor.reset();
        Trace::new(kind, std::mem::take(&mut self.steps))
    }
}
