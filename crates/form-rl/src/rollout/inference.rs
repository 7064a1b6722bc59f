//! Batched inference for one agent: the slots whose machines are in its states, their observations, and its network's outputs.

use form_env::Worlds;

use super::env_slot::EnvSlot;
use crate::agents::agent_assignment::AgentAssignment;
use crate::net::Evaluator;
use crate::{Batch, Outputs, Result};

/// One agent's batch: its observations and the outputs of its network, one row per world.
#[derive(Debug, Default)]
pub(super) struct Inference {
    /// In ascending order, which is the order of the rows.
    pub(super) worlds: Vec<usize>,
    images: Vec<u8>,
    vectors: Vec<f32>,
    starts: Vec<bool>,
    hidden_states: Vec<f32>,
    pub(super) outputs: Outputs,
}

impl Inference {
    /// Gathers the observations and hidden states of the agent's worlds.
    pub(super) fn gather<W: Worlds>(
        &mut self,
        agent: usize,
        assignment: &AgentAssignment,
        worlds: &W,
        slots: &[EnvSlot],
    ) {
        let encoder = &assignment.roles()[agent].encoder;
        let (bytes, numbers) = (encoder.image_len(), encoder.vector_len());
        self.images.resize(self.worlds.len() * bytes, 0);
        self.vectors.resize(self.worlds.len() * numbers, 0.0);
        let (mut images, mut vectors) = (&mut self.images[..], &mut self.vectors[..]);
        for world in &self.worlds {
            let slot = &slots[*world];
            let image = images.split_off_mut(..bytes).unwrap_or_default();
            let vector = vectors.split_off_mut(..numbers).unwrap_or_default();
            let state = slot.machine_state();
            encoder.encode(worlds, *world, &slot.machine, state, image, vector);
        }
        self.starts.clear();
        self.hidden_states.clear();
        for world in &self.worlds {
            let slot = &slots[*world];
            self.starts.push(slot.actions.is_empty());
            self.hidden_states.extend_from_slice(&slot.hidden_state);
        }
    }

    /// Evaluates the agent's network on the batch, and keeps the new hidden states.
    pub(super) fn evaluate(
        &mut self,
        policy: &mut Evaluator<'_>,
        slots: &mut [EnvSlot],
    ) -> Result<()> {
        let batch = Batch {
            images: &self.images,
            vectors: &self.vectors,
            select: None,
            steps: 1,
            starts: &self.starts,
            states: &self.hidden_states,
        };
        policy.evaluate(&batch, &mut self.outputs)?;
        let size = self.outputs.states.len() / self.worlds.len().max(1);
        for (row, world) in self.worlds.iter().enumerate() {
            let state = &self.outputs.states[row * size..][..size];
            slots[*world].hidden_state.copy_from_slice(state);
        }
        Ok(())
    }

    /// Records the steps that are about to be taken in the agent's trajectories. Sequences begin at all of these steps, or at none.
    pub(super) fn record(
        &self,
        agent: usize,
        slots: &mut [EnvSlot],
        actions: &[u8],
        sequence_begins: bool,
    ) {
        let each = |length: usize| length / self.worlds.len().max(1);
        let (bytes, numbers) = (each(self.images.len()), each(self.vectors.len()));
        let (logits, hidden) = (
            each(self.outputs.logits.len()),
            each(self.hidden_states.len()),
        );
        for (row, world) in self.worlds.iter().enumerate() {
            let trajectory = &mut slots[*world].trajectories[agent];
            trajectory.visited = true;
            trajectory.next = None;
            let steps = &mut trajectory.steps;
            (steps.images).extend_from_slice(&self.images[row * bytes..][..bytes]);
            (steps.vectors).extend_from_slice(&self.vectors[row * numbers..][..numbers]);
            steps.actions.push(actions[*world]);
            (steps.logits).extend_from_slice(&self.outputs.logits[row * logits..][..logits]);
            steps.values.push(self.outputs.values[row]);
            steps.rewards.push(0.0);
            steps.starts.push(self.starts[row]);
            if sequence_begins {
                (steps.hidden_states)
                    .extend_from_slice(&self.hidden_states[row * hidden..][..hidden]);
            }
        }
    }
}
