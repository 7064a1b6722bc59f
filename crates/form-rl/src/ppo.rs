//! Proximal policy optimisation, PPO (Schulman, Wolski, Dhariwal, Radford, Klimov, 2017,
//! arXiv:1707.06347; section 2.1 of the paper): hyperparameters, loss, update. GAE is in `advantage`, the rollout in `rollout::game`.
//!
//! The loss, a mean over the samples of a minibatch:
//!
//! − min(ρ Â, clip(ρ, 1 ± ε) Â) + `value_coefficient` · (V − R)², clipped − `entropy_coefficient` · H(π)
//!   + `kl_coefficient` · KL(π_old ‖ π)
//!
//! with ρ = π(a|s) / π_old(a|s) the probability ratio, ε the clip range, Â the advantage (GAE) and R the return. The KL coefficient
//! adapts, as in section 4 of Schulman et al.: it grows after an update with a divergence above `kl_target`, and shrinks below it.
//! The hyperparameters are those of Tables 1 and 2; what the tables leave open is as in RLlib, which the paper's runs used.

use std::ops::AddAssign;

use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::adam::clip_gradient_norm;
use crate::advantage::normalise;
use crate::error::size;
use crate::{Adam, Batch, Engine, Error, Loss, LossInput, Network, Result, log_softmax};

/// The hyperparameters. The defaults are Table 1's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PpoConfig {
    /// γ, the discount factor. Tables: 0.999.
    pub gamma: f32,
    /// λ of GAE: 0 is the TD error, 1 the Monte Carlo return less the value. Tables: 0.95.
    pub lambda: f32,
    /// Adam's learning rate. Tables: 7e-4.
    pub learning_rate: f32,
    /// Samples collected between updates. Table 1: 16384, Table 2: 49152.
    pub train_batch: usize,
    /// Samples per step of Adam. Table 1: 4096, Table 2: 256.
    pub minibatch: usize,
    /// Epochs per update: passes over the batch. Tables: 20.
    pub epochs: usize,
    /// The coefficient of the value loss. Tables: 0.5.
    pub value_coefficient: f32,
    /// The coefficient of the entropy bonus. Tables: 0.01.
    pub entropy_coefficient: f32,
    /// ε, the clip range of the probability ratio. Tables: 0.15.
    pub clip: f32,
    /// The clip range of the value loss. Tables: 0.1.
    pub value_clip: f32,
    /// What `value_clip` applies to.
    pub value_clip_of: ValueClip,
    /// The maximum gradient norm. Tables: 0.7.
    pub gradient_clip: f32,
    /// The initial KL coefficient; 0 disables the KL penalty. Not in the tables: RLlib's 0.2.
    pub kl_coefficient: f32,
    /// The target KL divergence of an update. Tables: 0.15.
    pub kl_target: f32,
    /// Whether advantages are normalised to mean 0 and standard deviation 1 over the training batch, as in RLlib.
    pub normalise_advantages: bool,
}

/// What value clipping applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueClip {
    /// The squared error, as in RLlib: larger errors have no gradient.
    Error,
    /// The change of the value since the rollout, as in OpenAI's implementation: the loss is the larger of the errors with and
    /// without clipping.
    Change,
}

impl Default for PpoConfig {
    fn default() -> Self {
        Self {
            gamma: 0.999,
            lambda: 0.95,
            learning_rate: 7e-4,
            train_batch: 16_384,
            minibatch: 4096,
            epochs: 20,
            value_coefficient: 0.5,
            entropy_coefficient: 0.01,
            clip: 0.15,
            value_clip: 0.1,
            value_clip_of: ValueClip::Error,
            gradient_clip: 0.7,
            kl_coefficient: 0.2,
            kl_target: 0.15,
            normalise_advantages: true,
        }
    }
}

impl PpoConfig {
    /// Table 2, for the single policy and the baselines: larger batches, smaller minibatches.
    pub fn single_policy() -> Self {
        Self {
            train_batch: 49_152,
            minibatch: 256,
            ..Self::default()
        }
    }

