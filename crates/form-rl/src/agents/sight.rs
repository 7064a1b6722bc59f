//! What an agent sees: its world, extended by what makes its sub-task Markovian (section 3.4, "Agent State Space").
//!
//! A `forall` looks at all that was observed since its state was entered, so an agent has to know how far it has come: as the
//! paper's vector of indicators, one for every ground atom of interest, or as a plane with a 1 in the cell of every object that
//! is still waited for. The plane does not depend on the number of objects, so a policy that sees it transfers as it is.

use form_core::{AtomId, AtomSet, BoundMachine, StateId};
use form_env::{Planes, Spec, Worlds};
use serde::{Deserialize, Serialize};

/// How progress towards a `forall` is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Progress {
    /// One indicator a ground atom: 1 once it has been observed. The paper's.
    Bits,
    /// A 1 in the cell of every object still waited for. The environment must be able to place its atoms.
    #[default]
    Plane,
}

/// What an agent sees.
#[derive(Clone, Debug, PartialEq)]
pub struct Sight {
    /// The world's planes and vector.
    spec: Spec,
    /// Whether there is a plane for what is still waited for.
    plane: bool,
    /// The atoms with an indicator.
    bits: Vec<AtomId>,
    /// The machine's states, if the agent is shown in which of them the machine is.
    states: usize,
}

/// The moment that is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The machine's state.
    pub state: StateId,
    /// What has been observed since it was entered.
    pub seen: &'a AtomSet,
}

impl Sight {
    /// Just the world.
    pub fn plain(spec: &Spec) -> Self {
        Self {
            spec: spec.clone(),
            plane: false,
            bits: Vec::new(),
            states: 0,
        }
    }

    /// The world, and progress towards the `forall`s on edges out of these states.
    pub fn of(spec: &Spec, machine: &BoundMachine, states: &[StateId], progress: Progress) -> Self {
        let mut atoms = AtomSet::new();
        for state in states {
            atoms.union_with(machine.progress_atoms(*state));
        }
        // Without cells there is nothing to draw a plane over.
        let plane = progress == Progress::Plane && spec.planes.is_some();
        Self {
            plane: plane && !atoms.is_empty(),
            bits: match plane {
                true => Vec::new(),
                false => atoms.iter().collect(),
            },
            ..Self::plain(spec)
        }
    }

    /// The same, and in which of so many states the machine is.
    #[must_use]
    pub fn with_states(mut self, states: usize) -> Self {
        self.states = states;
        self
    }

    /// Whether what is still waited for is shown as a plane.
    pub(crate) fn has_plane(&self) -> bool {
        self.plane
    }

    /// The atoms that have an indicator, in the order in which they are seen.
    pub fn bits(&self) -> &[AtomId] {
        &self.bits
    }

    /// Columns, rows and channels of the image, if there is one.
    pub fn image(&self) -> Option<[usize; 3]> {
        let planes = self.spec.planes.as_ref()?;
        let channels = planes.channels.len() + usize::from(self.plane);
        Some([planes.width, planes.height, channels])
    }

    /// The vectors besides the image, with their sizes.
    pub fn vectors(&self) -> Vec<(&'static str, usize)> {
        let vectors = [
            ("world", self.spec.vector_len()),
            ("indicators", self.bits.len()),
            ("machine", self.states),
        ];
        vectors.into_iter().filter(|(_, size)| *size > 0).collect()
    }

    /// The bytes of an image.
    pub fn image_len(&self) -> usize {
        self.image().map_or(0, |shape| shape.iter().product())
    }

    /// The numbers of all vectors.
    pub fn vector_len(&self) -> usize {
        self.vectors().iter().map(|(_, size)| size).sum()
    }

    /// Writes what the agent sees of a world.
    pub fn write<W: Worlds + ?Sized>(
        &self,
        worlds: &W,
        world: usize,
        machine: &BoundMachine,
        moment: Moment<'_>,
        image: &mut [u8],
        vector: &mut [f32],
    ) {
        let (own, extension) = vector.split_at_mut(self.spec.vector_len());
        match &self.spec.planes {
            Some(planes) if self.plane => {
                let channels = planes.channels.len();
                worlds.observe(world, &mut image[..planes.len()], own);
                make_room(image, planes);
                let waited_for = machine.progress_atoms(moment.state);
                for atom in waited_for
                    .iter()
                    .filter(|atom| !moment.seen.contains(*atom))
                {
                    if let Some(cell) = worlds.cell_of(world, atom) {
                        let at = (cell.x * planes.height + cell.y) * (channels + 1) + channels;
                        image[at] = 1;
                    }
                }
            }
            _ => worlds.observe(world, image, own),
        }
        let (bits, states) = extension.split_at_mut(self.bits.len());
        for (bit, atom) in bits.iter_mut().zip(&self.bits) {
            *bit = f32::from(u8::from(moment.seen.contains(*atom)));
        }
        states.fill(0.0);
        if let Some(here) = states.get_mut(moment.state.index()) {
            *here = 1.0;
        }
    }
}

/// Moves the cells apart so that each has room for one more channel, which is 0.
fn make_room(image: &mut [u8], planes: &Planes) {
    let channels = planes.channels.len();
    for cell in (0..planes.width * planes.height).rev() {
        let to = cell * (channels + 1);
        image.copy_within(cell * channels..(cell + 1) * channels, to);
        image[to + channels] = 0;
    }
}
