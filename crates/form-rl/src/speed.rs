//! Workloads for benchmarks: networks and synthetic samples.
//!
//! `benches/policy` has the work of [`Workload::paper`] in Python, for other engines.

use rand::{Rng, RngExt};

use crate::adam::clip_gradient_norm;
use crate::{
    Adam, Batch, Engine, Network, NetworkConfig, Outputs, PpoConfig, PpoLoss, Result, Samples,
};

/// Planes of an image that shows a map: walls, goal, lava, colours, the agent's four directions, progress.
const PLANES: usize = 14;

/// A network in training, for benchmarks.
#[derive(Debug)]
pub struct Workload {
    network: Network,
    engine: Engine,
    adam: Adam,
    settings: PpoConfig,
    images: Vec<u8>,
    vectors: Vec<f32>,
    actions: Vec<usize>,
    /// The outputs of the initial weights.
    collected: Outputs,
    advantages: Vec<f32>,
    returns: Vec<f32>,
    evaluated: Outputs,
}

impl Workload {
    /// Samples per training step: the minibatch of Table 1.
    pub const TRAINED: usize = 4096;

    /// Samples per evaluation.
    pub const EVALUATED: usize = 256;

    /// Floating-point operations per trained sample of the paper's network: forward, and twice as much backward except into the image.
    pub const FLOPS: f64 = 1.09e6;

    /// The paper's network: 13 × 13 cells of three bytes, four indicators, four machine states, seven actions.
    pub fn paper(rng: &mut dyn Rng) -> Result<Self> {
        let config = NetworkConfig::paper([13, 13, 3], &[("indicators", 4), ("machine", 4)], 7);
        Self::new(&config, rng, |_, rng| rng.random_range(0..6))
    }

    /// The same for 13 × 13 cells of 14 planes that are mostly 0, without vectors and with three actions.
    pub fn planes(rng: &mut dyn Rng) -> Result<Self> {
        Self::new(&NetworkConfig::paper([13, 13, PLANES], &[], 3), rng, plane)
    }

    /// Fresh weights and random samples, images byte by byte.
    fn new(
        config: &NetworkConfig,
        rng: &mut dyn Rng,
        byte: impl Fn(usize, &mut dyn Rng) -> u8,
    ) -> Result<Self> {
        let network = Network::new(config, rng)?;
        let mut engine = Engine::new(&network, 1);
        let mut numbers = |count| -> Vec<f32> { (0..count).map(|_| rng.random()).collect() };
        let vectors = numbers(Self::TRAINED * network.vector_len());
        let (advantages, returns) = (numbers(Self::TRAINED), numbers(Self::TRAINED));
        let images: Vec<u8> = (0..Self::TRAINED * network.image_len())
            .map(|place| byte(place, rng))
            .collect();
        let mut collected = Outputs::default();
        engine.evaluate(&network, &Batch::all(&images, &vectors), &mut collected)?;
        let settings = PpoConfig::default();
        Ok(Self {
            adam: Adam::new(network.weights().len(), settings.learning_rate),
            actions: (0..Self::TRAINED)
                .map(|place| place % network.actions())
                .collect(),
            network,
            engine,
            settings,
            images,
            vectors,
            collected,
            advantages,
            returns,
            evaluated: Outputs::default(),
        })
    }

    /// One step of training on [`Workload::TRAINED`] samples: loss, gradient, its clipping, Adam.
    pub fn train(&mut self) -> Result<()> {
        let samples = Samples {
            images: &self.images,
            vectors: &self.vectors,
            actions: &self.actions,
            logits: &self.collected.logits,
            values: &self.collected.values,
            advantages: &self.advantages,
            returns: &self.returns,
            steps: 1,
            ..Samples::default()
        };
        let loss = PpoLoss {
            config: &self.settings,
            samples: &samples,
            kl_coefficient: self.settings.kl_coefficient,
            count: Self::TRAINED,
        };
        let batch = Batch::all(&self.images, &self.vectors);
        self.engine.gradient(&self.network, &batch, &loss)?;
        clip_gradient_norm(self.engine.last_gradient_mut(), self.settings.gradient_clip);
        let gradient = self.engine.last_gradient();
        self.adam.step(self.network.weights_mut(), gradient)
    }

    /// Evaluates [`Workload::EVALUATED`] samples.
    pub fn evaluate(&mut self) -> Result<()> {
        let batch = Batch::all(
            &self.images[..Self::EVALUATED * self.network.image_len()],
            &self.vectors[..Self::EVALUATED * self.network.vector_len()],
        );
        (self.engine).evaluate(&self.network, &batch, &mut self.evaluated)
    }
}

/// Walls around four rooms in the first plane, and now and then something in another one.
fn plane(place: usize, rng: &mut dyn Rng) -> u8 {
    let (cell, plane) = (place / PLANES % 169, place % PLANES);
    let (y, x) = (cell / 13, cell % 13);
    let wall = y % 6 == 0 || x % 6 == 0;
    u8::from(match plane {
        0 => wall,
        _ => !wall && rng.random_range(0..100) == 0,
    })
}
