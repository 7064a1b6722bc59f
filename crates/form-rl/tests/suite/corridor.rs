//! A corridor with a key at its left end and a door at its right end, small enough to be learnt in seconds.
//!
//! Where the door needs the key, nothing that is seen tells whether it has been fetched: the right way to go depends on the past.

use form_core::{AtomSet, Machine, Signature};
use form_env::{
    CheckOptions, Copies, Environment, EpisodeOutcome, Error, Feature, Result, Spec, Worlds,
    check_environment,
};
use form_rl::{
    Agent, AgentAssignment, Architecture, AssignmentMode, Choice, Credit, EndPotential, Episode,
    Game, GameConfig, Initial, PlayConfig, PpoConfig, ProgressEncoding, Role, ValueClip,
};
use rand::Rng;

use crate::samples::rng;

/// The corridor.
#[derive(Clone, Debug)]
pub struct Corridor {
    /// How many cells it has.
    pub length: usize,
    /// Where episodes start.
    pub start: usize,
    /// Whether the door needs the key.
    pub locked: bool,
    /// After how many steps an episode is cut off.
    pub limit: usize,
    signature: Signature,
    spec: Spec,
    actions: Vec<String>,
    at: usize,
    has_key: bool,
    steps: usize,
    labels: AtomSet,
    outcome: EpisodeOutcome,
}

impl Corridor {
    /// Seven steps to the door.
    pub fn open() -> Self {
        Self::new(8, 0, false, 40)
    }

    /// Two steps to the key and four back to the door.
    pub fn locked() -> Self {
        Self::new(5, 2, true, 10)
    }

    pub fn new(length: usize, start: usize, locked: bool, limit: usize) -> Self {
        let feature = |cell: usize| Feature {
            name: format!("in cell {cell}"),
            low: 0.0,
            high: 1.0,
        };
        Self {
            length,
            start,
            locked,
            limit,
            signature: Signature::parse(["key", "door"]).unwrap(),
            spec: Spec {
                planes: None,
                vector: (0..length).map(feature).collect(),
            },
            actions: vec!["left".to_owned(), "right".to_owned()],
            at: start,
            has_key: false,
            steps: 0,
            labels: AtomSet::new(),
            outcome: EpisodeOutcome::Running,
        }
    }

    /// The fewest steps in which an episode can be won.
    pub fn shortest(&self) -> usize {
        match self.locked {
            true => self.start + self.length - 1,
            false => self.length - 1 - self.start,
        }
    }

