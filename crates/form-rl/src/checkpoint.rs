//! Checkpoints: everything that a run needs to resume, in one file. The machine, its signature, one policy per agent with its
//! optimiser and normalisation, pending samples, the random generator, and the state of every world.
//!
//! A policy's tensors have the agent's name as prefix (`u0.image.0.weight`), so that Python reads them like those of any policy.
//! The other tensors have names with a `/`, except the checksum `crc32`. The metadata hold the description under `form`, with the
//! version of the format. Worlds are restored by replaying their actions.

mod game_snapshot;

use std::path::{Path, PathBuf};

use form_core::{Machine, Signature};
use form_env::{Random, Worlds};
use rand::SeedableRng;
use serde::{Deserialize, Serialize};

use self::game_snapshot::{GameSnapshot, experience, put_experience};
use crate::agents::agent_assignment::AssignmentMode;
use crate::bundle::Bundle;
use crate::{Adam, Agent, Error, Game, Network, NetworkConfig, PpoConfig, Result};

/// The version of the format. Files of other versions are rejected.
const VERSION: u32 = 1;

/// The key of the description in the metadata.
const DESCRIPTION: &str = "form";

/// The tensors of the generator: its seed; its stream and the position in it, low bits first.
const SEED: &str = "generator/seed";
const POSITION: &str = "generator/position";

/// A checkpoint that was read.
#[derive(Debug)]
pub struct Checkpoint {
    /// The machine.
    pub machine: Machine,
    /// The observable atoms.
    pub signature: Signature,
    /// How agents are assigned to states.
    pub mode: AssignmentMode,
    /// One policy per agent.
    pub policies: Vec<Policy>,
    /// Free text of the writer.
    pub notes: String,
    path: PathBuf,
    bundle: Bundle,
    agents: Vec<AgentDescription>,
}

/// A policy, with the meaning of its indicators.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The name of its role.
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
    roles: AssignmentMode,
    agents: Vec<AgentDescription>,
    notes: String,
}

/// The version alone: descriptions of other versions may have other fields.
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
    /// Writes the state of a game, its agents and its random generator, atomically.
    pub fn save<W: Worlds>(
        path: &Path,
        game: &Game<W>,
        agents: &[Agent],
        random: &Random,
        notes: &str,
    ) -> Result<()> {
        game.check_agents(agents.iter().map(|agent| (agent.name(), agent.network())))?;
        let assignment = game.assignment();
        let signature = assignment.bound_machine().signature();
        let mut bundle = Bundle::default();
        let mut described = Vec::new();
        for (agent, role) in agents.iter().zip(assignment.roles()) {
            let name = &role.name;
            agent.network().put_into(&mut bundle, &format!("{name}."));
            let (means, squares) = agent.adam.moments();
            bundle.put_numbers(&format!("{name}/adam.means"), means);
            bundle.put_numbers(&format!("{name}/adam.squares"), squares);
            bundle.put_numbers(&format!("{name}/kl_coefficient"), &[agent.kl_coefficient]);
            put_experience(&mut bundle, &format!("{name}/waiting."), &agent.pending);
            described.push(AgentDescription {
                name: name.clone(),
                network: agent.network().config().clone(),
                sequence: agent.sequence(),
                indicators: (role.encoder.bits().iter())
                    .map(|atom| signature.atom(*atom).to_string())
                    .collect(),
                frozen: agent.is_frozen(),
                optimiser_steps: agent.adam.steps(),
            });
        }
        GameSnapshot::put_into(&mut bundle, game);
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
            machine: assignment.machine().to_string(),
            signature: signature
                .ids()
                .map(|id| signature.atom(id).to_string())
                .collect(),
            roles: assignment.mode(),
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
            mode: description.roles,
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

    /// The agents, restored.
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
        agent.adam = Adam::restore(described.optimiser_steps, means, squares, rate);
        agent.kl_coefficient = *(bundle.numbers(&format!("{name}/kl_coefficient"))?)
            .first()
            .ok_or_else(|| format!("no weight of the divergence for `{name}`"))?;
        agent.pending = experience(bundle, &format!("{name}/waiting."), &policy.network)?;
        Ok(agent)
    }

    /// The random generator, restored.
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

    /// Restores the state of a game, which must have the same configuration and machine, and worlds of the same seed and number. If
    /// its worlds turn out to differ, the state of the game is unspecified.
    pub fn restore<W: Worlds>(&self, game: &mut Game<W>) -> Result<()> {
        self.expect(game)?;
        let problem = |problem| self.mismatch(problem);
        let snapshot = GameSnapshot::take_from(&self.bundle, game).map_err(problem)?;
        game.replay(&snapshot.worlds)?;
        if let Some(world) = snapshot.first_other_view(&game.worlds) {
            return Err(self.mismatch(format!(
                "world {world} is another one than that which was saved: of another seed, task or view"
            )));
        }
        let places = (snapshot.trajectories.into_iter()).zip(snapshot.hidden_states);
        for (slot, (trajectories, hidden_state)) in game.slots.iter_mut().zip(places) {
            (slot.trajectories, slot.hidden_state) = (trajectories, hidden_state);
        }
        Ok(())
    }

    /// Rejects a game with another machine or other roles.
    fn expect<W: Worlds>(&self, game: &Game<W>) -> Result<()> {
        let assignment = game.assignment();
        if assignment.mode() != self.mode
            || assignment.machine().to_string() != self.machine.to_string()
        {
            return Err(self.mismatch("it belongs to another machine, or to other roles"));
        }
        if *assignment.bound_machine().signature() != self.signature {
            return Err(self.mismatch("it belongs to another signature"));
        }
        let policies = self.policies.iter();
        game.check_agents(policies.map(|policy| (policy.name.as_str(), &policy.network)))
            .map_err(|error| self.mismatch(error.to_string()))
    }
}
