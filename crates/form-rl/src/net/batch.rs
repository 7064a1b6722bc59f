//! Many samples at once, on all cores, with results that do not depend on how many cores there are.
//!
//! The samples are cut into blocks, and the blocks are given to a fixed number of shards. A shard goes through its blocks in
//! order, on whichever core is free, and sums their gradients; the shards' sums are added up in order.

use std::ops::{AddAssign, Range};

use rayon::prelude::*;

use super::network::{Network, Work};
use crate::Result;
use crate::error::size;

/// Samples (or sequences) a block: few enough that a block of the paper's network stays in cache.
const BLOCK: usize = 16;

/// Part of the results: another number rounds sums differently.
const SHARDS: usize = 16;

/// Which samples to bring through a network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Batch<'a> {
    /// The data: the observations' images one after another, as bytes. Empty if the network sees none.
    pub images: &'a [u8],
    /// The data: the observations' vectors one after another. Empty if the network sees none.
    pub vectors: &'a [f32],
    /// The places of the samples in the data; all in order if there is no selection.
    pub select: Option<&'a [usize]>,
    /// The samples form sequences of this length, sequence after sequence. 1 without recurrence.
    pub steps: usize,
    /// For recurrent networks, for every place in the data: whether an episode starts there.
    pub starts: &'a [bool],
    /// For recurrent networks, for every sequence: the state it begins with.
    pub states: &'a [f32],
}

impl<'a> Batch<'a> {
    /// All of some observations, without recurrence.
    pub fn all(images: &'a [u8], vectors: &'a [f32]) -> Self {
        Self {
            images,
            vectors,
            steps: 1,
            ..Self::default()
        }
    }

    /// Some of some observations, without recurrence.
    pub fn some(images: &'a [u8], vectors: &'a [f32], select: &'a [usize]) -> Self {
        Self {
            select: Some(select),
            ..Self::all(images, vectors)
        }
    }

    pub(super) fn place(&self, sample: usize) -> usize {
        self.select.map_or(sample, |select| select[sample])
    }

    /// The number of samples, after checking that all the data are there.
    fn check(&self, network: &Network) -> Result<usize> {
        let data = network.count(self.images, self.vectors)?;
        let samples = self.select.map_or(data, <[usize]>::len);
        if let Some(beyond) = (self.select.unwrap_or_default().iter()).find(|place| **place >= data)
        {
            size("selected observations", data, beyond + 1)?;
        }
        let steps = self.steps.max(1);
        size("steps per sequence", self.steps, steps)?;
        size(
            "samples in whole sequences",
            samples,
            samples / steps * steps,
        )?;
        if network.is_recurrent() {
            size("marks of episodes' starts", self.starts.len(), data)?;
            size(
                "numbers of hidden states",
                self.states.len(),
                samples / steps * network.state(),
            )?;
        } else {
            size(
                "steps per sequence without a recurrent layer",
                self.steps,
                1,
            )?;
        }
        Ok(samples)
    }
}

/// What a network says about some samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    /// The actor's logits, a row of actions a sample.
    pub logits: Vec<f32>,
    /// The critic's value of every sample.
    pub values: Vec<f32>,
    /// The recurrent state after every sequence.
    pub states: Vec<f32>,
}

/// A block's outputs, and where a loss writes its gradient with respect to them.
#[derive(Debug)]
pub struct LossInput<'a> {
    /// The samples' places in the data.
    pub places: &'a [usize],
    /// The actor's logits, a row of actions a sample.
    pub logits: &'a [f32],
    /// The critic's values.
    pub values: &'a [f32],
    /// To be overwritten with the gradient with respect to the logits.
    pub d_logits: &'a mut [f32],
    /// To be overwritten with the gradient with respect to the values.
    pub d_values: &'a mut [f32],
}

/// Something to be made small: a sum over samples.
pub trait Loss: Sync {
    /// What is summed up on the way, the loss and what else is worth knowing.
    type Sum: Default + AddAssign + Send;

    /// The sum over a block, and the gradient of the loss.
    fn block(&self, input: LossInput<'_>) -> Self::Sum;
}

#[derive(Debug)]
struct Shard {
    work: Work,
    gradient: Vec<f32>,
}

/// Room to run batches in, to be used again and again with networks of the same configuration.
#[derive(Debug)]
pub struct Engine {
    steps: usize,
    shards: Vec<Shard>,
    gradient: Vec<f32>,
    /// The weights as the layers' forward passes like them.
    prepared: Vec<f32>,
    /// Which weights those are.
    prepared_from: Option<u64>,
}

impl Engine {
    /// Room for sequences of up to so many steps; 1 without recurrence.
    pub fn new(network: &Network, steps: usize) -> Self {
        let shard = || Shard {
            work: Work::new(network, BLOCK, steps),
            gradient: vec![0.0; network.weights().len()],
        };
        Self {
            steps,
            shards: (0..SHARDS).map(|_| shard()).collect(),
            gradient: vec![0.0; network.weights().len()],
            prepared: vec![0.0; network.weights().len()],
            prepared_from: None,
        }
    }

    /// Arranges the weights for the forward pass, unless that was done for the same ones: whoever plays asks about few samples at a
    /// time, again and again.
    fn prepare(&mut self, network: &Network) {
        if self.prepared_from != Some(network.stamp()) {
            network.prepare(&mut self.prepared);
            self.prepared_from = Some(network.stamp());
        }
    }

    /// The gradient that [`Engine::gradient`] left, in the order of the network's weights.
    pub fn last_gradient(&self) -> &[f32] {
        &self.gradient
    }

    /// The same, to be clipped or scaled.
    pub fn last_gradient_mut(&mut self) -> &mut [f32] {
        &mut self.gradient
    }

