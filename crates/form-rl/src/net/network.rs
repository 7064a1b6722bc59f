//! A network: its layers, its weights, and the forward and backward pass of one block of samples.
//!
//! The passes of a block run while it is in cache; `engine` distributes the blocks over the cores.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::Rng;

use super::aligned::Aligned;
use super::batch::Batch;
use super::chain::{Chain, Room};
use super::config::{LayerConfig, NetworkConfig};
use super::dense::Dense;
use super::layer::{Input, MOST_WEIGHTS, Rows, Shape, Tensor, limit};
use super::normalise::Normalisation;
use super::sparse::Sparse;
use super::vector::vectorised;
use crate::error::size;
use crate::{Error, Result};

/// A policy and a value function on a shared trunk.
#[derive(Clone, Debug)]
pub struct Network {
    config: NetworkConfig,
    branches: Vec<Chain>,
    trunk: Chain,
    actor: Chain,
    critic: Chain,
    tensors: Vec<Tensor>,
    weights: Aligned,
    /// Networks with the same stamp have the same weights.
    stamp: u64,
    /// One per branch that is normalised.
    normalisations: Vec<Option<Normalisation>>,
}

/// A new stamp.
fn new_stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Network {
    /// A network with newly initialised weights.
    pub fn new(config: &NetworkConfig, rng: &mut dyn Rng) -> Result<Self> {
        let mut network = Self::zeros(config)?;
        for tensor in &network.tensors {
            let weights = &mut network.weights[tensor.range.clone()];
            (config.initial).fill(tensor, config.actor_gain, rng, weights);
        }
        network.stamp = new_stamp();
        Ok(network)
    }

    /// A network with all weights 0.
    pub(crate) fn zeros(config: &NetworkConfig) -> Result<Self> {
        let mut tensors = Vec::new();
        let mut branches = Vec::new();
        for (name, shape, layers) in config.branches()? {
            branches.push(Chain::new(&name, shape, layers, &mut tensors)?);
        }
        let joined = branches.iter().map(|branch| branch.output().size()).sum();
        let trunk = Chain::new("trunk", Shape::Flat(joined), &config.trunk, &mut tensors)?;
        let mut head = |name: &str, outputs| {
            let mut chain = Chain::new(name, trunk.output(), &[], &mut tensors)?;
            let dense = Dense::new(trunk.output(), outputs).map_err(|problem| Error::Layer {
                layer: name.to_owned(),
                problem: match outputs {
                    0 => "there are no actions to choose from".to_owned(),
                    _ => problem,
                },
            })?;
            chain.push(name, Arc::new(dense), &mut tensors);
            Ok::<_, Error>(chain)
        };
        let actor = head("actor", config.actions)?;
        let critic = head("critic", 1)?;
        let weights = tensors.last().map_or(0, |tensor| tensor.range.end);
        limit("weights", &[weights], MOST_WEIGHTS).map_err(|problem| Error::Layer {
            layer: "network".to_owned(),
            problem,
        })?;
        Ok(Self {
            config: config.clone(),
            branches,
            trunk,
            actor,
            critic,
            tensors,
            weights: Aligned::zeros(weights),
            stamp: new_stamp(),
            normalisations: Normalisation::of(config),
        })
    }

    /// Its configuration.
    pub fn config(&self) -> &NetworkConfig {
        &self.config
    }

    /// All weights, tensor after tensor.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// All weights, for optimisers.
    pub fn weights_mut(&mut self) -> &mut [f32] {
        self.stamp = new_stamp();
        &mut self.weights
    }

    /// Changes whenever the weights do.
    pub(super) fn stamp(&self) -> u64 {
        self.stamp
    }

    pub(crate) fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    pub(super) fn normalisations(&self) -> impl Iterator<Item = &Normalisation> {
        self.normalisations.iter().flatten()
    }

    pub(super) fn normalisations_mut(&mut self) -> &mut [Option<Normalisation>] {
        &mut self.normalisations
    }

    /// The bytes of an observation's image; 0 without one.
    pub fn image_len(&self) -> usize {
        let shape = self.config.image.as_ref().map(|image| image.shape);
        shape.map_or(0, |shape| shape.iter().product())
    }

    /// The size of an observation's vectors, concatenated.
    pub fn vector_len(&self) -> usize {
        self.config.vectors.iter().map(|vector| vector.size).sum()
    }

    /// The number of observations, after checking that there are as many images as vectors.
    pub(super) fn count(&self, images: &[u8], vectors: &[f32]) -> Result<usize> {
        let (image_len, vector_len) = (self.image_len(), self.vector_len());
        let count = match image_len {
            0 => vectors.len() / vector_len,
            _ => images.len() / image_len,
        };
        size("bytes of images", images.len(), count * image_len)?;
        size("numbers of vectors", vectors.len(), count * vector_len)?;
        Ok(count)
    }

    /// Adds observations to the statistics of the running normalisation. Inputs that are not normalised have none.
    pub fn observe_statistics(&mut self, images: &[u8], vectors: &[f32]) -> Result<()> {
        self.count(images, vectors)?;
        if let Some(&value) = vectors.iter().find(|x| !x.is_finite()) {
            let what = "observation";
            return Err(Error::NonFinite { what, value });
        }
        let (image_len, vector_len) = (self.image_len(), self.vector_len());
        let mut normalisations = self.normalisations.iter_mut();
        if image_len > 0
            && let Some(Some(image)) = normalisations.next()
        {
            image.observe_images(images, image_len);
        }
        let mut offset = 0;
        for (normalisation, vector) in normalisations.zip(&self.config.vectors) {
            let range = offset..offset + vector.size;
            offset = range.end;
            if let Some(normalisation) = normalisation {
                let rows = vectors.chunks_exact(vector_len);
                normalisation.observe_vectors(rows.map(|row| &row[range.clone()]));
            }
        }
        Ok(())
    }

    /// The size of the hidden state; 0 for feedforward networks.
    pub fn state(&self) -> usize {
        self.trunk.state()
    }

    /// The number of actions.
    pub fn actions(&self) -> usize {
        self.config.actions
    }

    /// The approximate number of multiplications per sample: the cost of inference, independent of the computer.
    pub fn multiplications(&self) -> u64 {
        let heads = [&self.trunk, &self.actor, &self.critic];
        (self.branches.iter().chain(heads))
            .map(Chain::multiplications)
            .sum()
    }

    /// Whether it has a recurrent layer.
    pub fn is_recurrent(&self) -> bool {
        let lstm = |layer: &LayerConfig| matches!(layer, LayerConfig::Lstm { .. });
        self.config.trunk.iter().any(lstm)
    }

    /// Arranges the weights for forward passes.
    pub(super) fn prepare(&self, prepared: &mut [f32]) {
        let heads = [&self.trunk, &self.actor, &self.critic];
        for chain in self.branches.iter().chain(heads) {
            chain.prepare(&self.weights, prepared);
        }
    }

    /// The forward pass of a block; the results are in the workspace.
    pub(super) fn forward(
        &self,
        prepared: &[f32],
        batch: &Batch<'_>,
        block: Range<usize>,
        work: &mut Work,
    ) {
        work.gather(self, batch, block.start, block.len());
        let weights = [&self.weights, prepared];
        let rows = work.block.rows();
        let offset_size = self.trunk.input().size();
        let mut offset = 0;
        for (place, branch) in self.branches.iter().enumerate() {
            let input = work.inputs[place].of(rows.count() * branch.input().size());
            let room = &mut work.branches[place];
            branch.forward(rows, weights, input, room, &mut []);
            let result = branch.result(rows, input.numbers, room);
            let size = branch.output().size();
            let joined = work.joined.chunks_exact_mut(offset_size);
            for (to, from) in joined.zip(result.chunks_exact(size)) {
                to[offset..offset + size].copy_from_slice(from);
            }
            offset += size;
        }
        let joined = &work.joined[..rows.count() * offset_size];
        let last = &mut work.last_states;
        (self.trunk).forward(rows, weights, Input::dense(joined), &mut work.trunk, last);
        let features = Input::dense(self.trunk.result(rows, joined, &work.trunk));
        (self.actor).forward(rows, weights, features, &mut work.actor, &mut []);
        (self.critic).forward(rows, weights, features, &mut work.critic, &mut []);
    }

    /// Logits and values of the last forward pass.
    pub(super) fn outputs<'a>(&self, work: &'a Work) -> (&'a [f32], &'a [f32]) {
        let rows = work.block.rows();
        let logits = self.actor.result(rows, &[], &work.actor);
        (logits, self.critic.result(rows, &[], &work.critic))
    }

    /// The backward pass from the gradients with respect to logits and values; adds the gradient with respect to the weights.
    pub(super) fn backward(&self, work: &mut Work, gradient: &mut [f32]) {
        let (rows, weights) = (work.block.rows(), &self.weights);
        let joined_size = self.trunk.input().size();
        let joined = &work.joined[..rows.count() * joined_size];
        let features = Input::dense(self.trunk.result(rows, joined, &work.trunk));
        let joined = Input::dense(joined);
        let d = &mut work.d;
        let size = rows.count() * self.actions();
        d[0][..size].copy_from_slice(&work.d_logits[..size]);
        (self.actor).backward(rows, weights, features, &mut work.actor, d, true, gradient);
        let size = rows.count() * self.trunk.output().size();
        work.d_joined[..size].copy_from_slice(&d[0][..size]);
        d[0][..rows.count()].copy_from_slice(&work.d_values[..rows.count()]);
        (self.critic).backward(rows, weights, features, &mut work.critic, d, true, gradient);
        for (d, actor) in d[0][..size].iter_mut().zip(&*work.d_joined) {
            *d += actor;
        }
        (self.trunk).backward(rows, weights, joined, &mut work.trunk, d, true, gradient);
        let size = rows.count() * joined_size;
        work.d_joined[..size].copy_from_slice(&d[0][..size]);
        let mut offset = 0;
        for (place, branch) in self.branches.iter().enumerate() {
            let size = branch.output().size();
            let from = work.d_joined[..rows.count() * joined_size].chunks_exact(joined_size);
            for (to, from) in d[0].chunks_exact_mut(size).zip(from) {
                to.copy_from_slice(&from[offset..offset + size]);
            }
            offset += size;
            let input = work.inputs[place].of(rows.count() * branch.input().size());
            let room = &mut work.branches[place];
            branch.backward(rows, weights, input, room, d, false, gradient);
        }
    }
}

