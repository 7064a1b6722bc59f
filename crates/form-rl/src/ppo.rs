//! Proximal policy optimisation (Schulman et al., 2017; section 2.1 of the paper), top to bottom in one file.
//!
//! What is made small, on average over the samples of a minibatch:
//!
//! − min(ρ Â, clip(ρ, 1 ± ε) Â) + `value_coefficient` · (V − R)², clipped − `entropy_coefficient` · H(π)
//!   + `kl_coefficient` · KL(π_old ‖ π)
//!
//! with ρ the ratio of the action's probabilities now and when it was chosen, Â its advantage and R its return. The weight
//! of the last term adapts: up where policies moved further than `kl_target` says, down where they hardly moved. The
//! hyperparameters are those of Tables 1 and 2; what the tables leave open is as in RLlib, which the paper's runs used.

use std::ops::AddAssign;

use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::error::size;
use crate::{
    Adam, Batch, Engine, Error, Judged, Loss, Network, Result, clip_gradient, log_softmax,
    normalise,
};

/// The hyperparameters. The defaults are Table 1's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PpoConfig {
    /// γ: what a reward one step later is worth. Tables: 0.999.
    pub gamma: f32,
    /// λ of the advantages: 0 trusts the critic, 1 the rewards. Tables: 0.95.
    pub lambda: f32,
    /// How far a step of Adam goes. Tables: 7e-4.
    pub learning_rate: f32,
    /// Samples collected between updates. Table 1: 16384, Table 2: 49152.
    pub train_batch: usize,
    /// Samples a step of Adam. Table 1: 4096, Table 2: 256.
    pub minibatch: usize,
    /// How often an update goes through its samples. Tables: 20.
    pub epochs: usize,
    /// The weight of the critic's loss. Tables: 0.5.
    pub value_coefficient: f32,
    /// The weight of the entropy. Tables: 0.01.
    pub entropy_coefficient: f32,
    /// ε: how far a ratio of probabilities pays. Tables: 0.15.
    pub clip: f32,
    /// The bound of the critic's loss. Tables: 0.1.
    pub value_clip: f32,
    /// What `value_clip` bounds.
    pub value_clip_of: ValueClip,
    /// The greatest length of a gradient. Tables: 0.7.
    pub gradient_clip: f32,
    /// The first weight of the divergence; 0 switches it off for good. Not in the tables: RLlib's 0.2.
    pub kl_coefficient: f32,
    /// How far an update should move a policy. Tables: 0.15.
    pub kl_target: f32,
    /// Whether advantages are brought to mean 0 and deviation 1, as RLlib does over the training batch.
    pub normalise_advantages: bool,
}

/// What the clipping of the critic's loss bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueClip {
    /// The squared error, as RLlib does: from a larger one nothing is learnt.
    Error,
    /// The change since the samples were collected, as OpenAI's implementation does: the worse of the error with the bounded
    /// and with the unbounded value counts.
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
    /// Table 2: the single policy's and the baselines' larger batch in smaller pieces.
    pub fn single_policy() -> Self {
        Self {
            train_batch: 49_152,
            minibatch: 256,
            ..Self::default()
        }
    }

    /// Refuses what makes no sense.
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

    /// The weight of the divergence for the next update, after one that moved the policy so far.
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

/// What was collected: one entry a sample, sequence after sequence.
#[derive(Clone, Copy, Debug, Default)]
pub struct Samples<'a> {
    /// What was seen: images, as bytes.
    pub images: &'a [u8],
    /// What was seen: vectors.
    pub vectors: &'a [f32],
    /// What was done.
    pub actions: &'a [usize],
    /// The actor's logits at the time, a row of actions a sample.
    pub logits: &'a [f32],
    /// The critic's values at the time.
    pub values: &'a [f32],
    /// How much better than expected the actions were.
    pub advantages: &'a [f32],
    /// What the critic should have said.
    pub returns: &'a [f32],
    /// The length of the sequences that recurrent networks are trained on; 1 without recurrence.
    pub steps: usize,
    /// For recurrent networks: whether an episode starts at a sample.
    pub starts: &'a [bool],
    /// For recurrent networks: the state at the start of every sequence.
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
            ("steps a sequence", self.steps, self.steps.max(1)),
            (
                "samples in whole sequences",
                samples,
                samples / self.steps.max(1) * self.steps.max(1),
            ),
            (
                "numbers of recurrent states",
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

/// The loss over some of the samples.
#[derive(Clone, Copy, Debug)]
pub struct PpoLoss<'a> {
    /// The hyperparameters.
    pub config: &'a PpoConfig,
    /// What was collected.
    pub samples: &'a Samples<'a>,
    /// The weight of the divergence at present.
    pub kl_coefficient: f32,
    /// Over how many samples the mean is taken.
    pub count: usize,
}

