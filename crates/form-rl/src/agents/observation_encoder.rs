//! The observation of an agent: its world's observation, extended by what makes its sub-task Markovian (section 3.4, "Agent
//! State Space").
//!
//! `forall`, `atleast` and `once` look at everything observed since their state was entered, so an agent must know which atoms it has
//! observed: as the paper's vector of indicators, one per ground atom of interest, or as an image plane with a 1 in the cell of every
//! object that is still missing, as long as it can make a difference. The plane does not depend on the number of objects, so a policy with it transfers unchanged.

use form_core::{AtomId, AtomSet, BoundMachine, StateId};
use form_env::{Planes, Spec, Worlds};
use serde::{Deserialize, Serialize};

/// How progress towards a `forall`, or another atom with a window, is encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgressEncoding {
    /// One indicator per ground atom: 1 once it has been observed. The paper's encoding. Where episodes have different objects, those that
    /// an episode does not have count as observed.
    Bits,
    /// An image plane with a 1 in the cell of every object that is still missing. The environment must know the cells of its atoms.
    #[default]
    Plane,
}

/// Encodes the observations of one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservationEncoder {
    /// The format of the world's observations.
    spec: Spec,
    /// Whether missing objects are shown as an image plane.
    plane: bool,
    /// The atoms with an indicator.
    bits: Vec<AtomId>,
    /// The size of the one-hot encoding of the machine's state; 0 for none.
    states: usize,
}

/// The state of a machine's run, as far as agents observe it.
#[derive(Clone, Copy, Debug)]
pub struct MachineState<'a> {
    /// The machine's state.
    pub state: StateId,
    /// The atoms observed since it was entered: the machine's buffer.
    pub seen: &'a AtomSet,
}

impl ObservationEncoder {
    /// The world's observation alone.
    pub fn plain(spec: &Spec) -> Self {
        Self {
            spec: spec.clone(),
            plane: false,
            bits: Vec::new(),
            states: 0,
        }
    }

    /// The world's observation, and progress towards the `forall`s on edges out of these states.
    pub fn of(
        spec: &Spec,
        machine: &BoundMachine,
        states: &[StateId],
        progress: ProgressEncoding,
    ) -> Self {
        let mut atoms = AtomSet::new();
        for state in states {
            atoms.union_with(machine.progress_atoms(*state));
        }
        // A world without cells has no image planes.
        let plane = progress == ProgressEncoding::Plane && spec.planes.is_some();
        Self {
            plane: plane && !atoms.is_empty(),
            bits: match plane {
                true => Vec::new(),
                false => atoms.iter().collect(),
            },
            ..Self::plain(spec)
        }
    }

    /// Adds a one-hot encoding of the machine's state, of this size.
    #[must_use]
    pub fn with_states(mut self, states: usize) -> Self {
        self.states = states;
        self
    }

    /// Whether missing objects are shown as an image plane.
    pub(crate) fn has_plane(&self) -> bool {
        self.plane
    }

    /// The atoms that have an indicator, in the order of the indicators.
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

    /// Writes the agent's observation of a world.
    pub fn encode<W: Worlds + ?Sized>(
        &self,
        worlds: &W,
        world: usize,
        machine: &BoundMachine,
        machine_state: MachineState<'_>,
        image: &mut [u8],
        vector: &mut [f32],
    ) {
        let (own, extension) = vector.split_at_mut(self.spec.vector_len());
        match &self.spec.planes {
            Some(planes) if self.plane => {
                let channels = planes.channels.len();
                worlds.observe(world, &mut image[..planes.len()], own);
                add_channel(image, planes);
                let awaited = machine.awaited_atoms(machine_state.state, machine_state.seen);
                for atom in awaited.iter() {
                    if let Some(cell) = worlds.cell_of(world, atom) {
                        let at = (cell.x * planes.height + cell.y) * (channels + 1) + channels;
                        image[at] = 1;
                    }
                }
            }
            _ => worlds.observe(world, image, own),
        }
        let (bits, states) = extension.split_at_mut(self.bits.len());
        let own = machine.own_signature();
        for (bit, atom) in bits.iter_mut().zip(&self.bits) {
            // No edge waits for an atom that this world does not have.
            let awaited = own.is_none_or(|own| own.contains(*atom));
            *bit = f32::from(u8::from(!awaited || machine_state.seen.contains(*atom)));
        }
        states.fill(0.0);
        if let Some(here) = states.get_mut(machine_state.state.index()) {
            *here = 1.0;
        }
    }
}

/// Widens every cell by one channel, which is 0.
fn add_channel(image: &mut [u8], planes: &Planes) {
    let channels = planes.channels.len();
    for cell in (0..planes.width * planes.height).rev() {
        let to = cell * (channels + 1);
        image.copy_within(cell * channels..(cell + 1) * channels, to);
        image[to + channels] = 0;
    }
}