    fn label(&mut self) {
        self.labels.clear();
        let name = match self.at {
            0 => "key",
            at if at == self.length - 1 => "door",
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

    fn reset(&mut self, _random: &mut dyn Rng) -> Result<()> {
        *self = Self::new(self.length, self.start, self.locked, self.limit);
        self.has_key = self.at == 0;
        self.label();
        Ok(())
    }

    fn step(&mut self, action: usize) -> Result<EpisodeOutcome> {
        if action >= self.actions.len() {
            let actions = self.actions.len();
            return Err(Error::NoSuchAction { action, actions });
        }
        if self.outcome.is_over() {
            self.labels.clear();
            return Ok(self.outcome);
        }
        self.at = match action {
            0 => self.at.saturating_sub(1),
            _ => (self.at + 1).min(self.length - 1),
        };
        self.steps += 1;
        self.has_key |= self.at == 0;
        self.label();
        let opens = self.at == self.length - 1 && (self.has_key || !self.locked);
        self.outcome = match () {
            () if opens => EpisodeOutcome::Goal,
            () if self.steps == self.limit => EpisodeOutcome::OutOfTime,
            () => EpisodeOutcome::Running,
        };
        Ok(self.outcome)
    }

    fn labels(&self) -> &AtomSet {
        &self.labels
    }

    fn observe(&self, _planes: &mut [u8], vector: &mut [f32]) {
        vector.fill(0.0);
        vector[self.at] = 1.0;
    }
}

/// What the locked corridor is about.
pub fn key_then_door() -> Machine {
    let text = "initial u0\naccept u_acc\nu0 -> u1 : key\nu1 -> u_acc : door";
    text.parse().unwrap()
}

/// How a corridor is learnt.
#[derive(Clone)]
pub struct Method {
    pub roles: AssignmentMode,
    pub credit: Credit,
    pub shaping: bool,
    /// Units of memory.
    pub memory: usize,
}

impl Method {
    /// Plain PPO.
    pub fn plain() -> Self {
        Self {
            roles: AssignmentMode::Unaided,
            credit: Credit::Shared,
            shaping: false,
            memory: 0,
        }
    }

    pub fn game(&self, corridor: &Corridor, worlds: usize) -> Game<Copies<Corridor>> {
        let worlds = Copies::new(vec![corridor.clone(); worlds], 7).unwrap();
        let machine = key_then_door().bind(worlds.signature()).unwrap();
        let assignment =
            AgentAssignment::new(machine, self.roles, ProgressEncoding::Bits, worlds.spec());
        let config = GameConfig {
            credit: self.credit,
            shaping: self.shaping,
            gamma: training().gamma,
            end: EndPotential::Zero,
        };
        let memory = 2 * self.memory;
        Game::new(worlds, assignment, config, memory).unwrap()
    }

    pub fn architecture(&self) -> Architecture {
        Architecture {
            vector_units: 16,
            hidden: vec![16],
            memory: self.memory,
            sequence: 16,
            initial: Initial::Orthogonal,
            ..Architecture::default()
        }
    }

    /// Trains for so many batches of 32 worlds and 32 steps, and plays a few episodes then.
    pub fn learn(&self, corridor: &Corridor, batches: usize, seed: u64) -> Vec<Episode> {
        let mut game = self.game(corridor, 32);
        let mut agents = agents(&game, &self.architecture(), seed);
        let mut random = rng(seed + 100);
        for _ in 0..batches {
            let collected = game
                .collect(&mut agents, 32, &training(), &mut random)
                .unwrap();
            for (agent, experience) in agents.iter_mut().zip(collected.experience) {
                agent
                    .learn(experience, &training(), 1, &mut random)
                    .unwrap();
            }
        }
        let mut exam = self.game(corridor, 32);
        let config = PlayConfig {
            episodes: 8,
            choice: Choice::Sample,
            seed,
        };
        exam.play(&mut agents, config).unwrap()
    }
}

/// Fresh agents for a game.
pub fn agents<W: Worlds>(game: &Game<W>, architecture: &Architecture, seed: u64) -> Vec<Agent> {
    let (mut random, actions) = (rng(seed), game.worlds().actions().len());
    let agent = |Role { name, encoder }: &Role| {
        let config = architecture.network(encoder, actions);
        Agent::new(
            name,
            &config,
            architecture.sequence,
            &training(),
            &mut random,
        )
        .unwrap()
    };
    game.assignment().roles().iter().map(agent).collect()
}

/// Settings under which a corridor is learnt in seconds.
pub fn training() -> PpoConfig {
    PpoConfig {
        gamma: 0.95,
        learning_rate: 5e-3,
        minibatch: 256,
        epochs: 4,
        clip: 0.2,
        value_clip: 1.0,
        value_clip_of: ValueClip::Change,
        kl_coefficient: 0.0,
        ..PpoConfig::default()
    }
}

/// The share of episodes that were won, and the mean length of those.
pub fn result(episodes: &[Episode]) -> (f64, f64) {
    let won: Vec<&Episode> = episodes.iter().filter(|one| one.is_success()).collect();
    let steps: usize = won.iter().map(|one| one.steps()).sum();
    (
        won.len() as f64 / episodes.len() as f64,
        steps as f64 / won.len().max(1) as f64,
    )
}

#[test]
fn the_corridors_keep_the_rules_of_environments() {
    for mut corridor in [Corridor::open(), Corridor::locked()] {
        let violations = check_environment(&mut corridor, &CheckOptions::default());
        assert!(violations.is_empty(), "{}", violations[0]);
    }
}