/// Sums over samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PpoSums {
    /// The clipped surrogate, with the sign of a loss.
    pub policy: f64,
    /// The critic's clipped squared error.
    pub value: f64,
    /// The entropy of the policy.
    pub entropy: f64,
    /// The divergence from the policy that collected the samples.
    pub kl: f64,
    /// How many samples the clipping of the ratio kept from teaching more.
    pub clipped: f64,
    /// What is made small.
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
    /// The loss of a value, and its slope.
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

    fn block(&self, judged: Judged<'_>) -> PpoSums {
        let (config, samples) = (self.config, self.samples);
        let actions = judged.d_logits.len() / judged.places.len().max(1);
        let scale = 1.0 / self.count as f32;
        let mut sums = PpoSums::default();
        let (mut logs, mut old_logs) = (vec![0.0; actions], vec![0.0; actions]);
        for (row, &place) in judged.places.iter().enumerate() {
            log_softmax(
                &judged.logits[row * actions..(row + 1) * actions],
                &mut logs,
            );
            log_softmax(
                &samples.logits[place * actions..(place + 1) * actions],
                &mut old_logs,
            );
            let (action, advantage) = (samples.actions[place], samples.advantages[place]);
            let ratio = (logs[action] - old_logs[action]).exp();
            // What is not a number is not below anything: it ends up in the loss, and is noticed.
            let bounded = ratio.max(1.0 - config.clip).min(1.0 + config.clip);
            let clipped = bounded * advantage < ratio * advantage;
            let surrogate = if clipped {
                bounded * advantage
            } else {
                ratio * advantage
            };
            // The slope of the surrogate with respect to the logarithm of the action's probability.
            let slope = if clipped { 0.0 } else { ratio * advantage };
            let (mut entropy, mut kl) = (0.0, 0.0);
            for (log, old_log) in logs.iter().zip(&old_logs) {
                entropy -= log.exp() * log;
                kl += old_log.exp() * (old_log - log);
            }
            let d_logits = &mut judged.d_logits[row * actions..(row + 1) * actions];
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
            let (value, d_value) = self.value(judged.values[row], old, target);
            judged.d_values[row] = scale * config.value_coefficient * d_value;
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
    /// The clipped surrogate, with the sign of a loss.
    pub policy_loss: f32,
    /// The critic's clipped squared error.
    pub value_loss: f32,
    /// The entropy of the policy.
    pub entropy: f32,
    /// The divergence from the policy that collected the samples.
    pub kl: f32,
    /// The share of samples whose ratio was clipped.
    pub clipped: f32,
    /// The mean length of the gradients before they were clipped.
    pub gradient: f32,
}

/// Improves a policy by what it collected, and adapts the weight of the divergence.
///
/// A loss or gradient that is not finite is an error: the step it was for is not made.
pub fn update(
    network: &mut Network,
    engine: &mut Engine,
    adam: &mut Adam,
    samples: &Samples<'_>,
    config: &PpoConfig,
    kl_coefficient: &mut f32,
    rng: &mut impl Rng,
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
    let (mut sums, mut gradients, mut minibatches) = (PpoSums::default(), 0.0, 0);
    for _ in 0..config.epochs {
        (sums, gradients, minibatches) = (PpoSums::default(), 0.0, 0);
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
            let length = clip_gradient(engine.last_gradient_mut(), config.gradient_clip);
            finite("length of the gradient", length)?;
            adam.step(network.weights_mut(), engine.last_gradient())?;
            sums += part;
            gradients += f64::from(length);
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
        gradient: (gradients / f64::from(minibatches.max(1))) as f32,
    })
}

fn finite(what: &'static str, value: f32) -> Result<()> {
    match value.is_finite() {
        true => Ok(()),
        false => Err(Error::NonFinite { what, value }),
    }
}
