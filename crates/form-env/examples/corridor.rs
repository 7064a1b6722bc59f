//! An environment of one's own, outside the grid: a corridor with a lamp at one end and a door at the other. The door opens
//! once the lamp is lit. It is put through the checker, walked at random in many copies, and its traces recorded.

use form_core::{AtomSet, Kind, Recorder, Signature};
use form_env::{
    CheckOptions, Copies, Environment, EpisodeOutcome, Error, Feature, Result, Spec, Stream,
    Worlds, check_environment, generator,
};
use rand::{Rng, RngExt};

const LENGTH: usize = 7;
const STEPS: usize = 200;

#[derive(Clone)]
struct Corridor {
    signature: Signature,
    spec: Spec,
    actions: Vec<String>,
    at: usize,
    lit: bool,
    steps: usize,
    labels: AtomSet,
    outcome: EpisodeOutcome,
}

impl Corridor {
    fn new() -> Result<Self, form_core::Error> {
        let place = Feature {
            name: "place".to_owned(),
            low: 0.0,
            high: (LENGTH - 1) as f32,
        };
        Ok(Self {
            signature: Signature::parse(["lamp", "door"])?,
            spec: Spec {
                planes: None,
                vector: vec![place],
            },
            actions: vec!["left".to_owned(), "right".to_owned()],
            at: 0,
            lit: false,
            steps: 0,
            labels: AtomSet::new(),
            outcome: EpisodeOutcome::Running,
        })
    }

    /// What is at the agent's place: the labelling function.
    fn label(&mut self) {
        let name = match self.at {
            0 => "lamp",
            at if at == LENGTH - 1 => "door",
            _ => return,
        };
        self.labels.extend(self.signature.id_of_text(name));
    }
}

impl Environment for Corridor {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn reset(&mut self, random: &mut dyn Rng) -> Result<()> {
        self.at = random.random_range(1..LENGTH - 1);
        self.lit = false;
        self.steps = 0;
        self.labels.clear();
        self.outcome = EpisodeOutcome::Running;
        Ok(())
    }

    fn step(&mut self, action: usize) -> Result<EpisodeOutcome> {
        if action >= self.actions.len() {
            let actions = self.actions.len();
            return Err(Error::NoSuchAction { action, actions });
        }
        self.labels.clear();
        if self.outcome.is_over() {
            return Ok(self.outcome);
        }
        self.at = if action == 0 {
            self.at.saturating_sub(1)
        } else {
            (self.at + 1).min(LENGTH - 1)
        };
        self.steps += 1;
        self.label();
        self.lit |= self.at == 0;
        self.outcome = match () {
            () if self.lit && self.at == LENGTH - 1 => EpisodeOutcome::Goal,
            () if self.steps == STEPS => EpisodeOutcome::OutOfTime,
            () => EpisodeOutcome::Running,
        };
        Ok(self.outcome)
    }

    fn labels(&self) -> &AtomSet {
        &self.labels
    }

    fn observe(&self, _planes: &mut [u8], vector: &mut [f32]) {
        // The lamp cannot be seen: that is what a machine is for.
        vector[0] = self.at as f32;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut corridor = Corridor::new()?;
    let violations = check_environment(&mut corridor, &CheckOptions::default());
    assert!(violations.is_empty(), "{}", violations[0]);

    // Many copies, and what a learner gets from them: traces.
    let mut worlds = Copies::new(vec![corridor; 16], 7)?;
    let mut recorders = vec![Recorder::new(); worlds.len()];
    let mut random = generator(7, Stream::Other(0));
    let mut goals = 0;
    for _ in 0..1000 {
        let actions: Vec<u8> = (0..worlds.len())
            .map(|_| random.random_range(0..2))
            .collect();
        worlds.step(&actions)?;
        for (world, recorder) in recorders.iter_mut().enumerate() {
            recorder.observe(worlds.labels(world));
            if worlds.outcome(world).is_over() {
                let trace = recorder.finish(worlds.outcome(world).kind());
                goals += usize::from(trace.kind() == Kind::Goal);
            }
        }
        worlds.next_episodes()?;
    }
    assert!(goals > 50, "{goals} random walks lit the lamp and left");
    Ok(())
}