    fn check(&self, network: &Network, batch: &Batch<'_>) -> Result<usize> {
        let samples = batch.check(network)?;
        if batch.steps > self.steps {
            size("steps that there is room for", self.steps, batch.steps)?;
        }
        let weights = network.weights().len();
        size(
            "weights that there is room for",
            self.gradient.len(),
            weights,
        )?;
        Ok(samples / batch.steps)
    }

    /// What a network says about a batch.
    pub fn evaluate(
        &mut self,
        network: &Network,
        batch: &Batch<'_>,
        outputs: &mut Outputs,
    ) -> Result<()> {
        let sequences = self.check(network, batch)?;
        let samples = sequences * batch.steps;
        self.prepare(network);
        let prepared = &self.prepared;
        outputs.logits.resize(samples * network.actions(), 0.0);
        outputs.values.resize(samples, 0.0);
        outputs.states.resize(sequences * network.state(), 0.0);
        let mut logits = outputs.logits.as_mut_slice();
        let mut values = outputs.values.as_mut_slice();
        let mut states = outputs.states.as_mut_slice();
        let mut jobs = Vec::with_capacity(SHARDS);
        for (number, shard) in self.shards.iter_mut().enumerate() {
            let share = share(number, sequences);
            let samples = share.len() * batch.steps;
            let own_logits = logits.split_off_mut(..samples * network.actions());
            let own_values = values.split_off_mut(..samples);
            let own_states = states.split_off_mut(..share.len() * network.state());
            // The three are long enough by construction.
            if let (Some(logits), Some(values), Some(states)) = (own_logits, own_values, own_states)
            {
                jobs.push((shard, share, logits, values, states));
            }
        }
        jobs.into_par_iter()
            .for_each(|(shard, share, logits, values, states)| {
                for block in blocks(&share) {
                    network.forward(prepared, batch, block.clone(), &mut shard.work);
                    let from = block.start - share.start;
                    let (block_logits, block_values) = network.outputs(&shard.work);
                    let actions = network.actions();
                    for sequence in 0..block.len() {
                        for step in 0..batch.steps {
                            let row = step * block.len() + sequence;
                            let to = (from + sequence) * batch.steps + step;
                            values[to] = block_values[row];
                            logits[to * actions..(to + 1) * actions]
                                .copy_from_slice(&block_logits[row * actions..(row + 1) * actions]);
                        }
                    }
                    let size = network.state();
                    states[from * size..(from + block.len()) * size]
                        .copy_from_slice(&shard.work.last_states[..block.len() * size]);
                }
            });
        Ok(())
    }

    /// The sum of a loss over a batch; its gradient is [`Engine::last_gradient`] afterwards.
    pub fn gradient<L: Loss>(
        &mut self,
        network: &Network,
        batch: &Batch<'_>,
        loss: &L,
    ) -> Result<L::Sum> {
        let sequences = self.check(network, batch)?;
        self.prepare(network);
        let prepared = &self.prepared;
        let sums: Vec<L::Sum> = (self.shards.par_iter_mut().enumerate())
            .map(|(number, shard)| {
                let mut sum = L::Sum::default();
                let share = share(number, sequences);
                if !share.is_empty() {
                    shard.gradient.fill(0.0);
                }
                for block in blocks(&share) {
                    network.forward(prepared, batch, block.clone(), &mut shard.work);
                    sum += shard.work.judge(network, loss);
                    network.backward(&mut shard.work, &mut shard.gradient);
                }
                sum
            })
            .collect();
        let chunk = 4096;
        let (shards, total) = (&self.shards, &mut self.gradient);
        (total.par_chunks_mut(chunk).enumerate()).for_each(|(place, total)| {
            total.fill(0.0);
            for (number, shard) in shards.iter().enumerate() {
                // Small batches leave shards without a share.
                if share(number, sequences).is_empty() {
                    continue;
                }
                let from = &shard.gradient[place * chunk..place * chunk + total.len()];
                for (total, part) in total.iter_mut().zip(from) {
                    *total += part;
                }
            }
        });
        let mut sum = L::Sum::default();
        for part in sums {
            sum += part;
        }
        Ok(sum)
    }
}

impl Work {
    /// Asks a loss about the block that went forward last.
    fn judge<L: Loss>(&mut self, network: &Network, loss: &L) -> L::Sum {
        let mut d_logits = std::mem::take(&mut self.d_logits);
        let mut d_values = std::mem::take(&mut self.d_values);
        let (logits, values) = network.outputs(self);
        let sum = loss.block(LossInput {
            places: &self.block.places,
            logits,
            values,
            d_logits: &mut d_logits[..logits.len()],
            d_values: &mut d_values[..values.len()],
        });
        (self.d_logits, self.d_values) = (d_logits, d_values);
        sum
    }
}

/// The sequences of a shard: whole blocks, as evenly as possible.
fn share(shard: usize, sequences: usize) -> Range<usize> {
    let blocks = sequences.div_ceil(BLOCK);
    let edge = |shard: usize| (shard * blocks / SHARDS * BLOCK).min(sequences);
    edge(shard)..edge(shard + 1)
}

fn blocks(share: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
    let end = share.end;
    let starts = share.clone().step_by(BLOCK);
    starts.map(move |start| start..(start + BLOCK).min(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_everything_out_in_whole_blocks() {
        for sequences in [0, 1, 15, 16, 17, 255, 256, 257, 4096] {
            let mut next = 0;
            for shard in 0..SHARDS {
                let share = share(shard, sequences);
                assert_eq!(share.start, next);
                next = share.end;
                for block in blocks(&share) {
                    assert!(block.len() == BLOCK || block.end == sequences);
                }
            }
            assert_eq!(next, sequences);
        }
    }
}
