//! One agent: its policy, its optimiser, and the samples that it has not learnt from yet.

use rand::Rng;

use crate::experience::{ClosedTrajectory, Experience, Observation};
use crate::net::Evaluator;
use crate::{
    Adam, Batch, Engine, Inheritance, Network, NetworkConfig, Outputs, PpoConfig, PpoReport,
    Result, Trajectory, TrajectoryEnd, gae, update,
};

/// An agent of an [`AgentAssignment`](crate::AgentAssignment).
#[derive(Debug)]
pub struct Agent {
    pub(crate) name: String,
    pub(crate) network: Network,
    engine: Engine,
    pub(crate) adam: Adam,
    pub(crate) kl_coefficient: f32,
    /// Samples kept until there are enough for an update.
    pub(crate) pending: Experience,
    /// The length of the sequences for truncated backpropagation through time; 1 for feedforward networks.
    sequence: usize,
    frozen: bool,
}

impl Agent {
    /// An agent with a newly initialised network.
    pub fn new(
        name: &str,
        config: &NetworkConfig,
        sequence: usize,
        ppo: &PpoConfig,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        Ok(Self::with(name, Network::new(config, rng)?, sequence, ppo))
    }

    /// An agent with this network.
    pub fn with(name: &str, network: Network, sequence: usize, ppo: &PpoConfig) -> Self {
        let sequence = match network.is_recurrent() {
            true => sequence.max(1),
            false => 1,
        };
        Self {
            name: name.to_owned(),
            engine: Engine::new(&network, sequence),
            adam: Adam::new(network.weights().len(), ppo.learning_rate),
            kl_coefficient: ppo.kl_coefficient,
            pending: Experience::default(),
            sequence,
            frozen: false,
            network,
        }
    }

    /// The name of its role.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its policy and value network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Whether its weights are frozen.
    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Whether it has been updated since its weights were initialised or inherited.
    pub fn is_trained(&self) -> bool {
        self.adam.steps() > 0
    }

    /// Freezes or unfreezes its weights. Freezing discards pending samples.
    pub fn freeze(&mut self, frozen: bool) {
        self.frozen = frozen;
        if frozen {
            self.pending = Experience::default();
        }
    }

    /// Renames it: a new machine has its sub-task under this name.
    pub fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.name);
        // Their rewards were those of another machine.
        self.pending = Experience::default();
    }

    /// Inherits the weights of another network where they fit, and reports each tensor's origin: see [`Network::inherit`]. The
    /// optimiser is reset.
    pub fn inherit(
        &mut self,
        other: &Network,
        columns: &[(&str, Vec<Option<usize>>)],
    ) -> Vec<Inheritance> {
        self.adam = Adam::new(self.network.weights().len(), self.adam.learning_rate);
        self.network.inherit(other, columns)
    }

    pub(crate) fn sequence(&self) -> usize {
        self.sequence
    }

    /// Evaluates its network.
    pub fn evaluate(&mut self, batch: &Batch<'_>, outputs: &mut Outputs) -> Result<()> {
        self.engine.evaluate(&self.network, batch, outputs)
    }

    /// Its network, to be evaluated side by side on small batches.
    pub(crate) fn evaluators(&mut self) -> impl Iterator<Item = Evaluator<'_>> {
        self.engine.evaluators(&self.network)
    }

    /// Estimates the advantages of trajectories with GAE. The critic bootstraps those that were truncated.
    pub(crate) fn estimate_advantages(
        &mut self,
        trajectories: Vec<ClosedTrajectory>,
        config: &PpoConfig,
    ) -> Result<Experience> {
        let mut next = Observation::default();
        let mut truncated = 0;
        for after in trajectories.iter().filter_map(|one| one.next.as_ref()) {
            next.image.extend_from_slice(&after.image);
            next.vector.extend_from_slice(&after.vector);
            next.hidden_state.extend_from_slice(&after.hidden_state);
            truncated += 1;
        }
        let mut outputs = Outputs::default();
        let batch = Batch {
            images: &next.image,
            vectors: &next.vector,
            select: None,
            steps: 1,
            starts: &vec![false; truncated],
            states: &next.hidden_state,
        };
        self.evaluate(&batch, &mut outputs)?;
        let mut next_values = outputs.values.into_iter();
        let mut experience = Experience::default();
        for ClosedTrajectory { steps, next } in trajectories {
            let from = experience.len();
            let to = from + steps.actions.len();
            experience.advantages.resize(to, 0.0);
            experience.returns.resize(to, 0.0);
            let trajectory = Trajectory {
                rewards: &steps.rewards,
                values: &steps.values,
                end: match next.and_then(|_| next_values.next()) {
                    None => TrajectoryEnd::Terminated,
                    Some(value) => TrajectoryEnd::Truncated { value },
                },
            };
            gae(
                &trajectory,
                config.gamma,
                config.lambda,
                &mut experience.advantages[from..],
                &mut experience.returns[from..],
            )?;
            experience.images.extend(steps.images);
            experience.vectors.extend(steps.vectors);
            (experience.actions).extend(steps.actions.into_iter().map(usize::from));
            experience.logits.extend(steps.logits);
            experience.values.extend(steps.values);
            experience.starts.extend(steps.starts);
            experience.hidden_states.extend(steps.hidden_states);
        }
        Ok(experience)
    }

    /// Updates the policy with PPO on these and the pending samples, and reports the number of samples and the means of the losses.
    /// Fewer samples than `least` stay pending; then, and if the agent is frozen, there is no report.
    pub fn learn(
        &mut self,
        experience: Experience,
        config: &PpoConfig,
        least: usize,
        rng: &mut dyn Rng,
    ) -> Result<Option<(usize, PpoReport)>> {
        if self.frozen {
            return Ok(None);
        }
        self.pending.extend(experience);
        if self.pending.is_empty() || self.pending.len() < least {
            return Ok(None);
        }
        let experience = std::mem::take(&mut self.pending);
        let report = update(
            &mut self.network,
            &mut self.engine,
            &mut self.adam,
            &experience.samples(self.sequence),
            config,
            &mut self.kl_coefficient,
            rng,
        )?;
        // After the update: until then the network must normalise as it did when it chose the actions.
        self.network
            .observe_statistics(&experience.images, &experience.vectors)?;
        Ok(Some((experience.len(), report)))
    }
}
