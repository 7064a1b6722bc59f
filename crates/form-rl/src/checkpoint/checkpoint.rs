//! Everything that a run needs in order to go on, in one file: the machine, its signature, one policy a state with its optimiser
//! and normalisation, what agents have yet to learn from, and where every world stands.
//!
//! Tensors are called after their agents: `u0.image.0.weight`, so that Python reads a policy as it reads any other. The rest has
//! names with a `/`. The description stands in the metadata, under `form`, with the version of the format. A world is brought back
//! to where it was by taking its actions again.

use std::path::Path;

use form_core::{Machine, Signature};
use form_env::Worlds;
use serde::{Deserialize, Serialize};

use super::bundle::Bundle;
use super::standing::{Standing, experience, put_experience};
use crate::agents::cast::Roles;
use crate::{Adam, Agent, Error, Game, Network, NetworkConfig, PpoConfig, Result};

/// The version of the format. A file of another one is refused.
const VERSION: u32 = 1;

/// The description's place in the metadata.
const DESCRIPTION: &str = "form";

/// A file that was read.
#[derive(Debug)]
pub struct Checkpoint {
    /// The machine.
    pub machine: Machine,
    /// The atoms that could be observed.
    pub signature: Signature,
    /// How the work was shared out.
    pub roles: Roles,
    /// One policy an agent.
    pub policies: Vec<Policy>,
    /// What the writer had to say.
    pub notes: String,
    path: std::path::PathBuf,
    bundle: Bundle,
    agents: Vec<AgentDescription>,
}

/// A policy, and what its indicators are about.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The name of its state, or of its part.
    pub name: String,
    /// The network.
    pub network: Network,
    /// The ground atoms of its indicators, in order.
    pub indicators: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    version: u32,
    machine: String,
    signature: Vec<String>,
    roles: Roles,
    agents: Vec<AgentDescription>,
    notes: String,
}

/// Only the version, whatever else a file of another version says.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentDescription {
    name: String,
    network: NetworkConfig,
    sequence: usize,
    indicators: Vec<String>,
    frozen: bool,
    optimiser_steps: i32,
}

impl Checkpoint {
    /// Writes where a game and its agents stand, all or nothing.
    pub fn save<W: Worlds>(
        path: &Path,
        game: &Game<W>,
        agents: &[Agent],
        notes: &str,
    ) -> Result<()> {
        let cast = game.cast();
        let signature = cast.machine().signature();
        let mut bundle = Bundle::default();
        let mut described = Vec::new();
        for (agent, part) in agents.iter().zip(cast.parts()) {
            let name = agent.name();
            agent.network().put_into(&mut bundle, &format!("{name}."));
            let (means, squares) = agent.adam.memory();
            bundle.put_numbers(&format!("{name}/adam.means"), means);
            bundle.put_numbers(&format!("{name}/adam.squares"), squares);
            bundle.put_numbers(&format!("{name}/kl_coefficient"), &[agent.kl_coefficient]);
            put_experience(&mut bundle, &format!("{name}/waiting."), &agent.waiting);
            described.push(AgentDescription {
                name: name.to_owned(),
                network: agent.network().config().clone(),
                sequence: agent.sequence(),
                indicators: (part.sight.bits().iter())
                    .map(|atom| signature.atom(*atom).to_string())
                    .collect(),
                frozen: agent.is_frozen(),
                optimiser_steps: agent.adam.steps(),
            });
        }
        Standing::put_into(&mut bundle, &game.worlds, &game.players, agents);
        let description = Description {
            version: VERSION,
            machine: cast.machine().machine().to_string(),
            signature: signature
                .ids()
                .map(|id| signature.atom(id).to_string())
                .collect(),
            roles: cast.roles(),
            agents: described,
            notes: notes.to_owned(),
        };
        bundle.write(path, DESCRIPTION, &description)
    }

    /// Reads a file that [`Checkpoint::save`] wrote.
    pub fn load(path: &Path) -> Result<Self> {
        let bundle = Bundle::read(path)?;
        let mismatch = |problem: String| Error::Mismatch {
            path: path.to_owned(),
            problem,
        };
        let Version { version } = bundle.description(path, DESCRIPTION)?;
        if version != VERSION {
            return Err(mismatch(format!(
                "version {version} of the format; this program reads version {VERSION}"
            )));
        }
        let description: Description = bundle.description(path, DESCRIPTION)?;
        let core = |error: form_core::Error| mismatch(error.to_string());
        let mut policies = Vec::new();
        for agent in &description.agents {
            let mut network =
                Network::zeros(&agent.network).map_err(|error| mismatch(error.to_string()))?;
            let prefix = format!("{}.", agent.name);
            network.take_from(&bundle, &prefix).map_err(mismatch)?;
            policies.push(Policy {
                name: agent.name.clone(),
                network,
                indicators: agent.indicators.clone(),
            });
        }
        Ok(Self {
            machine: description.machine.parse().map_err(core)?,
            signature: Signature::parse(&description.signature).map_err(core)?,
            roles: description.roles,
            policies,
            notes: description.notes,
            path: path.to_owned(),
            bundle,
            agents: description.agents,
        })
    }

    fn mismatch(&self, problem: impl Into<String>) -> Error {
        Error::Mismatch {
            path: self.path.clone(),
            problem: problem.into(),
        }
    }

    /// The agents as they were.
    pub fn agents(&self, ppo: &PpoConfig) -> Result<Vec<Agent>> {
        let agents = self.agents.iter().zip(&self.policies);
        agents
            .map(|(described, policy)| {
                self.agent(described, policy, ppo)
                    .map_err(|problem| self.mismatch(problem))
            })
            .collect()
    }

    fn agent(
        &self,
        described: &AgentDescription,
        policy: &Policy,
        ppo: &PpoConfig,
    ) -> Result<Agent, String> {
        let (name, bundle) = (&described.name, &self.bundle);
        let network = policy.network.clone();
        let mut agent = Agent::with(name, network, described.sequence, ppo);
        agent.freeze(described.frozen);
        agent.adam = Adam::remember(
            described.optimiser_steps,
            bundle.numbers(&format!("{name}/adam.means"))?,
            bundle.numbers(&format!("{name}/adam.squares"))?,
            ppo.learning_rate,
        );
        agent.kl_coefficient = *(bundle.numbers(&format!("{name}/kl_coefficient"))?)
            .first()
            .ok_or_else(|| format!("no weight of the divergence for `{name}`"))?;
        agent.waiting = experience(bundle, &format!("{name}/waiting."))?;
        Ok(agent)
    }

    /// Brings a game to where it was: its worlds must be of the same seed and number as those that were saved.
    pub fn restore<W: Worlds>(&self, game: &mut Game<W>) -> Result<()> {
        let problem = |problem| self.mismatch(problem);
        let policies = self.policies.iter();
        let sizes = policies.map(|policy| (policy.name.as_str(), &policy.network));
        let standing = Standing::take_from(&self.bundle, sizes).map_err(problem)?;
        if standing.worlds.len() != game.worlds.len() {
            return Err(self.mismatch(format!(
                "it holds {} worlds, the run has {}",
                standing.worlds.len(),
                game.worlds.len()
            )));
        }
        game.replay(&standing.worlds)?;
        let places = standing.parts.into_iter().zip(standing.memories);
        for (player, (parts, memory)) in game.players.iter_mut().zip(places) {
            (player.parts, player.memory) = (parts, memory);
        }
        Ok(())
    }
}
