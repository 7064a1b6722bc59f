//! Which environment steps are observations: every change, as in the paper, or every step.
//!
//! With `steps changes` empty observations are dropped and equal consecutive ones count once. With `steps all` every step counts:
//! "press twice", a cost per step, or the temporal logic LTLf need that. A machine says which, and so does the first line of a
//! trace file; a machine never runs on traces of the other kind.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::logic::atom_set::AtomSet;

/// Which environment steps are observations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StepMode {
    /// `steps changes`: empty observations are dropped, equal consecutive ones count once.
    #[default]
    Changes,
    /// `steps all`: every step, with an empty observation too.
    All,
}

impl StepMode {
    /// As files write it after `steps`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Changes => "changes",
            Self::All => "all",
        }
    }

    /// Refuses a mixture: `what` has this mode and is used with `other`, which has another one.
    pub fn must_be(self, mode: Self, what: &str, other: &str) -> Result<()> {
        if self == mode {
            return Ok(());
        }
        Err(Error::MixedSteps {
            what: what.to_owned(),
            steps: self.as_str(),
            other: other.to_owned(),
            other_steps: mode.as_str(),
        })
    }
}

impl fmt::Display for StepMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for StepMode {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        [Self::Changes, Self::All]
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| format!("unknown steps `{text}`, expected `all` or `changes`"))
    }
}

/// Decides which observations are steps of a trace: with [`StepMode::Changes`] empty ones are dropped and equal consecutive ones
/// count once, with [`StepMode::All`] all are.
///
/// Recorder and runtime share it: a running machine never gets an observation that learning would have dropped.
#[derive(Clone, Debug, Default)]
pub struct Compressor {
    mode: StepMode,
    last: AtomSet,
}

impl Compressor {
    /// A compressor at the start of an episode.
    pub fn new(mode: StepMode) -> Self {
        Self {
            mode,
            last: AtomSet::new(),
        }
    }

    /// As [`Compressor::new`], after an observation over a signature of this size.
    pub(super) fn resumed(mode: StepMode, last: &AtomSet, atoms: usize) -> Self {
        let mut room = AtomSet::with_room_for(atoms);
        room.copy_from(last);
        Self { mode, last: room }
    }

    /// Which steps count.
    pub fn mode(&self) -> StepMode {
        self.mode
    }

    /// The last observation that was admitted. Empty at the start of an episode.
    #[inline]
    pub fn last(&self) -> &AtomSet {
        &self.last
    }

    /// Whether the observation would belong to the trace.
    #[inline]
    pub fn would_admit(&self, observation: &AtomSet) -> bool {
        let new = !observation.is_empty() && *observation != self.last;
        new || self.mode == StepMode::All
    }

    /// Whether the observation belongs to the trace; remembers it if so.
    #[inline]
    pub fn admits(&mut self, observation: &AtomSet) -> bool {
        let admitted = self.would_admit(observation);
        if admitted {
            self.last.copy_from(observation);
        }
        admitted
    }

    /// Forgets the last observation, for a new episode.
    pub fn reset(&mut self) {
        self.last.clear();
    }
}
