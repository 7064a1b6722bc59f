//! Where a game stands, as arrays: every world's episode and actions, and what agents hold back until an episode is over.

use form_env::Worlds;

use super::bundle::Bundle;
use crate::rollout::experience::{Experience, Glance, Steps};
use crate::rollout::player::{Part, Player};
use crate::{Agent, Network};

/// Where a game stood, world by world.
pub(super) struct Standing {
    /// The number of the episode, and the actions in it.
    pub(super) worlds: Vec<(u64, Vec<u8>)>,
    /// What was remembered.
    pub(super) memories: Vec<Vec<f32>>,
    /// What every agent holds back.
    pub(super) parts: Vec<Vec<Part>>,
}

impl Standing {
    pub(super) fn put_into<W: Worlds>(
        bundle: &mut Bundle,
        worlds: &W,
        players: &[Player],
        agents: &[Agent],
    ) {
        let episodes: Vec<u64> = (0..players.len())
            .map(|world| worlds.episode(world))
            .collect();
        let lengths: Vec<u64> = (players.iter())
            .map(|player| player.actions.len() as u64)
            .collect();
        bundle.put_counts("game/episodes", &episodes);
        bundle.put_counts("game/lengths", &lengths);
        let actions = players.iter().flat_map(|player| player.actions.clone());
        bundle.put_bytes("game/actions", actions.collect());
        let memory: Vec<f32> = (players.iter())
            .flat_map(|player| player.memory.clone())
            .collect();
        bundle.put_numbers("game/memory", &memory);
        for (number, agent) in agents.iter().enumerate() {
            let at = |what: &str| format!("{}/held.{what}", agent.name());
            let parts = || players.iter().map(|player| &player.parts[number]);
            bundle.put_bytes(
                &at("visited"),
                parts().map(|part| u8::from(part.visited)).collect(),
            );
            bundle.put_bytes(
                &at("looks"),
                parts().map(|part| u8::from(part.after.is_some())).collect(),
            );
            let lengths: Vec<u64> = parts()
                .map(|part| part.steps.actions.len() as u64)
                .collect();
            bundle.put_counts(&at("lengths"), &lengths);
            let (mut held, mut rewards, mut after) =
                (Experience::default(), Vec::new(), Glance::default());
            for part in parts() {
                let steps = part.steps.clone();
                held.images.extend(steps.images);
                held.vectors.extend(steps.vectors);
                (held.actions).extend(steps.actions.into_iter().map(usize::from));
                held.logits.extend(steps.logits);
                held.values.extend(steps.values);
                held.starts.extend(steps.starts);
                rewards.extend(steps.rewards);
                if let Some(glance) = &part.after {
                    after.image.extend_from_slice(&glance.image);
                    after.vector.extend_from_slice(&glance.vector);
                    after.memory.extend_from_slice(&glance.memory);
                }
            }
            put_experience(bundle, &at(""), &held);
            bundle.put_numbers(&at("rewards"), &rewards);
            bundle.put_bytes(&at("after.images"), after.image);
            bundle.put_numbers(&at("after.vectors"), &after.vector);
            bundle.put_numbers(&at("after.memories"), &after.memory);
        }
    }

    /// What [`Standing::put_into`] put there, for agents with these names and networks.
    pub(super) fn take_from<'a>(
        bundle: &Bundle,
        agents: impl Iterator<Item = (&'a str, &'a Network)>,
    ) -> Result<Self, String> {
        let episodes = bundle.counts("game/episodes")?;
        let lengths = bundle.counts("game/lengths")?;
        let mut actions = Cutter(bundle.bytes("game/actions")?);
        let memory = bundle.numbers("game/memory")?;
        let memory_len = (memory.len() / episodes.len().max(1)) as u64;
        let mut memory = Cutter(&memory);
        let mut standing = Self {
            worlds: Vec::new(),
            memories: Vec::new(),
            parts: vec![Vec::new(); episodes.len()],
        };
        for (episode, length) in episodes.iter().zip(&lengths) {
            let actions = actions.cut(*length)?.to_vec();
            standing.worlds.push((*episode, actions));
            standing.memories.push(memory.cut(memory_len)?.to_vec());
        }
        for (name, network) in agents {
            standing.take_parts(bundle, name, network, memory_len)?;
        }
        Ok(standing)
    }

    /// One agent's parts in all worlds.
    fn take_parts(
        &mut self,
        bundle: &Bundle,
        name: &str,
        network: &Network,
        memory_len: u64,
    ) -> Result<(), String> {
        let at = |what: &str| format!("{name}/held.{what}");
        let visited = bundle.bytes(&at("visited"))?;
        let looks = bundle.bytes(&at("looks"))?;
        let lengths = bundle.counts(&at("lengths"))?;
        let held = experience(bundle, &at(""))?;
        let rewards = bundle.numbers(&at("rewards"))?;
        let vectors = bundle.numbers(&at("after.vectors"))?;
        let memories = bundle.numbers(&at("after.memories"))?;
        let mut after = (
            Cutter(bundle.bytes(&at("after.images"))?),
            Cutter(&vectors),
            Cutter(&memories),
        );
        let counts = [visited.len(), looks.len(), lengths.len()];
        if counts.iter().any(|count| *count != self.parts.len()) {
            return Err(format!("the parts of `{name}` are not one a world"));
        }
        let bytes = network.image_len() as u64;
        let numbers = network.vector_len() as u64;
        let mut columns = Columns {
            images: Cutter(&held.images),
            vectors: Cutter(&held.vectors),
            actions: Cutter(&held.actions),
            logits: Cutter(&held.logits),
            values: Cutter(&held.values),
            rewards: Cutter(&rewards),
            starts: Cutter(&held.starts),
        };
        for (place, parts) in self.parts.iter_mut().enumerate() {
            let steps = columns.cut(lengths[place], bytes, numbers, network.actions() as u64)?;
            let after = match looks[place] {
                0 => None,
                _ => Some(Glance {
                    image: after.0.cut(bytes)?.to_vec(),
                    vector: after.1.cut(numbers)?.to_vec(),
                    memory: after.2.cut(memory_len)?.to_vec(),
                }),
            };
            parts.push(Part {
                visited: visited[place] != 0,
                steps,
                after,
            });
        }
        Ok(())
    }
}

