//! A world of any benchmark as one type, for programs that learn only when they run which one it is.

use form_core::{AtomId, AtomSet, Signature};
use rand::Rng;

use super::letter_world::LetterWorld;
use super::water::WaterWorld;
use crate::env::environment::Environment;
use crate::env::spec::{Cell, EpisodeOutcome, Spec};
use crate::error::Result;

/// Office, Craft, Letter or Water world.
#[derive(Clone, Debug)]
pub enum BenchmarkWorld {
    /// One of cells with letters.
    Letters(Box<LetterWorld>),
    /// Water world, which is continuous.
    Water(Box<WaterWorld>),
}

impl BenchmarkWorld {
    /// The world of cells; `None` in Water world.
    pub fn letters(&self) -> Option<&LetterWorld> {
        match self {
            Self::Letters(world) => Some(world),
            Self::Water(_) => None,
        }
    }

    fn inner(&self) -> &dyn Environment {
        match self {
            Self::Letters(world) => &**world,
            Self::Water(world) => &**world,
        }
    }

    fn inner_mut(&mut self) -> &mut dyn Environment {
        match self {
            Self::Letters(world) => &mut **world,
            Self::Water(world) => &mut **world,
        }
    }
}

impl From<LetterWorld> for BenchmarkWorld {
    fn from(world: LetterWorld) -> Self {
        Self::Letters(Box::new(world))
    }
}

impl From<WaterWorld> for BenchmarkWorld {
    fn from(world: WaterWorld) -> Self {
        Self::Water(Box::new(world))
    }
}

impl Environment for BenchmarkWorld {
    fn signature(&self) -> &Signature {
        self.inner().signature()
    }

    fn spec(&self) -> &Spec {
        self.inner().spec()
    }

    fn actions(&self) -> &[String] {
        self.inner().actions()
    }

    fn reset(&mut self, random: &mut dyn Rng) -> Result<()> {
        self.inner_mut().reset(random)
    }

    fn step(&mut self, action: usize) -> Result<EpisodeOutcome> {
        self.inner_mut().step(action)
    }

    fn labels(&self) -> &AtomSet {
        self.inner().labels()
    }

    fn observe(&self, planes: &mut [u8], vector: &mut [f32]) {
        self.inner().observe(planes, vector);
    }

    fn cells_of(&self, atom: AtomId) -> Option<Vec<Cell>> {
        self.inner().cells_of(atom)
    }
}