/// The samples of a block.
#[derive(Debug, Default)]
pub(super) struct Block {
    sequences: usize,
    steps: usize,
    starts: Vec<bool>,
    states: Vec<f32>,
    /// The samples' indices in the data, step by step.
    pub(super) places: Vec<usize>,
}

impl Block {
    pub(super) fn rows(&self) -> Rows<'_> {
        Rows {
            sequences: self.sequences,
            steps: self.steps,
            starts: &self.starts,
            states: &self.states,
        }
    }
}

/// The input of a branch.
#[derive(Debug)]
struct Gathered {
    numbers: Aligned,
    /// For images that may be sparse.
    images: Option<Sparse>,
    /// Whether those of this block are.
    is_sparse: bool,
}

impl Gathered {
    fn new(branch: &Chain, normalised: bool, rows: usize) -> Self {
        let images = match branch.input() {
            Shape::Image(shape) if !normalised && branch.takes_sparse() => Some(Sparse::new(shape)),
            _ => None,
        };
        Self {
            numbers: Aligned::zeros(rows * branch.input().size()),
            images,
            is_sparse: false,
        }
    }

    fn read_sparse(&mut self, places: &[usize], images: &[u8]) -> bool {
        self.is_sparse = self.images.as_mut().is_some_and(|sparse| {
            let size = sparse.size();
            sparse.read(places.iter().map(|place| &images[place * size..][..size]))
        });
        self.is_sparse
    }