/// The steps of many worlds, to be taken apart again. Sequences begin anew with every batch, so nothing held back has any memory.
struct Columns<'a> {
    images: Cutter<'a, u8>,
    vectors: Cutter<'a, f32>,
    actions: Cutter<'a, usize>,
    logits: Cutter<'a, f32>,
    values: Cutter<'a, f32>,
    rewards: Cutter<'a, f32>,
    starts: Cutter<'a, bool>,
}

impl Columns<'_> {
    fn cut(&mut self, steps: u64, bytes: u64, numbers: u64, actions: u64) -> Result<Steps, String> {
        let times = |size: u64| steps.checked_mul(size).ok_or("impossible lengths");
        Ok(Steps {
            images: self.images.cut(times(bytes)?)?.to_vec(),
            vectors: self.vectors.cut(times(numbers)?)?.to_vec(),
            actions: (self.actions.cut(steps)?.iter())
                .map(|action| *action as u8)
                .collect(),
            logits: self.logits.cut(times(actions)?)?.to_vec(),
            values: self.values.cut(steps)?.to_vec(),
            rewards: self.rewards.cut(steps)?.to_vec(),
            starts: self.starts.cut(steps)?.to_vec(),
            memories: Vec::new(),
        })
    }
}

/// Takes pieces from the front of something.
struct Cutter<'a, T>(&'a [T]);

impl<'a, T> Cutter<'a, T> {
    fn cut(&mut self, length: u64) -> Result<&'a [T], String> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let (piece, rest) = (self.0.split_at_checked(length))
            .ok_or_else(|| "an array is too short for what it should hold".to_owned())?;
        self.0 = rest;
        Ok(piece)
    }
}

pub(super) fn put_experience(bundle: &mut Bundle, prefix: &str, of: &Experience) {
    let at = |what: &str| format!("{prefix}{what}");
    bundle.put_bytes(&at("images"), of.images.clone());
    bundle.put_numbers(&at("vectors"), &of.vectors);
    let actions = of.actions.iter().map(|action| *action as u8);
    bundle.put_bytes(&at("actions"), actions.collect());
    bundle.put_numbers(&at("logits"), &of.logits);
    bundle.put_numbers(&at("values"), &of.values);
    bundle.put_numbers(&at("advantages"), &of.advantages);
    bundle.put_numbers(&at("returns"), &of.returns);
    let starts = of.starts.iter().map(|start| u8::from(*start));
    bundle.put_bytes(&at("starts"), starts.collect());
    bundle.put_numbers(&at("memories"), &of.memories);
}

pub(super) fn experience(bundle: &Bundle, prefix: &str) -> Result<Experience, String> {
    let at = |what: &str| format!("{prefix}{what}");
    let actions = bundle.bytes(&at("actions"))?;
    let starts = bundle.bytes(&at("starts"))?;
    Ok(Experience {
        images: bundle.bytes(&at("images"))?.to_vec(),
        vectors: bundle.numbers(&at("vectors"))?,
        actions: actions.iter().map(|action| usize::from(*action)).collect(),
        logits: bundle.numbers(&at("logits"))?,
        values: bundle.numbers(&at("values"))?,
        advantages: bundle.numbers(&at("advantages"))?,
        returns: bundle.numbers(&at("returns"))?,
        starts: starts.iter().map(|start| *start != 0).collect(),
        memories: bundle.numbers(&at("memories"))?,
    })
}
