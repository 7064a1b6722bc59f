//! Proximal policy optimisation: its loss against a second way of writing it and against finite differences, its update,
//! and problems it has to solve.

use form_rl::{
    Adam, Batch, Engine, Error, Loss, LossInput, Network, Outputs, PpoConfig, PpoLoss, Samples,
    Trajectory, TrajectoryEnd, ValueClip, gae, greedy, sample, update,
};
use rand::RngExt;

use crate::gradients::check;
use crate::samples::{network, numbers, observations, rng, small};

/// What a made-up rollout left behind.
struct Data {
    images: Vec<u8>,
    vectors: Vec<f32>,
    actions: Vec<usize>,
    logits: Vec<f32>,
    values: Vec<f32>,
    advantages: Vec<f32>,
    returns: Vec<f32>,
    starts: Vec<bool>,
    states: Vec<f32>,
    steps: usize,
}

impl Data {
    /// Old logits and values near those of the network, so that ratios and values fall on both sides of their bounds.
    fn new(network: &Network, count: usize, steps: usize) -> Self {
        let (actions, mut rng) = (network.actions(), rng(5));
        let (images, vectors) = observations(network, count, 6);
        let starts = vec![false; count];
        let states = numbers(count / steps * network.state(), 7);
        let batch = Batch {
            images: &images,
            vectors: &vectors,
            select: None,
            steps,
            starts: &starts,
            states: &states,
        };
        let mut now = Outputs::default();
        let mut engine = Engine::new(network, steps);
        engine.evaluate(network, &batch, &mut now).unwrap();
        let near = |now: &[f32], by: f32, seed| -> Vec<f32> {
            let noise = numbers(now.len(), seed);
            now.iter()
                .zip(noise)
                .map(|(x, noise)| x + by * noise)
                .collect()
        };
        Self {
            actions: (0..count).map(|_| rng.random_range(0..actions)).collect(),
            logits: near(&now.logits, 0.5, 8),
            values: near(&now.values, 0.5, 9),
            advantages: numbers(count, 10),
            returns: near(&now.values, 0.7, 11),
            images,
            vectors,
            starts,
            states,
            steps,
        }
    }

    fn samples(&self) -> Samples<'_> {
        Samples {
            images: &self.images,
            vectors: &self.vectors,
            actions: &self.actions,
            logits: &self.logits,
            values: &self.values,
            advantages: &self.advantages,
            returns: &self.returns,
            steps: self.steps,
            starts: &self.starts,
            states: &self.states,
        }
    }
}

/// The loss alone, multiplied so that its gradient is large enough to compare.
struct Total<'a>(PpoLoss<'a>);

impl Loss for Total<'_> {
    type Sum = f64;

    fn block(&self, input: LossInput<'_>) -> f64 {
        self.0.block(input).total / self.0.count as f64
    }
}

fn check_gradient(recurrent: bool, value_clip_of: ValueClip) {
    let network = Network::new(&small(recurrent), &mut rng(1)).unwrap();
    let steps = if recurrent { 4 } else { 1 };
    let data = Data::new(&network, 32, steps);
    let config = PpoConfig {
        value_clip_of,
        value_coefficient: 3.0,
        entropy_coefficient: 0.7,
        ..PpoConfig::default()
    };
    let samples = data.samples();
    let loss = Total(PpoLoss {
        config: &config,
        samples: &samples,
        kl_coefficient: 2.0,
        count: 4,
    });
    let batch = Batch {
        images: &data.images,
        vectors: &data.vectors,
        select: None,
        steps,
        starts: &data.starts,
        states: &data.states,
    };
    check(network, &batch, &loss);
}

#[test]
fn the_gradient_of_the_loss_is_its_slope() {
    check_gradient(false, ValueClip::Error);
    check_gradient(false, ValueClip::Change);
}

#[test]
fn the_gradient_of_the_loss_is_its_slope_with_memory() {
    check_gradient(true, ValueClip::Change);
}

/// One sample with two actions, all numbers worked out by hand: the probabilities were 1/2 and 1/2 and are 3/4 and 1/4.
fn one_sample(
    action: usize,
    advantage: f32,
    config: &PpoConfig,
    value: f32,
) -> (form_rl::PpoSums, [f32; 2], f32) {
    let samples = Samples {
        actions: &[action],
        logits: &[0.0, 0.0],
        values: &[1.0],
        advantages: &[advantage],
        returns: &[2.0],
        steps: 1,
        ..Samples::default()
    };
    let loss = PpoLoss {
        config,
        samples: &samples,
        kl_coefficient: 1.0,
        count: 1,
    };
    let (mut d_logits, mut d_values) = ([9.0; 2], [9.0]);
    let sums = loss.block(LossInput {
        places: &[0],
        logits: &[3.0_f32.ln(), 0.0],
        values: &[value],
        d_logits: &mut d_logits,
        d_values: &mut d_values,
    });
    (sums, d_logits, d_values[0])
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
}