    /// Rejects values out of range.
    pub fn check(&self) -> Result<()> {
        let refuse = |name, value: &dyn ToString, problem| Error::Setting {
            name,
            value: value.to_string(),
            problem,
        };
        for (name, value) in [("gamma", self.gamma), ("lambda", self.lambda)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(refuse(name, &value, "must be between 0 and 1"));
            }
        }
        let positive = [
            ("learning_rate", self.learning_rate),
            ("clip", self.clip),
            ("value_clip", self.value_clip),
            ("gradient_clip", self.gradient_clip),
            ("kl_target", self.kl_target),
        ];
        for (name, value) in positive {
            if value.is_nan() || value <= 0.0 {
                return Err(refuse(name, &value, "must be above 0"));
            }
        }
        let weights = [
            ("value_coefficient", self.value_coefficient),
            ("entropy_coefficient", self.entropy_coefficient),
            ("kl_coefficient", self.kl_coefficient),
        ];
        for (name, value) in weights {
            if !value.is_finite() || value < 0.0 {
                return Err(refuse(name, &value, "must be 0 or more"));
            }
        }
        let counts = [
            ("train_batch", self.train_batch),
            ("minibatch", self.minibatch),
            ("epochs", self.epochs),
        ];
        for (name, value) in counts {
            if value == 0 {
                return Err(refuse(name, &value, "must be at least 1"));
            }
        }
        Ok(())
    }

    /// The KL coefficient of the next update, after one with this KL divergence.
    pub fn adapt(&self, kl_coefficient: f32, kl: f32) -> f32 {
        if kl > 2.0 * self.kl_target {
            kl_coefficient * 1.5
        } else if kl < 0.5 * self.kl_target {
            kl_coefficient * 0.5
        } else {
            kl_coefficient
        }
    }
}

/// A training batch: one entry per sample, sequence after sequence.
#[derive(Clone, Copy, Debug, Default)]
pub struct Samples<'a> {
    /// The observations' images, as bytes.
    pub images: &'a [u8],
    /// The observations' vectors.
    pub vectors: &'a [f32],
    /// The actions taken.
    pub actions: &'a [usize],
    /// The actor's logits during the rollout, one row per sample.
    pub logits: &'a [f32],
    /// The critic's values during the rollout.
    pub values: &'a [f32],
    /// The actions' advantages, by GAE.
    pub advantages: &'a [f32],
    /// The critic's targets.
    pub returns: &'a [f32],
    /// The length of the sequences for recurrent networks; 1 for feedforward networks.
    pub steps: usize,
    /// For recurrent networks: whether an episode starts at a sample.
    pub starts: &'a [bool],
    /// For recurrent networks: the hidden state at the start of every sequence.
    pub states: &'a [f32],
}

impl Samples<'_> {
    fn check(&self, network: &Network) -> Result<()> {
        let samples = self.actions.len();
        let sizes = [
            (
                "bytes of images",
                self.images.len(),
                samples * network.image_len(),
            ),
            (
                "numbers of vectors",
                self.vectors.len(),
                samples * network.vector_len(),
            ),
            ("logits", self.logits.len(), samples * network.actions()),
            ("values", self.values.len(), samples),
            ("advantages", self.advantages.len(), samples),
            ("returns", self.returns.len(), samples),
            ("steps per sequence", self.steps, self.steps.max(1)),
            (
                "samples in whole sequences",
                samples,
                samples / self.steps.max(1) * self.steps.max(1),
            ),
            (
                "numbers of hidden states",
                self.states.len(),
                samples / self.steps.max(1) * network.state(),
            ),
        ];
        for (what, found, expected) in sizes {
            size(what, found, expected)?;
        }
        match self.actions.iter().max() {
            Some(&greatest) if greatest >= network.actions() => Err(Error::Size {
                what: "actions that the network knows",
                found: network.actions(),
                expected: greatest + 1,
            }),
            _ => Ok(()),
        }
    }
}

