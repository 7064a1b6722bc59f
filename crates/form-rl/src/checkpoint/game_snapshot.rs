//! The state of a game as arrays: every world's episode and actions, and the open trajectories.

use form_env::Worlds;

use crate::bundle::Bundle;
use crate::experience::{Experience, Observation, Steps};
use crate::rollout::env_slot::OpenTrajectory;
use crate::{Game, Network, Role};

/// The state of a game: one entry per world.
pub(super) struct GameSnapshot {
    /// The number of the episode, and the actions in it.
    pub(super) worlds: Vec<(u64, Vec<u8>)>,
    /// The hidden states of recurrent layers.
    pub(super) hidden_states: Vec<Vec<f32>>,
    /// One open trajectory per agent.
    pub(super) trajectories: Vec<Vec<OpenTrajectory>>,
    /// Checksums of the observations.
    views: Vec<u64>,
}

impl GameSnapshot {
    pub(super) fn put_into<W: Worlds>(bundle: &mut Bundle, game: &Game<W>) {
        let slots = &game.slots;
        let episodes = (0..slots.len()).map(|world| game.worlds.episode(world));
        let lengths = slots.iter().map(|slot| slot.actions.len() as u64);
        let actions = slots.iter().flat_map(|slot| &slot.actions).copied();
        let memory = slots.iter().flat_map(|slot| &slot.hidden_state).copied();
        bundle.put_counts("game/episodes", &episodes.collect::<Vec<_>>());
        bundle.put_counts("game/lengths", &lengths.collect::<Vec<_>>());
        bundle.put_bytes("game/actions", actions.collect());
        bundle.put_numbers("game/memory", &memory.collect::<Vec<_>>());
        bundle.put_counts("game/views", &views(&game.worlds));
        for (number, Role { name, .. }) in game.assignment.roles().iter().enumerate() {
            let open: Vec<_> = (slots.iter())
                .map(|slot| &slot.trajectories[number])
                .collect();
            put_trajectories(bundle, &format!("{name}/held."), &open);
        }
    }

    /// Reads what [`GameSnapshot::put_into`] wrote, for a game with the same roles.
    pub(super) fn take_from<W: Worlds>(bundle: &Bundle, game: &Game<W>) -> Result<Self, String> {
        let count = game.worlds.len();
        let mut snapshot = Self {
            worlds: Vec::with_capacity(count),
            hidden_states: Vec::with_capacity(count),
            trajectories: vec![Vec::new(); count],
            views: expect_one_per_world(bundle.counts("game/views")?, count)?,
        };
        let episodes = expect_one_per_world(bundle.counts("game/episodes")?, count)?;
        let lengths = expect_one_per_world(bundle.counts("game/lengths")?, count)?;
        let memory = bundle.numbers("game/memory")?;
        let (mut actions, mut memory) = (Cutter(bundle.bytes("game/actions")?), Cutter(&memory));
        let choices = game.worlds.actions().len();
        for (episode, length) in episodes.into_iter().zip(lengths) {
            let actions = actions.cut(length, 1)?;
            expect_actions(&actions, choices)?;
            snapshot.worlds.push((episode, actions));
            (snapshot.hidden_states).push(memory.cut(game.hidden_size as u64, 1)?);
        }
        for role in game.assignment.roles() {
            snapshot.take_trajectories(bundle, role, choices, game.hidden_size)?;
        }
        Ok(snapshot)
    }

    /// The first world with another observation than when it was saved.
    pub(super) fn first_other_view<W: Worlds>(&self, worlds: &W) -> Option<usize> {
        let now = views(worlds);
        self.views
            .iter()
            .zip(&now)
            .position(|(then, now)| then != now)
    }