#[test]
fn the_parts_of_the_loss_agree_with_a_hand_calculation() {
    let config = PpoConfig {
        entropy_coefficient: 0.0,
        clip: 0.2,
        ..PpoConfig::default()
    };
    // The ratio of the first action is 1.5, of the second 0.5.
    let (sums, ..) = one_sample(0, 2.0, &config, 2.0);
    close(sums.policy, -2.4);
    close(sums.clipped, 1.0);
    close(sums.entropy, -(0.75 * 0.75_f64.ln() + 0.25 * 0.25_f64.ln()));
    close(sums.kl, 0.5 * (0.5_f64 / 0.75).ln() + 0.5 * 2.0_f64.ln());
    close(sums.value, 0.0);
    close(sums.total, sums.policy + sums.kl);
    let (sums, ..) = one_sample(0, -2.0, &config, 2.0);
    close(sums.policy, 3.0);
    close(sums.clipped, 0.0);
    let (sums, ..) = one_sample(1, 2.0, &config, 2.0);
    close(sums.policy, -1.0);
    let (sums, d_logits, _) = one_sample(1, -2.0, &config, 2.0);
    close(sums.policy, 1.6);
    // Clipped: only the divergence pulls, by p - q.
    close(f64::from(d_logits[0]), 0.25);
    close(f64::from(d_logits[1]), -0.25);
}

#[test]
fn the_two_ways_of_clipping_the_critics_loss() {
    let config = |value_clip_of| PpoConfig {
        value_clip: 0.25,
        value_clip_of,
        ..PpoConfig::default()
    };
    let check = |clip, value, expected: (f64, f64)| {
        let (sums, _, slope) = one_sample(0, 0.0, &config(clip), value);
        close(sums.value, expected.0);
        close(f64::from(slope), 0.5 * expected.1);
    };
    // The return is 2, the value was 1.
    check(ValueClip::Error, 1.75, (0.0625, -0.5));
    check(ValueClip::Error, 1.25, (0.25, 0.0));
    check(ValueClip::Change, 1.125, (0.765_625, -1.75));
    check(ValueClip::Change, 1.75, (0.5625, 0.0));
    check(ValueClip::Change, 3.5, (2.25, 3.0));
}

/// A value within the bound teaches, however its distance from the old one is rounded.
#[test]
fn rounding_does_not_clip_the_critics_loss() {
    let config = PpoConfig {
        value_clip: 1.0,
        value_clip_of: ValueClip::Change,
        ..PpoConfig::default()
    };
    for step in 1..1000 {
        let value = step as f32 / 1000.0;
        let (_, _, slope) = one_sample(0, 0.0, &config, value);
        close(f64::from(slope), f64::from(value) - 2.0);
    }
}

#[test]
fn the_weight_of_the_divergence_adapts() {
    let config = PpoConfig::default();
    assert_eq!(config.adapt(0.2, 0.31), 0.2 * 1.5);
    assert_eq!(config.adapt(0.2, 0.15), 0.2);
    assert_eq!(config.adapt(0.2, 0.07), 0.1);
}

