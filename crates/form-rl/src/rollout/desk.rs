//! One agent's desk: the worlds whose machines are in its states, what it sees of them, and what it makes of it, all in one batch.

use form_env::Worlds;
use rayon::prelude::*;

use super::player::Player;
use crate::agents::cast::Cast;
use crate::{Agent, Batch, Outputs, Result};

/// The worlds of one agent, and what it makes of them.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    /// In ascending order; the rows of everything else are in the same order.
    pub(crate) worlds: Vec<usize>,
    images: Vec<u8>,
    vectors: Vec<f32>,
    starts: Vec<bool>,
    memories: Vec<f32>,
    pub(crate) outputs: Outputs,
}

impl Desk {
    /// Writes down what the agent of this number sees of its worlds, and what it remembers.
    pub(crate) fn look<W: Worlds>(
        &mut self,
        agent: usize,
        cast: &Cast,
        worlds: &W,
        players: &[Player],
    ) {
        let sight = &cast.parts()[agent].sight;
        let (bytes, numbers) = (sight.image_len(), sight.vector_len());
        self.images.resize(self.worlds.len() * bytes, 0);
        self.vectors.resize(self.worlds.len() * numbers, 0.0);
        let look = |world: &usize, image: &mut [u8], vector: &mut [f32]| {
            let moment = players[*world].moment();
            sight.write(worlds, *world, cast.machine(), moment, image, vector);
        };
        // What has no length cannot be cut into pieces by it.
        let seats = self.worlds.par_iter().with_min_len(32);
        match (bytes, numbers) {
            (_, 0) => seats
                .zip(self.images.par_chunks_exact_mut(bytes.max(1)))
                .for_each(|(world, image)| look(world, image, &mut [])),
            (0, _) => seats
                .zip(self.vectors.par_chunks_exact_mut(numbers))
                .for_each(|(world, vector)| look(world, &mut [], vector)),
            _ => seats
                .zip(self.images.par_chunks_exact_mut(bytes))
                .zip(self.vectors.par_chunks_exact_mut(numbers))
                .for_each(|((world, image), vector)| look(world, image, vector)),
        }
        self.starts.clear();
        self.memories.clear();
        for world in &self.worlds {
            let player = &players[*world];
            self.starts.push(player.actions.is_empty());
            self.memories.extend_from_slice(&player.memory);
        }
    }

    /// Forgets what was written down for a step in which it had no worlds.
    pub(crate) fn clear(&mut self) {
        let Self {
            worlds,
            images,
            vectors,
            starts,
            memories,
            outputs,
        } = self;
        worlds.clear();
        images.clear();
        vectors.clear();
        starts.clear();
        memories.clear();
        outputs.logits.clear();
        outputs.values.clear();
        outputs.states.clear();
    }

    /// Asks the agent about what was written down, and lets it remember.
    pub(crate) fn ask(&mut self, agent: &mut Agent, players: &mut [Player]) -> Result<()> {
        let batch = Batch {
            images: &self.images,
            vectors: &self.vectors,
            select: None,
            steps: 1,
            starts: &self.starts,
            states: &self.memories,
        };
        agent.evaluate(&batch, &mut self.outputs)?;
        let memory = self.outputs.states.len() / self.worlds.len().max(1);
        for (row, world) in self.worlds.iter().enumerate() {
            let remembered = &self.outputs.states[row * memory..][..memory];
            players[*world].memory.copy_from_slice(remembered);
        }
        Ok(())
    }

    /// Puts the steps that are about to be taken into the agent's parts. Sequences begin at all of them, or at none.
    pub(crate) fn keep(
        &self,
        agent: usize,
        players: &mut [Player],
        actions: &[u8],
        sequence_begins: bool,
    ) {
        let each = |length: usize| length / self.worlds.len().max(1);
        let (bytes, numbers) = (each(self.images.len()), each(self.vectors.len()));
        let (count, memory) = (each(self.outputs.logits.len()), each(self.memories.len()));
        for (row, world) in self.worlds.iter().enumerate() {
            let part = &mut players[*world].parts[agent];
            part.visited = true;
            part.after = None;
            let steps = &mut part.steps;
            (steps.images).extend_from_slice(&self.images[row * bytes..][..bytes]);
            (steps.vectors).extend_from_slice(&self.vectors[row * numbers..][..numbers]);
            steps.actions.push(actions[*world]);
            (steps.logits).extend_from_slice(&self.outputs.logits[row * count..][..count]);
            steps.values.push(self.outputs.values[row]);
            steps.rewards.push(0.0);
            steps.starts.push(self.starts[row]);
            if sequence_begins {
                (steps.memories).extend_from_slice(&self.memories[row * memory..][..memory]);
            }
        }
    }
}
