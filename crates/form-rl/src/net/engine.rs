//! Evaluation and gradients of a batch on all cores, with results that do not depend on the number of cores.
//!
//! The samples are divided into blocks, and the blocks among a fixed number of shards. A shard processes its blocks in order, on any
//! core, and sums their gradients; the sums of the shards are added in order.

use std::ops::Range;

use rayon::prelude::*;

use super::aligned::Aligned;
use super::batch::{Batch, Loss, LossInput, Outputs};
use super::network::{Network, Work};
use crate::Result;
use crate::error::size;

/// Samples (or sequences) per block: small enough that a block of the paper's network stays in cache.
const BLOCK: usize = 16;

/// Another number would round sums differently.
pub(crate) const SHARDS: usize = 16;

#[derive(Debug)]
struct Shard {
    work: Work,
    gradient: Aligned,
}

/// Workspace for batches, reused with networks of the same configuration.
#[derive(Debug)]
pub struct Engine {
    steps: usize,
    shards: Vec<Shard>,
    gradient: Aligned,
    /// The weights, arranged for the forward pass.
    prepared: Aligned,
    /// The stamp of these weights.
    prepared_from: Option<u64>,
}

impl Engine {
    /// Workspace for sequences of up to this length; 1 for feedforward networks.
    pub fn new(network: &Network, steps: usize) -> Self {
        let shard = || Shard {
            work: Work::new(network, BLOCK, steps),
            gradient: Aligned::zeros(network.weights().len()),
        };
        Self {
            steps,
            shards: (0..SHARDS).map(|_| shard()).collect(),
            gradient: Aligned::zeros(network.weights().len()),
            prepared: Aligned::zeros(network.weights().len()),
            prepared_from: None,
        }
    }

    /// Arranges the weights for the forward pass, unless they have not changed since: rollouts evaluate many small batches.
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
        let samples = check(batch, network)?;
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

    /// Evaluates a network on a batch.
    pub fn evaluate(
        &mut self,
        network: &Network,
        batch: &Batch<'_>,
        outputs: &mut Outputs,
    ) -> Result<()> {
        let sequences = self.check(network, batch)?;
        self.prepare(network);
        let prepared = &self.prepared;
        let mut rows = outputs.resize(network, sequences, batch.steps);
        let mut jobs = Vec::with_capacity(SHARDS);
        for (number, shard) in self.shards.iter_mut().enumerate() {
            let share = share(number, sequences);
            if !share.is_empty() {
                let own = rows.split_off(network, share.len(), batch.steps);
                jobs.push((&mut shard.work, share, own));
            }
        }
        jobs.into_par_iter().for_each(|(work, share, mut rows)| {
            let mut evaluator = Evaluator {
                network,
                prepared,
                work,
                steps: batch.steps,
            };
            evaluator.run(batch, share, &mut rows);
        });
        Ok(())
    }

    /// As many evaluators of a network as there are shards, for small batches side by side.
    pub(crate) fn evaluators<'a>(
        &'a mut self,
        network: &'a Network,
    ) -> impl Iterator<Item = Evaluator<'a>> {
        self.prepare(network);
        let (prepared, steps) = (&self.prepared[..], self.steps);
        self.shards.iter_mut().map(move |shard| Evaluator {
            network,
            prepared,
            work: &mut shard.work,
            steps,
        })
    }

    /// Returns the sum of a loss over a batch, and leaves its gradient in [`Engine::last_gradient`].
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
                    sum += shard.work.loss(network, loss);
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
                // In small batches some shards have no blocks.
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

/// A network that one core evaluates, with a workspace of its own.
#[derive(Debug)]
pub(crate) struct Evaluator<'a> {
    network: &'a Network,
    prepared: &'a [f32],
    work: &'a mut Work,
    /// The length of sequences that there is room for.
    steps: usize,
}

/// The part of the outputs that belongs to some sequences.
struct OutputRows<'a> {
    logits: &'a mut [f32],
    values: &'a mut [f32],
    states: &'a mut [f32],
}

impl Outputs {
    fn resize(&mut self, network: &Network, sequences: usize, steps: usize) -> OutputRows<'_> {
        let samples = sequences * steps;
        self.logits.resize(samples * network.actions(), 0.0);
        self.values.resize(samples, 0.0);
        self.states.resize(sequences * network.state(), 0.0);
        OutputRows {
            logits: &mut self.logits,
            values: &mut self.values,
            states: &mut self.states,
        }
    }
}

impl<'a> OutputRows<'a> {
    /// The rows of the first sequences; those of the others are left.
    fn split_off(&mut self, network: &Network, sequences: usize, steps: usize) -> Self {
        let samples = sequences * steps;
        // All three are long enough by construction.
        let cut = |rows: &mut &'a mut [f32], count| rows.split_off_mut(..count).unwrap_or_default();
        Self {
            logits: cut(&mut self.logits, samples * network.actions()),
            values: cut(&mut self.values, samples),
            states: cut(&mut self.states, sequences * network.state()),
        }
    }
}

impl Evaluator<'_> {
    /// Evaluates the network on a batch.
    pub(crate) fn evaluate(&mut self, batch: &Batch<'_>, outputs: &mut Outputs) -> Result<()> {
        let samples = check(batch, self.network)?;
        if batch.steps > self.steps {
            size("steps that there is room for", self.steps, batch.steps)?;
        }
        let sequences = samples / batch.steps;
        let mut rows = outputs.resize(self.network, sequences, batch.steps);
        self.run(batch, 0..sequences, &mut rows);
        Ok(())
    }

    /// Evaluates the network on some sequences of a batch.
    fn run(&mut self, batch: &Batch<'_>, share: Range<usize>, rows: &mut OutputRows<'_>) {
        let (network, actions) = (self.network, self.network.actions());
        for block in blocks(&share) {
            network.forward(self.prepared, batch, block.clone(), self.work);
            let from = block.start - share.start;
            let (logits, values) = network.outputs(self.work);
            for sequence in 0..block.len() {
                for step in 0..batch.steps {
                    let row = step * block.len() + sequence;
                    let to = (from + sequence) * batch.steps + step;
                    rows.values[to] = values[row];
                    rows.logits[to * actions..(to + 1) * actions]
                        .copy_from_slice(&logits[row * actions..(row + 1) * actions]);
                }
            }
            let size = network.state();
            rows.states[from * size..(from + block.len()) * size]
                .copy_from_slice(&self.work.last_states[..block.len() * size]);
        }
    }
}

impl Work {
    /// The loss on the block of the last forward pass, and its gradient.
    fn loss<L: Loss>(&mut self, network: &Network, loss: &L) -> L::Sum {
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

/// The number of samples of a batch, after checking that its data fit the network.
fn check(batch: &Batch<'_>, network: &Network) -> Result<usize> {
    let data = network.count(batch.images, batch.vectors)?;
    let samples = batch.select.map_or(data, <[usize]>::len);
    if let Some(beyond) = (batch.select.unwrap_or_default().iter()).find(|place| **place >= data) {
        size("selected observations", data, beyond + 1)?;
    }
    let steps = batch.steps.max(1);
    size("steps per sequence", batch.steps, steps)?;
    size(
        "samples in whole sequences",
        samples,
        samples / steps * steps,
    )?;
    if network.is_recurrent() {
        size("marks of episodes' starts", batch.starts.len(), data)?;
        size(
            "numbers of hidden states",
            batch.states.len(),
            samples / steps * network.state(),
        )?;
    } else {
        size(
            "steps per sequence without a recurrent layer",
            batch.steps,
            1,
        )?;
    }
    Ok(samples)
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