#[test]
fn the_defaults_are_the_papers_tables() {
    let table_1 = PpoConfig::default();
    assert_eq!(
        (table_1.train_batch, table_1.minibatch, table_1.epochs),
        (16_384, 4096, 20)
    );
    let table_2 = PpoConfig::single_policy();
    assert_eq!(
        (table_2.train_batch, table_2.minibatch, table_2.epochs),
        (49_152, 256, 20)
    );
    for config in [table_1, table_2] {
        config.check().unwrap();
        assert_eq!(
            (config.gamma, config.lambda, config.learning_rate),
            (0.999, 0.95, 7e-4)
        );
        assert_eq!(
            (config.value_coefficient, config.entropy_coefficient),
            (0.5, 0.01)
        );
        assert_eq!((config.clip, config.value_clip), (0.15, 0.1));
        assert_eq!((config.gradient_clip, config.kl_target), (0.7, 0.15));
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let check = |text: &str, expected: &str| {
        let config: PpoConfig = serde_json::from_str(text).unwrap();
        assert_eq!(config.check().unwrap_err().to_string(), expected);
    };
    check(r#"{"gamma": 1.5}"#, "gamma = 1.5: must be between 0 and 1");
    check(r#"{"clip": 0}"#, "clip = 0: must be above 0");
    check(
        r#"{"entropy_coefficient": -1}"#,
        "entropy_coefficient = -1: must be 0 or more",
    );
    check(r#"{"epochs": 0}"#, "epochs = 0: must be at least 1");
    assert!(serde_json::from_str::<PpoConfig>(r#"{"gama": 1}"#).is_err());
}

fn train(network: &mut Network, samples: &Samples<'_>, config: &PpoConfig) -> form_rl::Result<f32> {
    let mut engine = Engine::new(network, samples.steps.max(1));
    let mut adam = Adam::new(network.weights().len(), config.learning_rate);
    let mut kl_coefficient = config.kl_coefficient;
    update(
        network,
        &mut engine,
        &mut adam,
        samples,
        config,
        &mut kl_coefficient,
        &mut rng(3),
    )?;
    Ok(kl_coefficient)
}

#[test]
fn what_is_not_finite_is_an_error_and_changes_nothing() {
    for broken in [f32::NAN, f32::NEG_INFINITY] {
        let mut network = Network::new(&small(false), &mut rng(1)).unwrap();
        let mut data = Data::new(&network, 32, 1);
        data.returns[7] = f32::NAN;
        data.advantages[3] = broken;
        let before = network.weights().to_vec();
        let error = train(&mut network, &data.samples(), &PpoConfig::default()).unwrap_err();
        assert!(
            matches!(error, Error::NonFinite { what: "loss", .. }),
            "{error}"
        );
        assert_eq!(network.weights(), before);
    }
}

#[test]
fn samples_that_do_not_fit_are_refused() {
    let mut network = Network::new(&small(false), &mut rng(1)).unwrap();
    let mut data = Data::new(&network, 32, 1);
    data.actions[4] = 3;
    let error = train(&mut network, &data.samples(), &PpoConfig::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "actions that the network knows: 3 given, 4 needed"
    );
    data.actions[4] = 2;
    data.values.pop();
    let error = train(&mut network, &data.samples(), &PpoConfig::default()).unwrap_err();
    assert_eq!(error.to_string(), "values: 31 given, 32 needed");
}

#[test]
fn an_update_is_the_same_on_any_number_of_threads() {
    for (recurrent, steps) in [(false, 1), (true, 4)] {
        let run = || {
            let mut network = Network::new(&small(recurrent), &mut rng(1)).unwrap();
            let data = Data::new(&network, 512, steps);
            let config = PpoConfig {
                minibatch: 128,
                epochs: 2,
                ..PpoConfig::default()
            };
            let before = network.weights().to_vec();
            let kl_coefficient = train(&mut network, &data.samples(), &config).unwrap();
            assert_ne!(network.weights(), before);
            (network.weights().to_vec(), kl_coefficient)
        };
        let pool = |threads| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
        };
        assert_eq!(pool(1).install(run), pool(2).install(run));
    }
}

/// Two lights, three levers: the right lever depends on the light.
#[test]
fn a_bandit_is_solved() {
    let mut network = network(
        r#"{"vectors": [{"name": "light", "size": 2, "layers": []}],
        "trunk": [{"layer": "dense", "units": 16}, {"layer": "tanh"}], "actions": 3}"#,
        1,
    );
    let config = PpoConfig {
        learning_rate: 0.01,
        minibatch: 64,
        epochs: 4,
        ..PpoConfig::default()
    };
    let mut engine = Engine::new(&network, 1);
    let mut adam = Adam::new(network.weights().len(), config.learning_rate);
    let (mut kl_coefficient, mut rng) = (config.kl_coefficient, rng(2));
    let mut outputs = Outputs::default();
    let mut rewards = 0.0;
    for _ in 0..40 {
        let lights: Vec<usize> = (0..256).map(|_| rng.random_range(0..2)).collect();
        let observations: Vec<f32> = lights
            .iter()
            .flat_map(|light| [1.0 - *light as f32, *light as f32])
            .collect();
        engine
            .evaluate(&network, &Batch::all(&[], &observations), &mut outputs)
            .unwrap();
        let actions: Vec<usize> = outputs
            .logits
            .chunks(3)
            .map(|logits| sample(logits, &mut rng))
            .collect();
        let (mut better, mut returns) = (vec![0.0; 256], vec![0.0; 256]);
        rewards = 0.0;
        for (place, (light, action)) in lights.iter().zip(&actions).enumerate() {
            let reward = if *action == 2 * light { 1.0 } else { 0.0 };
            rewards += reward;
            let trajectory = Trajectory {
                rewards: &[reward],
                values: &[outputs.values[place]],
                end: TrajectoryEnd::Terminated,
            };
            let here = place..=place;
            gae(
                &trajectory,
                config.gamma,
                config.lambda,
                &mut better[here.clone()],
                &mut returns[here],
            )
            .unwrap();
        }
        let samples = Samples {
            vectors: &observations,
            actions: &actions,
            logits: &outputs.logits,
            values: &outputs.values,
            advantages: &better,
            returns: &returns,
            steps: 1,
            ..Samples::default()
        };
        update(
            &mut network,
            &mut engine,
            &mut adam,
            &samples,
            &config,
            &mut kl_coefficient,
            &mut rng,
        )
        .unwrap();
    }
    assert!(rewards > 0.95 * 256.0, "{rewards} of 256");
    engine
        .evaluate(
            &network,
            &Batch::all(&[], &[1.0, 0.0, 0.0, 1.0]),
            &mut outputs,
        )
        .unwrap();
    assert_eq!(greedy(&outputs.logits[..3]), 0);
    assert_eq!(greedy(&outputs.logits[3..]), 2);
}