    /// One agent's open trajectories in all worlds.
    fn take_trajectories(
        &mut self,
        bundle: &Bundle,
        Role { name, encoder }: &Role,
        actions: usize,
        hidden_size: usize,
    ) -> Result<(), String> {
        let at = |what: &str| format!("{name}/held.{what}");
        let numbers = |what: &str| bundle.numbers(&at(what));
        let bytes = |what: &str| bundle.bytes(&at(what)).map(Cutter);
        let count = self.trajectories.len();
        let visited = expect_one_per_world(bundle.bytes(&at("visited"))?.to_vec(), count)?;
        let looks = expect_one_per_world(bundle.bytes(&at("looks"))?.to_vec(), count)?;
        let lengths = expect_one_per_world(bundle.counts(&at("lengths"))?, count)?;
        let (mut images, mut chosen, mut starts) =
            (bytes("images")?, bytes("actions")?, bytes("starts")?);
        let (vectors, logits) = (numbers("vectors")?, numbers("logits")?);
        let (values, rewards) = (numbers("values")?, numbers("rewards")?);
        let (mut vectors, mut logits) = (Cutter(&vectors), Cutter(&logits));
        let (mut values, mut rewards) = (Cutter(&values), Cutter(&rewards));
        let (after_vectors, memories) = (numbers("after.vectors")?, numbers("after.memories")?);
        let (mut after_vectors, mut memories) = (Cutter(&after_vectors), Cutter(&memories));
        let mut after_images = bytes("after.images")?;
        let (image, vector) = (encoder.image_len() as u64, encoder.vector_len() as u64);
        for (place, trajectories) in self.trajectories.iter_mut().enumerate() {
            let length = lengths[place];
            let steps = Steps {
                images: images.cut(length, image)?,
                vectors: vectors.cut(length, vector)?,
                actions: chosen.cut(length, 1)?,
                logits: logits.cut(length, actions as u64)?,
                values: values.cut(length, 1)?,
                rewards: rewards.cut(length, 1)?,
                starts: flags(&starts.cut(length, 1)?),
                // Sequences begin anew with every batch, so open trajectories have no hidden states.
                hidden_states: Vec::new(),
            };
            expect_actions(&steps.actions, actions)?;
            let next = match looks[place] {
                0 => None,
                _ => Some(Observation {
                    image: after_images.cut(1, image)?,
                    vector: after_vectors.cut(1, vector)?,
                    hidden_state: memories.cut(1, hidden_size as u64)?,
                }),
            };
            trajectories.push(OpenTrajectory {
                visited: visited[place] != 0,
                steps,
                next,
            });
        }
        Ok(())
    }
}

fn put_trajectories(bundle: &mut Bundle, prefix: &str, open: &[&OpenTrajectory]) {
    let at = |what: &str| format!("{prefix}{what}");
    let visited = open.iter().map(|one| u8::from(one.visited));
    let looks = open.iter().map(|one| u8::from(one.next.is_some()));
    let lengths = open.iter().map(|one| one.steps.actions.len() as u64);
    bundle.put_bytes(&at("visited"), visited.collect());
    bundle.put_bytes(&at("looks"), looks.collect());
    bundle.put_counts(&at("lengths"), &lengths.collect::<Vec<_>>());
    let steps: Vec<&Steps> = open.iter().map(|one| &one.steps).collect();
    bundle.put_bytes(&at("images"), joined(&steps, |steps| &steps.images));
    bundle.put_numbers(&at("vectors"), &joined(&steps, |steps| &steps.vectors));
    bundle.put_bytes(&at("actions"), joined(&steps, |steps| &steps.actions));
    bundle.put_numbers(&at("logits"), &joined(&steps, |steps| &steps.logits));
    bundle.put_numbers(&at("values"), &joined(&steps, |steps| &steps.values));
    bundle.put_numbers(&at("rewards"), &joined(&steps, |steps| &steps.rewards));
    let starts = joined(&steps, |steps| &steps.starts);
    bundle.put_bytes(&at("starts"), bytes(&starts));
    let after: Vec<&Observation> = open.iter().filter_map(|one| one.next.as_ref()).collect();
    bundle.put_bytes(
        &at("after.images"),
        joined(&after, |observation| &observation.image),
    );
    bundle.put_numbers(
        &at("after.vectors"),
        &joined(&after, |observation| &observation.vector),
    );
    bundle.put_numbers(
        &at("after.memories"),
        &joined(&after, |observation| &observation.hidden_state),
    );
}