    fn of(&self, count: usize) -> Input<'_> {
        Input {
            numbers: &self.numbers[..count],
            sparse: self.images.as_ref().filter(|_| self.is_sparse),
        }
    }
}

/// The workspace of one block of samples.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) block: Block,
    inputs: Vec<Gathered>,
    branches: Vec<Room>,
    joined: Aligned,
    trunk: Room,
    actor: Room,
    critic: Room,
    pub(super) last_states: Vec<f32>,
    pub(super) d_logits: Vec<f32>,
    pub(super) d_values: Vec<f32>,
    d: [Aligned; 2],
    d_joined: Aligned,
}

impl Work {
    /// Workspace for blocks of up to this size.
    pub(super) fn new(network: &Network, sequences: usize, steps: usize) -> Self {
        let rows = sequences * steps;
        let chains =
            || (network.branches.iter()).chain([&network.trunk, &network.actor, &network.critic]);
        let widest = chains().map(Chain::widest).max().unwrap_or(0);
        let inputs = network.branches.iter().zip(&network.normalisations);
        let input = |(branch, normalisation): (&Chain, &Option<_>)| {
            Gathered::new(branch, normalisation.is_some(), rows)
        };
        let joined = network.trunk.input().size();
        let features = network.trunk.output().size();
        Self {
            block: Block::default(),
            inputs: inputs.map(input).collect(),
            branches: (network.branches.iter())
                .map(|branch| branch.room(sequences, steps))
                .collect(),
            joined: Aligned::zeros(rows * joined),
            trunk: network.trunk.room(sequences, steps),
            actor: network.actor.room(sequences, steps),
            critic: network.critic.room(sequences, steps),
            last_states: vec![0.0; sequences * network.state()],
            d_logits: vec![0.0; rows * network.actions()],
            d_values: vec![0.0; rows],
            d: [widest, widest].map(|size| Aligned::zeros(rows * size)),
            d_joined: Aligned::zeros(rows * joined.max(features)),
        }
    }