/// The PPO loss over some of the samples.
#[derive(Clone, Copy, Debug)]
pub struct PpoLoss<'a> {
    /// The hyperparameters.
    pub config: &'a PpoConfig,
    /// The training batch.
    pub samples: &'a Samples<'a>,
    /// The current KL coefficient.
    pub kl_coefficient: f32,
    /// The number of samples that the mean is taken over.
    pub count: usize,
}

/// Sums over samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PpoSums {
    /// The policy loss: the clipped surrogate objective, negated.
    pub policy: f64,
    /// The value loss: the critic's squared error, clipped.
    pub value: f64,
    /// The entropy of the policy.
    pub entropy: f64,
    /// KL(π_old ‖ π), the divergence from the policy of the rollout.
    pub kl: f64,
    /// The number of samples whose ratio is clipped.
    pub clipped: f64,
    /// The loss.
    pub total: f64,
}

impl AddAssign for PpoSums {
    fn add_assign(&mut self, other: Self) {
        self.policy += other.policy;
        self.value += other.value;
        self.entropy += other.entropy;
        self.kl += other.kl;
        self.clipped += other.clipped;
        self.total += other.total;
    }
}

impl PpoLoss<'_> {
    /// The value loss of one sample, and its derivative.
    fn value(&self, value: f32, old: f32, target: f32) -> (f32, f32) {
        let (bound, error) = (self.config.value_clip, value - target);
        match self.config.value_clip_of {
            ValueClip::Error if error * error > bound => (bound, 0.0),
            ValueClip::Error => (error * error, 2.0 * error),
            // Compared first: old + (value - old) need not be the value again.
            ValueClip::Change if (value - old).abs() <= bound => (error * error, 2.0 * error),
            ValueClip::Change => {
                let bounded = old + (value - old).max(-bound).min(bound) - target;
                match bounded * bounded > error * error {
                    true => (bounded * bounded, 0.0),
                    false => (error * error, 2.0 * error),
                }
            }
        }
    }
}

impl Loss for PpoLoss<'_> {
    type Sum = PpoSums;

    fn block(&self, input: LossInput<'_>) -> PpoSums {
        let (config, samples) = (self.config, self.samples);
        let actions = input.d_logits.len() / input.places.len().max(1);
        let scale = 1.0 / self.count as f32;
        let mut sums = PpoSums::default();
        let (mut logs, mut old_logs) = (vec![0.0; actions], vec![0.0; actions]);
        for (row, &place) in input.places.iter().enumerate() {
            log_softmax(&input.logits[row * actions..(row + 1) * actions], &mut logs);
            log_softmax(
                &samples.logits[place * actions..(place + 1) * actions],
                &mut old_logs,
            );
            let (action, advantage) = (samples.actions[place], samples.advantages[place]);
            let ratio = (logs[action] - old_logs[action]).exp();
            // Not `clamp`: NaN must reach the loss, where it is noticed.
            let bounded = ratio.max(1.0 - config.clip).min(1.0 + config.clip);
            let clipped = bounded * advantage < ratio * advantage;
            let surrogate = if clipped {
                bounded * advantage
            } else {
                ratio * advantage
            };
            // The derivative of the surrogate with respect to the action's log-probability.
            let slope = if clipped { 0.0 } else { ratio * advantage };
            let (mut entropy, mut kl) = (0.0, 0.0);
            for (log, old_log) in logs.iter().zip(&old_logs) {
                entropy -= log.exp() * log;
                kl += old_log.exp() * (old_log - log);
            }
            let d_logits = &mut input.d_logits[row * actions..(row + 1) * actions];
            for (other, d_logit) in d_logits.iter_mut().enumerate() {
                let (p, old_p) = (logs[other].exp(), old_logs[other].exp());
                let chosen = if other == action { 1.0 } else { 0.0 };
                let d_policy = -slope * (chosen - p);
                let d_entropy = -p * (logs[other] + entropy);
                let d_kl = p - old_p;
                *d_logit = scale
                    * (d_policy - config.entropy_coefficient * d_entropy
                        + self.kl_coefficient * d_kl);
            }
            let (old, target) = (samples.values[place], samples.returns[place]);
            let (value, d_value) = self.value(input.values[row], old, target);
            input.d_values[row] = scale * config.value_coefficient * d_value;
            let total = -surrogate + config.value_coefficient * value
                - config.entropy_coefficient * entropy
                + self.kl_coefficient * kl;
            sums += PpoSums {
                policy: f64::from(-surrogate),
                value: f64::from(value),
                entropy: f64::from(entropy),
                kl: f64::from(kl),
                clipped: f64::from(u8::from(clipped)),
                total: f64::from(total),
            };
        }
        sums
    }
}

