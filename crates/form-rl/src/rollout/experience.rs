//! What agents went through: trajectories that are still open, those that are over, and the samples that come of them.

use crate::{Agent, Batch, Ending, Outputs, PpoConfig, Result, Samples, Trajectory, advantages};

/// What an agent sees at one moment, and what it remembers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Glance {
    pub(crate) image: Vec<u8>,
    pub(crate) vector: Vec<f32>,
    pub(crate) memory: Vec<f32>,
}

/// Consecutive steps of one agent in one world. An agent that acts again later in the episode goes on where it stopped.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Steps {
    pub(crate) images: Vec<u8>,
    pub(crate) vectors: Vec<f32>,
    pub(crate) actions: Vec<u8>,
    pub(crate) logits: Vec<f32>,
    pub(crate) values: Vec<f32>,
    pub(crate) rewards: Vec<f32>,
    /// Whether the episode began at the step.
    pub(crate) starts: Vec<bool>,
    /// What the agent remembered at the steps at which a sequence begins.
    pub(crate) memories: Vec<f32>,
}

impl Steps {
    pub(crate) fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Adds to what the last action earned.
    pub(crate) fn earn(&mut self, reward: f32) {
        if let Some(last) = self.rewards.last_mut() {
            *last += reward;
        }
    }
}

/// How a trajectory came to its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// Nothing comes after it.
    Terminated,
    /// It was cut off; what comes after is worth what the agent's own critic says about this.
    Truncated(Glance),
}

/// A trajectory that is over.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    pub(crate) steps: Steps,
    pub(crate) end: End,
}

/// Samples for one agent to learn from, owned; [`Samples`] borrows them.
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
    pub(crate) memories: Vec<f32>,
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

    /// What every action was worth beyond what was expected.
    pub fn advantages(&self) -> &[f32] {
        &self.advantages
    }

    /// What the critic should have said.
    pub fn returns(&self) -> &[f32] {
        &self.returns
    }

    /// Puts other samples behind these.
    pub fn extend(&mut self, other: Self) {
        self.images.extend(other.images);
        self.vectors.extend(other.vectors);
        self.actions.extend(other.actions);
        self.logits.extend(other.logits);
        self.values.extend(other.values);
        self.advantages.extend(other.advantages);
        self.returns.extend(other.returns);
        self.starts.extend(other.starts);
        self.memories.extend(other.memories);
    }

    /// As the training step wants them, in sequences of so many steps.
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
            states: &self.memories,
        }
    }

    /// Judges trajectories: asks the agent's critic about what came after those that were cut off, and estimates the advantages
    /// of all steps.
    pub(crate) fn judge(
        agent: &mut Agent,
        finished: Vec<Finished>,
        config: &PpoConfig,
    ) -> Result<Self> {
        let mut cut = Glance::default();
        for Finished { end, .. } in &finished {
            if let End::Truncated(after) = end {
                cut.image.extend_from_slice(&after.image);
                cut.vector.extend_from_slice(&after.vector);
                cut.memory.extend_from_slice(&after.memory);
            }
        }
        let count = finished
            .iter()
            .filter(|one| matches!(one.end, End::Truncated(_)))
            .count();
        let mut outputs = Outputs::default();
        agent.evaluate(
            &Batch {
                images: &cut.image,
                vectors: &cut.vector,
                select: None,
                steps: 1,
                starts: &vec![false; count],
                states: &cut.memory,
            },
            &mut outputs,
        )?;
        let mut values = outputs.values.into_iter();
        let mut experience = Self::default();
        for Finished { steps, end } in finished {
            let from = experience.len();
            let to = from + steps.actions.len();
            experience.advantages.resize(to, 0.0);
            experience.returns.resize(to, 0.0);
            let trajectory = Trajectory {
                rewards: &steps.rewards,
                values: &steps.values,
                ending: match end {
                    End::Terminated => Ending::Terminated,
                    End::Truncated(_) => Ending::Truncated {
                        value: values.next().unwrap_or(0.0),
                    },
                },
            };
            advantages(
                &trajectory,
                config.gamma,
                config.lambda,
                &mut experience.advantages[from..],
                &mut experience.returns[from..],
            )?;
            experience.images.extend(steps.images);
            experience.vectors.extend(steps.vectors);
            experience
                .actions
                .extend(steps.actions.into_iter().map(usize::from));
            experience.logits.extend(steps.logits);
            experience.values.extend(steps.values);
            experience.starts.extend(steps.starts);
            experience.memories.extend(steps.memories);
        }
        Ok(experience)
    }
}
