//! Office, Craft and Letter world as labelled environments. They never end by themselves: what is to be done is said by a machine.

use form_core::{AtomId, AtomSet, Signature};
use rand::Rng;

use super::letter_grid::{LetterGrid, MOVES, Names, name_of};
use super::{craft, letters, office};
use crate::env::environment::Environment;
use crate::env::labelled_mdp::LabelledMdp;
use crate::env::spec::{Cell, Channel, EpisodeOutcome, Feature, Planes, Spec};
use crate::error::{Error, Result};

/// Whether atoms are called by what they mean (`coffee`) or by the letter of the published maps and machines (`f`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// By what they mean.
    #[default]
    Words,
    /// By their letter.
    Letters,
}

/// Which map an episode has.
#[derive(Clone, Debug)]
enum Source {
    Fixed,
    /// A new one of this size, with these letters.
    Fresh {
        size: usize,
        letters: String,
    },
}

/// A world of cells with letters. An episode ends after a number of steps.
#[derive(Clone, Debug)]
pub struct LetterWorld {
    source: Source,
    grid: LetterGrid,
    names: &'static Names,
    signature: Signature,
    spec: Spec,
    actions: Vec<String>,
    /// The label of each cell.
    cells: Vec<AtomSet>,
    limit: u32,
    at: usize,
    steps: u32,
    labels: AtomSet,
    outcome: EpisodeOutcome,
}

impl LetterWorld {
    /// Office world, with 1,000 steps per episode. An observation is column and row.
    pub fn office(naming: Naming) -> Self {
        let world = Self::new(Source::Fixed, office::grid(), office::NAMES, naming, 1000);
        world.expect("the map is tested")
    }

    /// Craft world with the random map of a seed, and 1,000 steps per episode. An observation is column and row.
    pub fn craft(seed: u64, naming: Naming) -> Self {
        let world = Self::new(Source::Fixed, craft::grid(seed), craft::NAMES, naming, 1000);
        world.expect("random maps have known letters")
    }

    /// Craft world with a map of your own, or a published one.
    pub fn craft_map(text: &str, naming: Naming) -> Result<Self> {
        let grid = LetterGrid::parse(text)?;
        Self::new(Source::Fixed, grid, craft::NAMES, naming, 1000)
    }

    /// Letter world: a new map in every episode. An observation has a plane for each letter, and one for the agent.
    pub fn letters(size: usize, letters: &str, limit: u32, random: &mut dyn Rng) -> Result<Self> {
        let grid = letters::grid(size, letters, random)?;
        let letters = letters.to_owned();
        Self::new(
            Source::Fresh { size, letters },
            grid,
            &[],
            Naming::Letters,
            limit,
        )
    }

    fn new(
        source: Source,
        grid: LetterGrid,
        names: &'static Names,
        naming: Naming,
        limit: u32,
    ) -> Result<Self> {
        let alphabet: Vec<char> = match &source {
            Source::Fixed => names.iter().map(|(letter, _)| *letter).collect(),
            Source::Fresh { letters, .. } => letters.chars().collect(),
        };
        let names = match naming {
            Naming::Words => names,
            Naming::Letters => &[],
        };
        let atoms = alphabet.iter().map(|letter| name_of(*letter, names));
        let signature = Signature::parse(atoms).map_err(|source| Error::Machine { source })?;
        let spec = match source {
            Source::Fixed => positions(&grid),
            Source::Fresh { .. } => planes(&grid, &signature),
        };
        Ok(Self {
            cells: grid.labels(names, &signature)?,
            at: grid.start(),
            source,
            grid,
            names,
            signature,
            spec,
            actions: MOVES.map(str::to_owned).to_vec(),
            limit,
            steps: 0,
            labels: AtomSet::new(),
            outcome: EpisodeOutcome::Running,
        })
    }

    /// The map of the episode.
    pub fn grid(&self) -> &LetterGrid {
        &self.grid
    }

    /// The number of the cell that the agent is in.
    pub fn cell(&self) -> usize {
        self.at
    }

    /// The map of the episode as a table.
    pub fn model(&self) -> Result<LabelledMdp> {
        self.grid.model(self.names, &self.signature)
    }
}

fn positions(grid: &LetterGrid) -> Spec {
    let feature = |name: &str, size: usize| Feature {
        name: name.to_owned(),
        low: 0.0,
        high: size.saturating_sub(1) as f32,
    };
    Spec {
        planes: None,
        vector: vec![
            feature("column", grid.width()),
            feature("row", grid.height()),
        ],
    }
}

fn planes(grid: &LetterGrid, signature: &Signature) -> Spec {
    let channel = |name: String| Channel { name, max: 1 };
    let letters = signature.atoms().iter().map(ToString::to_string);
    let channels = letters.chain(["agent".to_owned()]).map(channel).collect();
    Spec {
        planes: Some(Planes {
            width: grid.width(),
            height: grid.height(),
            channels,
        }),
        vector: Vec::new(),
    }
}

impl Environment for LetterWorld {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn reset(&mut self, random: &mut dyn Rng) -> Result<()> {
        if let Source::Fresh { size, letters } = &self.source {
            self.grid = letters::grid(*size, letters, random)?;
            self.cells = self.grid.labels(self.names, &self.signature)?;
        }
        self.at = self.grid.start();
        self.steps = 0;
        self.outcome = EpisodeOutcome::Running;
        self.labels.copy_from(&self.cells[self.at]);
        Ok(())
    }

    fn step(&mut self, action: usize) -> Result<EpisodeOutcome> {
        let actions = self.actions.len();
        if action >= actions {
            return Err(Error::NoSuchAction { action, actions });
        }
        if self.outcome.is_over() {
            self.labels.clear();
            return Ok(self.outcome);
        }
        self.at = self.grid.after(self.at, action);
        self.labels.copy_from(&self.cells[self.at]);
        self.steps += 1;
        if self.steps >= self.limit {
            self.outcome = EpisodeOutcome::OutOfTime;
        }
        Ok(self.outcome)
    }

    fn labels(&self) -> &AtomSet {
        &self.labels
    }

    fn observe(&self, planes: &mut [u8], vector: &mut [f32]) {
        let place = self.grid.place(self.at);
        let Some(spec) = &self.spec.planes else {
            vector[0] = place.x as f32;
            vector[1] = place.y as f32;
            return;
        };
        planes.fill(0);
        for (cell, label) in self.cells.iter().enumerate() {
            let at = spec.offset(self.grid.place(cell));
            for atom in label.iter() {
                planes[at + atom.index()] = 1;
            }
        }
        planes[spec.offset(place) + self.signature.len()] = 1;
    }

    fn cells_of(&self, atom: AtomId) -> Option<Vec<Cell>> {
        self.spec.planes.as_ref()?;
        let cells = self.cells.iter().enumerate();
        let cells = cells.filter(|(_, label)| label.contains(atom));
        Some(cells.map(|(cell, _)| self.grid.place(cell)).collect())
    }
}
