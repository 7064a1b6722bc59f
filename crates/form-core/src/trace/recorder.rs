//! Recording an episode as a trace.

use std::sync::Arc;

use super::trace::{Kind, Trace};
use crate::logic::atom_set::AtomSet;
use crate::machine::step_mode::{Compressor, StepMode};

/// Records the observations of an episode, the one at reset included.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    compressor: Compressor,
    steps: Vec<AtomSet>,
    own: Option<Arc<AtomSet>>,
}

impl Recorder {
    /// A recorder of every change, at the start of an episode.
    pub fn new() -> Self {
        Self::default()
    }

    /// A recorder of the steps that count in this mode, at the start of an episode.
    pub fn with_mode(mode: StepMode) -> Self {
        Self {
            compressor: Compressor::new(mode),
            ..Self::default()
        }
    }

    /// The same recorder for an episode in which these atoms can be observed, if that is told: its trace has them as its own signature.
    #[must_use]
    pub fn within(mut self, own: Option<Arc<AtomSet>>) -> Self {
        self.own = own;
        self
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
        let steps = std::mem::take(&mut self.steps);
        let trace = Trace::with_mode(self.compressor.mode(), kind, steps);
        match self.own.take() {
            Some(own) => trace.with_signature(own),
            None => trace,
        }
    }
}