    /// Gathers the observations of a block's samples into the inputs of the branches.
    fn gather(&mut self, network: &Network, batch: &Batch<'_>, first: usize, count: usize) {
        let block = &mut self.block;
        (block.sequences, block.steps) = (count, batch.steps);
        block.places.clear();
        for step in 0..batch.steps {
            let place = |sequence| batch.place((first + sequence) * batch.steps + step);
            block.places.extend((0..count).map(place));
        }
        if network.is_recurrent() {
            block.starts.clear();
            block
                .starts
                .extend(block.places.iter().map(|place| batch.starts[*place]));
            let state = network.state();
            block.states.clear();
            (block.states).extend_from_slice(&batch.states[first * state..(first + count) * state]);
        }
        let (mut images, mut offset) = (network.image_len(), 0);
        let (image_len, vector_len) = (images, network.vector_len());
        let branches = network.branches.iter().zip(&network.normalisations);
        for (input, (branch, normalisation)) in self.inputs.iter_mut().zip(branches) {
            let size = branch.input().size();
            let normalisation = normalisation.as_ref();
            let images_here = std::mem::take(&mut images) > 0;
            if images_here && input.read_sparse(&block.places, batch.images) {
                continue;
            }
            let rows = input.numbers.chunks_exact_mut(size).zip(&block.places);
            if images_here {
                vectorised(
                    #[inline(always)]
                    || {
                        for (row, place) in rows {
                            let bytes = &batch.images[place * image_len..][..size];
                            let bytes = bytes.iter().map(|byte| f32::from(*byte));
                            write(bytes, normalisation, row);
                        }
                    },
                );
            } else {
                for (row, place) in rows {
                    let numbers = &batch.vectors[place * vector_len + offset..][..size];
                    write(numbers.iter().copied(), normalisation, row);
                }
                offset += size;
            }
        }
    }
}

#[inline(always)]
fn write(
    input: impl Iterator<Item = f32>,
    normalisation: Option<&Normalisation>,
    output: &mut [f32],
) {
    if let Some(normalisation) = normalisation {
        normalisation.apply(input, output);
    } else {
        for (y, x) in output.iter_mut().zip(input) {
            *y = x;
        }
    }
}
