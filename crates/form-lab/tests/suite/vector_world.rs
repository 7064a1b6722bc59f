//! A world without a picture: every method and both presets work in it, and its runs go on like any other.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use form_core::{AtomSet, Signature};
use form_env::{Copies, Environment, EpisodeOutcome, Error, Feature, Result, Spec, Split, Worlds};
use form_lab::{
    CopiesEnvFactory, Display, EnvFactory, EvaluationPlan, Finish, Method, Preset, Resumed,
    RunConfig, SavedRun, Session, Trainer, evaluate,
};
use form_rl::Choice;
use rand::{Rng, RngExt};

/// Two lamps and a door, each worked by an action of its own; the door opens once both lamps have been lit.
#[derive(Clone)]
struct Room {
    signature: Signature,
    spec: Spec,
    actions: Vec<String>,
    lit: [bool; 2],
    noise: f32,
    steps: usize,
    labels: AtomSet,
    outcome: EpisodeOutcome,
}

const ATOMS: [&str; 3] = ["lamp(l0)", "lamp(l1)", "door"];

impl Room {
    fn new() -> Self {
        let feature = |name: &str| Feature {
            name: name.to_owned(),
            low: 0.0,
            high: 1.0,
        };
        Self {
            signature: Signature::parse(ATOMS).unwrap(),
            spec: Spec {
                planes: None,
                vector: ["noise", "time"].map(feature).into(),
            },
            actions: ATOMS.map(str::to_owned).into(),
            lit: [false; 2],
            noise: 0.0,
            steps: 0,
            labels: AtomSet::new(),
            outcome: EpisodeOutcome::Running,
        }
    }
}

impl Environment for Room {
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
        *self = Self {
            noise: random.random(),
            ..Self::new()
        };
        Ok(())
    }

    fn step(&mut self, action: usize) -> Result<EpisodeOutcome> {
        if action >= ATOMS.len() {
            let actions = ATOMS.len();
            return Err(Error::NoSuchAction { action, actions });
        }
        self.labels.clear();
        if self.outcome.is_over() {
            return Ok(self.outcome);
        }
        self.labels.extend(self.signature.id_of_text(ATOMS[action]));
        self.steps += 1;
        self.outcome = match (action, self.lit) {
            (2, [true, true]) => EpisodeOutcome::Goal,
            _ if self.steps == 12 => EpisodeOutcome::OutOfTime,
            _ => EpisodeOutcome::Running,
        };
        if let Some(lamp) = self.lit.get_mut(action) {
            *lamp = true;
        }
        Ok(self.outcome)
    }

    fn labels(&self) -> &AtomSet {
        &self.labels
    }

    fn observe(&self, _planes: &mut [u8], vector: &mut [f32]) {
        vector.copy_from_slice(&[self.noise, self.steps as f32 / 12.0]);
    }
}

fn config(method: Method, preset: Preset) -> RunConfig {
    let mut config = RunConfig::new("lamps", method, preset);
    for (key, value) in [
        ("worlds", "8"),
        ("iterations", "5"),
        ("least_samples", "16"),
        ("ppo.train_batch", "256"),
        ("ppo.minibatch", "64"),
        ("ppo.epochs", "2"),
        ("learning.explore", "60"),
        ("network.hidden", "[8]"),
        ("network.vector_units", "8"),
        ("stop.success", "2"),
        ("stop.fall", "0"),
    ] {
        config.set(key, value).unwrap();
    }
    if method == Method::RecurrentPpo {
        config.set("network.memory", "4").unwrap();
        config.set("network.sequence", "32").unwrap();
    }
    config
}

fn envs() -> CopiesEnvFactory<Room> {
    let truth = "initial u0\naccept u_acc\nu0 -> u1 : forall X. lamp(X)\nu1 -> u_acc : door\n";
    CopiesEnvFactory::new(Room::new()).with_truth(truth.parse().unwrap())
}

#[test]
fn networks_do_without_a_picture() {
    for preset in [Preset::Fast, Preset::Paper] {
        for method in (Method::ALL.into_iter()).filter(|method| *method != Method::ReachAvoid) {
            let mut run = Trainer::new(config(method, preset), envs(), Arc::default()).unwrap();
            let mut trained = 0;
            while run.state().stop_cause.is_none() {
                trained += run.iterate().unwrap().unwrap().policies.len();
            }
            assert!(trained > 0, "{method} {preset:?}");
            for agent in run.agents() {
                assert!(agent.network().config().image.is_none());
            }
            // Indicators, where there is a machine with a `forall`: there is nothing to draw a plane over.
            if method == Method::Handcrafted {
                let bits = run.game().assignment().roles()[0].encoder.bits().len();
                assert_eq!(bits, 2, "{preset:?}");
            }
        }
    }
}

#[test]
fn reach_avoid_needs_a_world_that_can_place_its_atoms() {
    let made = Trainer::new(
        config(Method::ReachAvoid, Preset::Fast),
        envs(),
        Arc::default(),
    );
    let error = made
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(
        error.contains("a room that can say where its atoms are"),
        "{error}"
    );
}

#[test]
fn a_run_in_a_world_of_ones_own_goes_on_to_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["whole", "pieces"].map(|name| folder.path().join(name));
    let config = config(Method::Form, Preset::Fast);
    let never = Arc::<AtomicBool>::default();
    for path in &paths {
        let mut session = Session::begin(config.clone(), envs(), path, never.clone()).unwrap();
        if path == &paths[0] {
            session.run(&mut Display::quiet()).unwrap();
        }
    }
    // One piece does nothing but stop; the next goes on to the end.
    for stopped in [true, false] {
        let stop = Arc::new(AtomicBool::new(false));
        let resumed = Session::resume_in(&paths[1], |_| Ok(envs()), stop.clone()).unwrap();
        let Resumed::Session(mut session) = resumed else {
            panic!("it is over");
        };
        stop.store(stopped, Ordering::Relaxed);
        let finish = session.run(&mut Display::quiet()).unwrap();
        assert_eq!(matches!(finish, Finish::Interrupted { .. }), stopped);
    }
    for name in [
        "metrics.csv",
        "checkpoints/final.safetensors",
        "traces.jsonl",
    ] {
        let [whole, pieces] = paths
            .each_ref()
            .map(|path| fs::read(path.join(name)).unwrap());
        assert!(whole == pieces, "{name} differs");
    }
    let run = SavedRun::open(&paths[0]).unwrap();
    assert_eq!(run.task_name().unwrap(), "lamps");
    let plan = EvaluationPlan {
        split: Split::HeldOut,
        episodes: 50,
        choice: Choice::Sample,
        seed: 2,
    };
    let mut agents = run.agents().unwrap();
    let machine = &run.checkpoint.machine;
    let found = evaluate(&run.config, &envs(), machine, &mut agents, &plan).unwrap();
    assert!(found.successes > 0 && found.held_out, "{found:?}");
}

#[test]
fn held_out_episodes_are_others() {
    let noise = |split| {
        let worlds: Copies<Room> = envs().worlds(4, 7, split).unwrap();
        let mut vector = [0.0; 2];
        worlds.observe(0, &mut [], &mut vector);
        vector[0]
    };
    assert_ne!(noise(Split::Training), noise(Split::HeldOut));
}
