//! What agents learn from: their observations, open and closed trajectories, and the samples with their advantages.

use crate::Samples;

/// An agent's observation, with the hidden state of its recurrent layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Observation {
    pub(crate) image: Vec<u8>,
    pub(crate) vector: Vec<f32>,
    pub(crate) hidden_state: Vec<f32>,
}

/// Consecutive steps of one agent in one world. If it acts again later in the episode, its steps continue here.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Steps {
    pub(crate) images: Vec<u8>,
    pub(crate) vectors: Vec<f32>,
    pub(crate) actions: Vec<u8>,
    pub(crate) logits: Vec<f32>,
    pub(crate) values: Vec<f32>,
    pub(crate) rewards: Vec<f32>,
    /// Whether the episode started at the step.
    pub(crate) starts: Vec<bool>,
    /// The hidden states at the steps where a sequence begins.
    pub(crate) hidden_states: Vec<f32>,
}

impl Steps {
    pub(crate) fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Adds to the reward of the last action.
    pub(crate) fn add_reward(&mut self, reward: f32) {
        if let Some(last) = self.rewards.last_mut() {
            *last += reward;
        }
    }
}

/// A trajectory to which no step or reward is added any more.
#[derive(Clone, Debug)]
pub(crate) struct ClosedTrajectory {
    pub(crate) steps: Steps,
    /// The observation after the last step if the trajectory was truncated; `None` if it terminated.
    pub(crate) next: Option<Observation>,
}

/// The samples of one agent: a rollout buffer. [`Samples`] borrows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experience {
    pub(crate) images: Vec<u8>,
    pub(crate) vectors: Vec<f32>,
    pub(crate) actions: Vec<usize>,
    pub(crate) logits: Vec<f32>,
    pub(crate) values: Vec<f32>,
    pub(crate) advantages: Vec<f32>,
    pub(crate) returns: Vec<f32>,
    pub(crate) starts: Vec<bool>,
    pub(crate) hidden_states: Vec<f32>,
}

impl Experience {
    /// The number of samples.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// The GAE advantage of every action.
    pub fn advantages(&self) -> &[f32] {
        &self.advantages
    }

    /// The value targets.
    pub fn returns(&self) -> &[f32] {
        &self.returns
    }

    /// Appends other samples.
    pub fn extend(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        self.images.extend(other.images);
        self.vectors.extend(other.vectors);
        self.actions.extend(other.actions);
        self.logits.extend(other.logits);
        self.values.extend(other.values);
        self.advantages.extend(other.advantages);
        self.returns.extend(other.returns);
        self.starts.extend(other.starts);
        self.hidden_states.extend(other.hidden_states);
    }

    /// The samples as [`update`](crate::update) takes them, in sequences of this length.
    pub(crate) fn samples(&self, steps: usize) -> Samples<'_> {
        Samples {
            images: &self.images,
            vectors: &self.vectors,
            actions: &self.actions,
            logits: &self.logits,
            values: &self.values,
            advantages: &self.advantages,
            returns: &self.returns,
            steps,
            starts: &self.starts,
            states: &self.hidden_states,
        }
    }
}