/// One column of all, concatenated.
fn joined<T, U: Copy>(of: &[&T], column: impl Fn(&T) -> &Vec<U>) -> Vec<U> {
    of.iter().flat_map(|one| column(one)).copied().collect()
}

fn bytes(flags: &[bool]) -> Vec<u8> {
    flags.iter().map(|flag| u8::from(*flag)).collect()
}

fn flags(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().map(|byte| *byte != 0).collect()
}

/// A checksum of every world's observation.
fn views<W: Worlds>(worlds: &W) -> Vec<u64> {
    let spec = worlds.spec();
    let mut planes = vec![0; spec.planes_len()];
    let mut vector = vec![0.0; spec.vector_len()];
    let mut view = |world| {
        worlds.observe(world, &mut planes, &mut vector);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&planes);
        for number in &vector {
            hasher.update(&number.to_le_bytes());
        }
        u64::from(hasher.finalize())
    };
    (0..worlds.len()).map(&mut view).collect()
}

fn expect_one_per_world<T>(of: Vec<T>, worlds: usize) -> Result<Vec<T>, String> {
    match of.len() == worlds {
        true => Ok(of),
        false => Err(format!(
            "it holds {} worlds, the run has {worlds}",
            of.len()
        )),
    }
}

/// Rejects actions out of range: their probabilities would be looked up.
fn expect_actions(taken: &[u8], actions: usize) -> Result<(), String> {
    match (taken.iter()).find(|action| usize::from(**action) >= actions) {
        Some(action) => Err(format!("action {action}, of {actions}")),
        None => Ok(()),
    }
}

/// Cuts pieces off the front of an array.
struct Cutter<'a, T>(&'a [T]);

impl<T: Clone> Cutter<'_, T> {
    /// This number of pieces of this size.
    fn cut(&mut self, pieces: u64, size: u64) -> Result<Vec<T>, String> {
        let length = pieces
            .checked_mul(size)
            .and_then(|n| usize::try_from(n).ok());
        let (piece, rest) = (length.and_then(|length| self.0.split_at_checked(length)))
            .ok_or("an array is too short for what it should hold")?;
        self.0 = rest;
        Ok(piece.to_vec())
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
    bundle.put_bytes(&at("starts"), bytes(&of.starts));
    bundle.put_numbers(&at("memories"), &of.hidden_states);
}

/// Reads what [`put_experience`] wrote, for an agent with this network.
pub(super) fn experience(
    bundle: &Bundle,
    prefix: &str,
    network: &Network,
) -> Result<Experience, String> {
    let at = |what: &str| format!("{prefix}{what}");
    let actions = bundle.bytes(&at("actions"))?;
    expect_actions(actions, network.actions())?;
    let experience = Experience {
        images: bundle.bytes(&at("images"))?.to_vec(),
        vectors: bundle.numbers(&at("vectors"))?,
        actions: actions.iter().map(|action| usize::from(*action)).collect(),
        logits: bundle.numbers(&at("logits"))?,
        values: bundle.numbers(&at("values"))?,
        advantages: bundle.numbers(&at("advantages"))?,
        returns: bundle.numbers(&at("returns"))?,
        starts: flags(bundle.bytes(&at("starts"))?),
        hidden_states: bundle.numbers(&at("memories"))?,
    };
    let lengths = [
        ("images", experience.images.len(), network.image_len()),
        ("vectors", experience.vectors.len(), network.vector_len()),
        ("logits", experience.logits.len(), network.actions()),
        ("values", experience.values.len(), 1),
        ("advantages", experience.advantages.len(), 1),
        ("returns", experience.returns.len(), 1),
        ("starts", experience.starts.len(), 1),
    ];
    for (what, found, size) in lengths {
        let needed = actions.len() * size;
        if found != needed {
            let tensor = at(what);
            return Err(format!("tensor `{tensor}`: {found} given, {needed} needed"));
        }
    }
    Ok(experience)
}
