//! Everything that a run needs in order to go on, in one file: the machine, its signature, one policy a state with its optimiser
//! and normalisation, what agents have yet to learn from, the generator, and where every world stands.
//!
//! Tensors are called after their agents: `u0.image.0.weight`, so that Python reads a policy as it reads any other. The rest has
//! names with a `/`, but for the checksum `crc32`. The description stands in the metadata, under `form`, with the version of the
//! format. A world is brought back to where it was by taking its actions again.

use std::path::{Path, PathBuf};

use form_core::{Machine, Signature};
use form_env::{Random, Worlds};
use rand::SeedableRng;
use serde::{Deserialize, Serialize};

use super::bundle::Bundle;
use super::standing::{Standing, experience, put_experience};
use crate::agents::cast::Roles;
use crate::{Adam, Agent, Error, Game, Network, NetworkConfig, PpoConfig, Result};

/// The version of the format. A file of another one is refused.
const VERSION: u32 = 1;

/// The description's place in the metadata.
const DESCRIPTION: &str = "form";

/// The tensors with the generator's seed, and with its stream and its position in it, low bits first.
const SEED: &str = "generator/seed";
const POSITION: &str = "generator/position";

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
    path: PathBuf,
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
    /// Writes where a game, its agents and the generator of its choices stand, all or nothing.
    pub fn save<W: Worlds>(
        path: &Path,
        game: &Game<W>,
        agents: &[Agent],
        random: &Random,
        notes: &str,
    ) -> Result<()> {
        game.expect(agents.iter().map(|agent| (agent.name(), agent.network())))?;
        let cast = game.cast();
        let signature = cast.machine().signature();
        let mut bundle = Bundle::default();
        let mut described = Vec::new();
        for (agent, part) in agents.iter().zip(cast.parts()) {
            let name = &part.name;
            agent.network().put_into(&mut bundle, &format!("{name}."));
            let (means, squares) = agent.adam.memory();
            bundle.put_numbers(&format!("{name}/adam.means"), means);
            bundle.put_numbers(&format!("{name}/adam.squares"), squares);
            bundle.put_numbers(&format!("{name}/kl_coefficient"), &[agent.kl_coefficient]);
            put_experience(&mut bundle, &format!("{name}/waiting."), &agent.waiting);
            described.push(AgentDescription {
                name: name.clone(),
                network: agent.network().config().clone(),
                sequence: agent.sequence(),
                indicators: (part.sight.bits().iter())
                    .map(|atom| signature.atom(*atom).to_string())
                    .collect(),
                frozen: agent.is_frozen(),
                optimiser_steps: agent.adam.steps(),
            });
        }
        Standing::put_into(&mut bundle, game);
        let position = random.get_word_pos();
        let position = [
            random.get_stream(),
            position as u64,
            (position >> 64) as u64,
        ];
        bundle.put_bytes(SEED, random.get_seed().into());
        bundle.put_counts(POSITION, &position);
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
        if !bundle.is_checked() {
            return Err(mismatch("it has no checksum".to_owned()));
        }
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
        let means = bundle.numbers(&format!("{name}/adam.means"))?;
        let squares = bundle.numbers(&format!("{name}/adam.squares"))?;
        let weights = policy.network.weights().len();
        if [means.len(), squares.len()] != [weights; 2] {
            return Err(format!(
                "the optimiser of `{name}` is not that of its policy"
            ));
        }
        let rate = ppo.learning_rate;
        agent.adam = Adam::remember(described.optimiser_steps, means, squares, rate);
        agent.kl_coefficient = *(bundle.numbers(&format!("{name}/kl_coefficient"))?)
            .first()
            .ok_or_else(|| format!("no weight of the divergence for `{name}`"))?;
        agent.waiting = experience(bundle, &format!("{name}/waiting."), &policy.network)?;
        Ok(agent)
    }

    /// The generator as it was.
    pub fn generator(&self) -> Result<Random> {
        let problem = |problem: String| self.mismatch(problem);
        let seed = self.bundle.bytes(SEED).map_err(problem)?;
        let position = self.bundle.counts(POSITION).map_err(problem)?;
        match (<[u8; 32]>::try_from(seed), position.as_slice()) {
            (Ok(seed), &[stream, low, high]) => {
                let mut random = Random::from_seed(seed);
                random.set_stream(stream);
                random.set_word_pos(u128::from(high) << 64 | u128::from(low));
                Ok(random)
            }
            _ => Err(self.mismatch("not the seed and position of a generator")),
        }
    }

    /// Brings a game to where it was. It must be played by the same rules with the same machine, in worlds of the same seed and
    /// number. One whose worlds turn out to be others is left at no particular place.
    pub fn restore<W: Worlds>(&self, game: &mut Game<W>) -> Result<()> {
        self.expect(game)?;
        let problem = |problem| self.mismatch(problem);
        let standing = Standing::take_from(&self.bundle, game).map_err(problem)?;
        game.replay(&standing.worlds)?;
        if let Some(world) = standing.first_other_view(&game.worlds) {
            return Err(self.mismatch(format!(
                "world {world} is another one than that which was saved: of another seed, task or view"
            )));
        }
        let places = standing.parts.into_iter().zip(standing.memories);
        for (player, (parts, memory)) in game.players.iter_mut().zip(places) {
            (player.parts, player.memory) = (parts, memory);
        }
        Ok(())
    }

    /// Refuses a game of another machine, or one in which the agents have another part.
    fn expect<W: Worlds>(&self, game: &Game<W>) -> Result<()> {
        let (cast, machine) = (game.cast(), game.cast().machine());
        if cast.roles() != self.roles || machine.machine().to_string() != self.machine.to_string() {
            return Err(self.mismatch("it belongs to another machine, or to other roles"));
        }
        if *machine.signature() != self.signature {
            return Err(self.mismatch("it belongs to another signature"));
        }
        let policies = self.policies.iter();
        game.expect(policies.map(|policy| (policy.name.as_str(), &policy.network)))
            .map_err(|error| self.mismatch(error.to_string()))
    }
}