/// Means over the last epoch of an update.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PpoReport {
    /// The policy loss: the clipped surrogate objective, negated.
    pub policy_loss: f32,
    /// The value loss: the critic's squared error, clipped.
    pub value_loss: f32,
    /// The entropy of the policy.
    pub entropy: f32,
    /// KL(π_old ‖ π), the divergence from the policy of the rollout.
    pub kl: f32,
    /// The clip fraction: the share of samples whose ratio was clipped.
    pub clipped: f32,
    /// The mean gradient norm before clipping.
    pub gradient: f32,
}

/// One update of PPO: epochs of minibatch steps of Adam on a training batch. Adapts the KL coefficient afterwards.
///
/// A loss or gradient norm that is not finite is an error; the weights are those before that step.
pub fn update(
    network: &mut Network,
    engine: &mut Engine,
    adam: &mut Adam,
    samples: &Samples<'_>,
    config: &PpoConfig,
    kl_coefficient: &mut f32,
    rng: &mut dyn Rng,
) -> Result<PpoReport> {
    config.check()?;
    samples.check(network)?;
    let mut advantages = samples.advantages.to_vec();
    if config.normalise_advantages {
        normalise(&mut advantages);
    }
    let samples = &Samples {
        advantages: &advantages,
        ..*samples
    };
    adam.learning_rate = config.learning_rate;
    let (steps, state) = (samples.steps, network.state());
    let mut order: Vec<usize> = (0..samples.actions.len() / steps).collect();
    let (mut select, mut states) = (Vec::new(), Vec::new());
    let (mut sums, mut norms, mut minibatches) = (PpoSums::default(), 0.0, 0);
    for _ in 0..config.epochs {
        (sums, norms, minibatches) = (PpoSums::default(), 0.0, 0);
        order.shuffle(rng);
        for sequences in order.chunks((config.minibatch / steps).max(1)) {
            select.clear();
            states.clear();
            for &sequence in sequences {
                select.extend(sequence * steps..(sequence + 1) * steps);
                states.extend_from_slice(&samples.states[sequence * state..(sequence + 1) * state]);
            }
            let batch = Batch {
                images: samples.images,
                vectors: samples.vectors,
                select: Some(&select),
                steps,
                starts: samples.starts,
                states: &states,
            };
            let loss = PpoLoss {
                config,
                samples,
                kl_coefficient: *kl_coefficient,
                count: select.len(),
            };
            let part = engine.gradient(network, &batch, &loss)?;
            finite("loss", part.total as f32)?;
            let norm = clip_gradient_norm(engine.last_gradient_mut(), config.gradient_clip);
            finite("gradient norm", norm)?;
            adam.step(network.weights_mut(), engine.last_gradient())?;
            sums += part;
            norms += f64::from(norm);
            minibatches += 1;
        }
    }
    let mean = |sum: f64| (sum / samples.actions.len().max(1) as f64) as f32;
    *kl_coefficient = config.adapt(*kl_coefficient, mean(sums.kl));
    Ok(PpoReport {
        policy_loss: mean(sums.policy),
        value_loss: mean(sums.value),
        entropy: mean(sums.entropy),
        kl: mean(sums.kl),
        clipped: mean(sums.clipped),
        gradient: (norms / f64::from(minibatches.max(1))) as f32,
    })
}

fn finite(what: &'static str, value: f32) -> Result<()> {
    match value.is_finite() {
        true => Ok(()),
        false => Err(Error::NonFinite { what, value }),
    }
}
