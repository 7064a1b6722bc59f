//! One agent: its policy, its optimiser, and what it has yet to learn from.

use rand::Rng;

use crate::rollout::experience::Experience;
use crate::{
    Adam, Batch, Engine, Inheritance, Network, NetworkConfig, Outputs, PpoConfig, PpoReport,
    Result, update,
};

/// An agent of a [`Cast`](crate::Cast).
#[derive(Debug)]
pub struct Agent {
    pub(crate) name: String,
    pub(crate) network: Network,
    engine: Engine,
    pub(crate) adam: Adam,
    pub(crate) kl_coefficient: f32,
    /// Samples too few to learn from so far.
    pub(crate) waiting: Experience,
    /// The length of the sequences that it learns from; 1 without memory.
    sequence: usize,
    frozen: bool,
}

impl Agent {
    /// A fresh agent.
    pub fn new(
        name: &str,
        config: &NetworkConfig,
        sequence: usize,
        ppo: &PpoConfig,
        rng: &mut impl Rng,
    ) -> Result<Self> {
        Ok(Self::with(name, Network::new(config, rng)?, sequence, ppo))
    }

    /// An agent with this policy.
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
            waiting: Experience::default(),
            sequence,
            frozen: false,
            network,
        }
    }

    /// The name of its state, or of its part.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its policy.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Whether it no longer learns.
    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Whether it has been updated since it began, or since it took over another policy.
    pub fn is_trained(&self) -> bool {
        self.adam.steps() > 0
    }

    /// Stops it from learning, or lets it go on. What it has yet to learn from is forgotten when it stops.
    pub fn freeze(&mut self, frozen: bool) {
        self.frozen = frozen;
        if frozen {
            self.waiting = Experience::default();
        }
    }

    /// Gives it another name: its sub-task survived under it.
    pub fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.name);
        // Its rewards were those of another machine.
        self.waiting = Experience::default();
    }

    /// Takes over what fits of another policy, and says of every tensor what became of it. See [`Network::inherit`]. The optimiser
    /// begins anew.
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

    /// What its network says.
    pub fn evaluate(&mut self, batch: &Batch<'_>, outputs: &mut Outputs) -> Result<()> {
        self.engine.evaluate(&self.network, batch, outputs)
    }

    /// Learns from what it went through, together with what was too little before. Fewer samples than `least` wait for more;
    /// then, and if it is frozen, there is nothing to report.
    pub fn learn(
        &mut self,
        experience: Experience,
        config: &PpoConfig,
        least: usize,
        rng: &mut impl Rng,
    ) -> Result<Option<(usize, PpoReport)>> {
        if self.frozen {
            return Ok(None);
        }
        self.waiting.extend(experience);
        if self.waiting.is_empty() || self.waiting.len() < least {
            return Ok(None);
        }
        let experience = std::mem::take(&mut self.waiting);
        let report = update(
            &mut self.network,
            &mut self.engine,
            &mut self.adam,
            &experience.samples(self.sequence),
            config,
            &mut self.kl_coefficient,
            rng,
        )?;
        // Only now: until here the network was the one that chose the actions.
        self.network
            .observe_statistics(&experience.images, &experience.vectors)?;
        Ok(Some((experience.len(), report)))
    }
}
